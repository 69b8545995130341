// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"
#include "occupancy/search_state.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// State and tables of a local search. Positions of jobs are those in the option table.
template <SearchState State>
struct SearchSpace {
  State& state;
  const assignment::OptionTable& option_table;
  const assignment::PoolIndex& pool_index;
  const assignment::PoolMachines& machines;
  std::span<const JobId> jobs;           ///< of the option table, ascending; the state holds them
  std::span<const std::uint32_t> ranks;  ///< by position: of the job by precedence

  [[nodiscard]] const planner_model::Valuation& valuation() const { return state.valuation(); }
  [[nodiscard]] const model::InstanceView& instance() const { return valuation().instance(); }
  [[nodiscard]] const model::Job& job(std::size_t position) const {
    return instance().workload.job(jobs[position]);
  }
  [[nodiscard]] const assignment::TaskDemand& profile(std::size_t position) const {
    return option_table.profiles()[option_table.profile_of(position)];
  }
  [[nodiscard]] bool is_placed(std::size_t position) const {
    return state.is_placed(jobs[position]);
  }
  /// By position: index of the job among the entries of the state; valid until a job is admitted.
  [[nodiscard]] std::vector<std::uint32_t> entry_positions() const {
    std::vector<std::uint32_t> entries;
    entries.reserve(jobs.size());
    for (const JobId job : jobs) {
      entries.push_back(static_cast<std::uint32_t>(state.position(job)));
    }
    return entries;
  }
};

}  // namespace berth::solver::local_search
