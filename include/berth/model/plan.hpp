// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::model {

/// Why a job is not in the plan.
struct Waiting {
  JobId job;
  std::string reason;
};

/// Figures about a plan; all but `seconds` and `stats` are recomputed by `berth check`.
struct Figures {
  double objective = 0.0;
  double upper_bound =
      0.0;           ///< no plan (placing at least the required jobs placed here) exceeds it
  double gap = 0.0;  ///< (upper_bound - objective) / max(|upper_bound|, 1e-12), a fraction
  std::int64_t gpus_total = 0;
  std::int64_t gpu_milli_total = 0;
  std::int64_t gpu_milli_allocated = 0;
  std::int64_t jobs_total = 0;
  std::int64_t jobs_placed = 0;
};

/// What is written to plan.json (docs/formats.md).
struct Plan {
  std::string instance_digest;
  std::string plan_digest;
  std::string proof_digest;  ///< SHA-256 over objective, bound and prices
  std::uint64_t seed = 0;
  Objective objective_kind = Objective::value;
  std::map<std::string, std::string> options;  ///< as given on the command line, for the record
  bool reproducible = true;                    ///< false when a clock decided something
  Figures figures;
  std::vector<JobId> required_missing;    ///< ascending
  std::map<std::string, double> seconds;  ///< wall time per stage on the slowest rank
  std::map<std::string, double> stats;
  Certificate certificate;
  Placement placements;
  std::vector<Waiting> waiting;  ///< ascending JobId
};

}  // namespace berth::model
