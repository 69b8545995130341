// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/free_pools.hpp"
#include "assignment/option_table.hpp"

#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/model/ledger.hpp"

namespace berth::solver::local_search {

/// The jobs of an option table and where they lie; empty tasks = not placed. By position in the
/// option table.
struct Berths {
  std::vector<JobId> jobs;
  std::vector<model::JobPlacement> placed;
  /// What those placed use of quotas and uplinks; searches keep its allowances. Null: no limits.
  model::Ledger* ledger = nullptr;

  [[nodiscard]] bool lies(std::size_t position) const { return !placed[position].tasks.empty(); }
};

Berths no_berths(std::span<const JobId> jobs);
model::Placement placement_of(const Berths& berths);   ///< ascending position
std::vector<JobId> unplaced_of(const Berths& berths);  ///< ascending position

/// Places jobs that lie nowhere into idle room: required ones first, then the best value per GPU;
/// then CPU-only jobs. Ends early when `stop` says so.
void refill(const model::Valuation& valuation, const assignment::OptionTable& option_table,
            assignment::FreePools& free_pools, Berths& berths, const StopToken& stop = {});

}  // namespace berth::solver::local_search
