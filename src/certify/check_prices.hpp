// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <optional>

#include "berth/certify/job_facts.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// The certificate with its names looked up. Empty, with at least one fault, when a price is
/// negative, a place, class, type or shape is unknown or listed twice, or a number is out of range.
/// @param facts  of all planned jobs
std::optional<model::Certificate> read_prices(const model::InstanceView& instance,
                                              model::Objective objective,
                                              const model::RawCertificate& raw,
                                              const JobFacts& facts, Findings& findings);

}  // namespace berth::certify
