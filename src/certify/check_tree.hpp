// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// The tree with its names looked up; a fault for every name that is not in the input. Whether its
/// nodes make a tree, and one that leaves nothing out, is for `unusable` and `uncovered` to say.
model::BoundTree read_tree(const model::Instance& instance, const model::RawCertificate& raw,
                           Findings& findings);

}  // namespace berth::certify
