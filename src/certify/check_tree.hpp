// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// The tree with its names looked up; adds a fault for every unknown name. `unusable` and
/// `uncovered` test whether its nodes form a tree that covers every plan.
model::BoundTree read_tree(const model::InstanceView& instance, const model::RawCertificate& raw,
                           Findings& findings);

}  // namespace berth::certify
