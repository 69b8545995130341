// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/job.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/raw_plan.hpp"

/// A plan in time: when each job starts and ends, and where it runs (docs/horizon.md). Times are
/// whole seconds on the axis of Job::arrival.
namespace berth::model {

/// What a plan in time optimises.
enum class HorizonObjective : std::uint8_t {
  value,     ///< maximises the value of jobs that start within the horizon
  flow,      ///< minimises the sum of weight x (completion - arrival)
  makespan,  ///< minimises the last completion, in seconds from now
};
inline constexpr std::array<std::string_view, 3> kHorizonObjectiveNames{"value", "flow",
                                                                        "makespan"};
constexpr std::string_view to_string(HorizonObjective objective) {
  return kHorizonObjectiveNames[static_cast<std::size_t>(objective)];
}
constexpr bool minimised(HorizonObjective objective) {
  return objective != HorizonObjective::value;
}

/// The span that is planned: jobs start in [now, now + length).
struct Horizon {
  std::int64_t now = 0;     ///< seconds
  std::int64_t length = 0;  ///< seconds, > 0
  HorizonObjective objective = HorizonObjective::value;

  [[nodiscard]] std::int64_t end() const { return now + length; }
};

/// Prices of GPU time: on each interval between neighbouring nodes start + slope x (seconds after
/// the node), in units of 2^-32 of the objective per second; 0 after the last node.
struct PriceCurves {
  struct Curve {
    std::string gpu_type;
    std::vector<std::int64_t> starts;  ///< by interval
    std::vector<std::int64_t> slopes;  ///< by interval
  };
  /// A GPU of the jobs of a queue and of those below it, beside the price of its type.
  struct QuotaCurve {
    std::string queue;
    std::vector<std::int64_t> starts, slopes;  ///< by interval
  };
  /// A GPU of the largest multiple of `gpus` GPUs that a job takes of a type, beside its price.
  struct MultipleCurve {
    std::string gpu_type;
    std::int64_t gpus = 0;
    std::vector<std::int64_t> starts, slopes;  ///< by interval
  };
  /// A GPU-second of the jobs of a queue on all intervals within the horizon.
  struct BudgetPrice {
    std::string queue;
    std::int64_t price = 0;
  };
  /// GPUs, in 2^-14, that a task of this shape pays for on GPUs of a type; without factors it pays
  /// for the GPUs that it takes, and with factors shapes without one pay nothing.
  struct ShapeFactor {
    Shape shape;
    std::string gpu_type;
    std::int64_t factor = 0;  ///< >= 0
  };
  /// A job charged the rest of its cost, `after` the share of what it would cost if it started when
  /// `after` ends, in 2^-16.
  struct CostShare {
    std::string job, after;
    std::int64_t share = 0;  ///< 0 .. 2^16
  };
  /// GPUs, in 2^-14, that a gang of `gpus` GPUs of a type pays for. A type with sizes charges a job
  /// for the largest sum of gangs of one size that it could hold.
  struct SizeFactor {
    std::string gpu_type;
    std::int64_t gpus = 0;
    std::int64_t factor = 0;  ///< >= 0
  };
  std::vector<std::int64_t> nodes;        ///< seconds, ascending; empty: all prices are 0
  std::vector<Curve> curves;              ///< one for each GPU type of the machines
  std::vector<QuotaCurve> quotas = {};    ///< of some queues with a quota
  std::vector<BudgetPrice> budgets = {};  ///< of some queues with GPU-hours
  std::vector<ShapeFactor> factors = {};
  std::vector<SizeFactor> sizes = {};         ///< with factors of shapes, none
  std::vector<MultipleCurve> multiples = {};  ///< the same
  std::vector<CostShare> shares = {};         ///< of jobs that wait for others; one a job at most
};

/// Figures about a plan in time; `berth check` recomputes them.
struct HorizonFigures {
  double objective = 0.0;
  /// No plan that places the same required jobs is above it (below it, when minimised).
  double bound = 0.0;
  double gap = 0.0;  ///< |bound - objective| / max(|bound|, 1e-12), a fraction
  std::int64_t jobs_total = 0;
  std::int64_t jobs_now = 0;    ///< that run or start now
  std::int64_t jobs_later = 0;  ///< that start later
};

/// A job that does not start within the horizon.
struct WaitingJob {
  JobId job;
  std::string reason;
  std::optional<std::int64_t> earliest_start;  ///< beside the plan, when within the horizon
};

/// A start that an earlier plan promised a job: it starts then or before.
struct Promise {
  JobId job;
  std::int64_t start = 0;  ///< seconds
  bool kept = true;
  std::string reason;  ///< for what it is broken; empty when it is kept
};

/// Content of a plan file with a horizon.
struct HorizonPlan {
  Horizon horizon;
  std::string instance_digest, plan_digest, proof_digest;
  std::map<std::string, std::string> options;
  bool reproducible = true;  ///< false when a clock influenced the plan
  std::map<std::string, double> seconds;
  HorizonFigures figures;
  PriceCurves certificate;
  std::vector<JobId> required_missing;  ///< ascending
  Placement placements;                 ///< ascending JobId, with running jobs that are not pinned
  std::vector<std::int64_t> ends;       ///< by position in `placements`
  std::vector<WaitingJob> waiting;      ///< ascending JobId
  std::vector<Promise> promises;        ///< ascending JobId
};

/// A promise of a plan file as read.
struct RawPromise {
  std::string job;
  std::int64_t start = 0;
  bool kept = true;
};

/// A plan file with a horizon as read: unchecked, as RawPlan.
struct RawHorizonPlan {
  RawPlan plan;  ///< digests, jobs and counts
  std::int64_t now = 0;
  std::int64_t length = 0;
  std::string objective;  ///< a name of kHorizonObjectiveNames in a sound file
  std::optional<double> value, bound, gap;
  std::optional<std::int64_t> jobs_now, jobs_later;
  std::optional<PriceCurves> certificate;
  std::vector<std::optional<std::int64_t>> ends;  ///< by position in plan.placements
  std::vector<RawPromise> promises;
};

}  // namespace berth::model
