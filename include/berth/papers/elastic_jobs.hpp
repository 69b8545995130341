// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "berth/papers/paper_policies.hpp"
#include "berth/policy/state.hpp"

namespace berth::papers {

/// A job that trains on any number of GPUs from 1 on, one worker each.
struct ElasticJob {
  std::int32_t requested = 1;                 ///< GPUs of its `tasks`
  std::vector<std::uint32_t> configurations;  ///< by GPUs - 1: index of the configuration

  [[nodiscard]] std::int32_t largest() const {
    return static_cast<std::int32_t>(configurations.size());
  }
};

/// All jobs of a world, by JobId. @param policy  that needs them, for the message
/// @throws InputError: a job without goodput profile, without a configuration for every number of
///         GPUs up to its largest, or with other tasks than single-GPU workers; several GPU types
std::vector<ElasticJob> elastic_jobs(std::string_view policy, const PaperWorld& world);

/// A device of the cluster.
struct Gpu {
  MachineId machine;
  std::int32_t device = 0;

  bool operator==(const Gpu&) const = default;
};

/// All GPUs in the order of machines.
std::vector<Gpu> gpu_line(const model::Cluster& cluster);

/// Stops a job that runs, if it does, and starts it with a worker on each of these GPUs, ascending,
/// and this batch. False, and it waits, when they are not free.
bool run_on(policy::State& state, JobId id, const ElasticJob& job, std::span<const Gpu> gpus,
            std::int64_t batch);

}  // namespace berth::papers
