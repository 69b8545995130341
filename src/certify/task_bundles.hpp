// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/model/workload.hpp"

namespace berth::certify {

/// Value of JobFacts::types for CPU-only tasks of a GPU job, which may be placed anywhere.
inline constexpr std::uint64_t kAnyType = ~std::uint64_t{0};

/// Bundles that the jobs may have on one machine: each once, in order.
std::vector<JobFacts::BundleTasks> bundles_of(const model::WorkloadView& workload,
                                              std::span<const JobId> jobs);

/// Union of both lists, each bundle once, in order.
std::vector<JobFacts::BundleTasks> merged(std::span<const JobFacts::BundleTasks> a,
                                          std::span<const JobFacts::BundleTasks> b);

/// The first bundle of the list, which must not be empty.
inline std::span<const JobFacts::BundleTasks> first_bundle(
    std::span<const JobFacts::BundleTasks> tasks) {
  std::size_t size = 1;
  while (!tasks[size - 1].last) ++size;
  return tasks.first(size);
}

}  // namespace berth::certify
