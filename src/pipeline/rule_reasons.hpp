// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "domain_capacity.hpp"

#include <cstdint>
#include <string>

#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Why max_tasks_per and min_domains keep a job of one task group out of an empty cluster; empty if
/// they do not. @param usable  GPU types of the job that the cluster has
std::string rules_forbid(const model::InstanceView& instance, const DomainCapacity& capacity,
                         std::uint64_t usable, const model::Job& job);

/// The keys of rules that may keep the job off free machines, in words; empty: none.
std::string rule_keys(const model::WorkloadView& workload, const model::Job& job);

}  // namespace berth::pipeline
