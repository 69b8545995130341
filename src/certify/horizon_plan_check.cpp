// SPDX-License-Identifier: Apache-2.0
#include "check_placement.hpp"
#include "comparison.hpp"
#include "file_digest.hpp"
#include "horizon_jobs.hpp"
#include "horizon_occupancy.hpp"
#include "job_value.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

using model::Horizon;
using model::InstanceView;
using model::RawHorizonPlan;

Horizon horizon_of(const RawHorizonPlan& plan, Findings& findings) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // seconds
  Horizon horizon{.now = plan.now, .length = plan.length};
  const auto known = std::ranges::find(model::kHorizonObjectiveNames, plan.objective);
  if (known == model::kHorizonObjectiveNames.end()) {
    findings.add(FaultKind::wrong_objective_kind, "no objective is called " + plan.objective);
  } else {
    horizon.objective =
        static_cast<model::HorizonObjective>(known - model::kHorizonObjectiveNames.begin());
  }
  if (plan.length <= 0 || plan.length > kLongest || plan.now < 0 || plan.now > kLongest) {
    findings.add(FaultKind::bad_start, "the horizon is no span of time");
    horizon = {.now = 0, .length = 1, .objective = horizon.objective};
  }
  return horizon;
}

/// Times of placed jobs against their rules, and the ends of others.
class TimeCheck {
 public:
  TimeCheck(const InstanceView& instance, const Horizon& horizon, Findings& findings)
      : instance_(instance),
        horizon_(horizon),
        findings_(&findings),
        end_(instance.workload.size(), model::kNever) {
    for (const JobId job : model::pinned_jobs(instance.workload.tables())) {
      end_[job.index()] = end_of_running(instance, horizon, instance.workload.job(job));
    }
  }

  void add(const model::JobPlacement& placed, std::int64_t end) {
    end_[placed.job.index()] = end;
    if (!is_decided(instance_, horizon_, instance_.workload.job(placed.job))) {
      check_running(placed, end);
    } else {
      check_planned(placed, end);
    }
  }

  /// Jobs after those that must have ended, and running jobs that stay; when all are added.
  void finish(const model::Placement& placements) {
    for (const model::JobPlacement& placed : placements) {
      if (instance_.workload.job(placed.job).running >= 0) continue;
      for (const model::Dependency& d : instance_.workload.dependencies_of(placed.job)) {
        if (end_[d.after.index()] <= placed.start) continue;
        fault(placed.job, "starts at " + std::to_string(placed.start) + " before " +
                              name_of(d.after) + " has ended");
      }
    }
    for (const model::Running& running : instance_.workload.tables().running) {
      if (running.pinned || end_[running.job.index()] != model::kNever) continue;
      if (may_not_stay(instance_, horizon_, instance_.workload.job(running.job))) continue;
      fault(running.job, "runs, but is not in the plan");
    }
  }

 private:
  void check_running(const model::JobPlacement& placed, std::int64_t end) {
    const model::Job& job = instance_.workload.job(placed.job);
    if (!stays(instance_.workload, placed)) fault(placed.job, "runs elsewhere");
    if (placed.start != horizon_.now) fault(placed.job, "runs, but does not start now");
    check_end(placed.job, end, end_of_running(instance_, horizon_, job));
  }

  void check_planned(const model::JobPlacement& placed, std::int64_t end) {
    const model::Job& job = instance_.workload.job(placed.job);
    const std::int64_t start = placed.start;
    if (start < release_of(instance_, horizon_, job)) {
      fault(placed.job, "starts at " + std::to_string(start) + ", too early");
    }
    const bool bounded = horizon_.objective == model::HorizonObjective::value;
    if (bounded && start >= horizon_.end()) fault(placed.job, "starts after the horizon");
    const auto seconds = run_seconds(instance_, horizon_, job, extent_of(instance_, placed).type,
                                     run_of(instance_.workload, placed));
    if (!seconds) {
      fault(placed.job, "cannot run on these machines within its limit");
    } else {
      check_end(placed.job, end, start + *seconds);
    }
    if (job.running < 0 && end > instance_.workload.time_of(job).deadline) {
      fault(placed.job, "ends at " + std::to_string(end) + " after its deadline");
    }
  }

  void check_end(JobId job, std::int64_t stated, std::int64_t actual) {
    if (stated == actual) return;
    fault(job, "ends at " + std::to_string(actual) + ", not at " + std::to_string(stated));
  }

  void fault(JobId job, const std::string& problem) {
    findings_->add(FaultKind::bad_start, name_of(job) + " " + problem);
  }
  [[nodiscard]] std::string name_of(JobId job) const {
    return "job " + std::string(instance_.workload.tables().job_names[job.index()]);
  }

  InstanceView instance_;
  Horizon horizon_;
  Findings* findings_;
  std::vector<std::int64_t> end_;  ///< by JobId; kNever while it is not placed
};

/// The placements with known names and a sound span, in the order of their jobs.
struct Resolved {
  model::Placement placements = {};
  std::vector<std::int64_t> ends = {};
};

Resolved resolve(const InstanceView& instance, const RawHorizonPlan& plan, Findings& findings) {
  constexpr std::int64_t kLatest = std::int64_t{1} << 52;  // seconds; guards sums of times
  PlacementCheck check(instance, findings);
  std::vector<std::pair<model::JobPlacement, std::int64_t>> found;
  for (std::size_t p = 0; p < plan.plan.placements.size(); ++p) {
    const model::RawPlacement& raw = plan.plan.placements[p];
    auto placed = check.placed_in_time(raw);
    const auto end = p < plan.ends.size() ? plan.ends[p] : std::nullopt;
    if (!end || raw.start < plan.now || *end <= raw.start || *end > kLatest) {
      findings.add(FaultKind::bad_start, "job " + raw.job + " has no sound start and end");
    } else if (placed) {
      found.emplace_back(std::move(*placed), *end);
    }
  }
  for (const model::RawUnplacedJob& waiting : plan.plan.waiting) check.waiting(waiting);
  check.finish_jobs();
  std::ranges::sort(found, {}, [](const auto& one) { return one.first.job; });
  Resolved resolved;
  for (auto& [placed, end] : found) {
    resolved.placements.push_back(std::move(placed));
    resolved.ends.push_back(end);
  }
  return resolved;
}

void compare(const InstanceView& instance, const RawHorizonPlan& plan, const Horizon& horizon,
             const HorizonJudgement& judged, Findings& findings) {
  Comparison compare(findings);
  const model::HorizonFigures& actual = judged.figures;
  compare.digest(plan.plan.instance_digest, model::instance_digest(instance), "instance digest",
                 FaultKind::other_instance);
  FileDigest digest(false);
  for (const model::RawPlacement& placed : plan.plan.placements) digest.add(placed);
  compare.digest(plan.plan.plan_digest, digest.hex(), "plan digest", FaultKind::wrong_plan_digest);
  compare.count(plan.plan.figures.jobs_total, actual.jobs_total, "jobs_total");
  compare.count(plan.jobs_now, actual.jobs_now, "jobs_now");
  compare.count(plan.jobs_later, actual.jobs_later, "jobs_later");
  compare.real(plan.value, actual.objective, "objective", FaultKind::wrong_objective,
               FaultKind::wrong_objective);
  const bool minimised = model::minimised(horizon.objective);
  const auto low = minimised ? FaultKind::wrong_bound : FaultKind::bound_too_low;
  const auto high = minimised ? FaultKind::bound_too_low : FaultKind::wrong_bound;
  compare.real(plan.bound, actual.bound, "bound", low, high);
  compare.real(plan.gap, actual.gap, "gap", FaultKind::wrong_gap, FaultKind::wrong_gap);
  if (actual.gap < 0.0) {
    findings.add(FaultKind::wrong_bound, "the plan is better than the bound of its prices");
  }
  if (!plan.value || !plan.bound || !plan.certificate) return;
  const model::HorizonFigures stated{.objective = *plan.value, .bound = *plan.bound};
  compare.digest(plan.plan.proof_digest, horizon_proof_digest(horizon, stated, *plan.certificate),
                 "proof digest", FaultKind::wrong_proof_digest);
}

void compare_missing(const InstanceView& instance, const RawHorizonPlan& plan,
                     const std::vector<JobId>& missing, Findings& findings) {
  std::vector<std::string> stated, actual;
  if (plan.plan.required_missing) stated = *plan.plan.required_missing;
  for (const JobId job : missing) {
    actual.emplace_back(instance.workload.tables().job_names[job.index()]);
  }
  std::ranges::sort(stated);
  std::ranges::sort(actual);
  if (stated == actual) return;
  findings.add(FaultKind::wrong_required_missing,
               "required_missing names " + std::to_string(stated.size()) +
                   " jobs; the required jobs that do not start are " +
                   std::to_string(actual.size()));
}

/// A promise is kept when its job starts then or before, or runs already.
void check_promises(const InstanceView& instance, const RawHorizonPlan& plan,
                    const Resolved& resolved, Findings& findings) {
  std::map<std::string_view, std::int64_t> starts;
  for (const model::JobPlacement& placed : resolved.placements) {
    starts[instance.workload.tables().job_names[placed.job.index()]] = placed.start;
  }
  for (const model::Running& running : instance.workload.tables().running) {
    starts[instance.workload.tables().job_names[running.job.index()]] = 0;
  }
  std::string_view before;
  for (const model::RawPromise& promise : plan.promises) {
    const auto found = starts.find(promise.job);
    const bool kept = found != starts.end() && found->second <= promise.start;
    if (kept != promise.kept) {
      findings.add(FaultKind::bad_start, "job " + promise.job + (kept ? " keeps" : " breaks") +
                                             " its promise to start by " +
                                             std::to_string(promise.start));
    }
    if (promise.job == before) {
      findings.add(FaultKind::repeated_job, "job " + promise.job + " has two promises");
    }
    before = promise.job;
  }
}

}  // namespace

HorizonCheck check_horizon(const InstanceView& instance, const RawHorizonPlan& plan) {
  HorizonCheck result;
  Findings findings(result.checked);
  const Horizon horizon = horizon_of(plan, findings);
  result.objective = horizon.objective;
  const Resolved resolved = resolve(instance, plan, findings);
  TimeCheck times(instance, horizon, findings);
  for (std::size_t p = 0; p < resolved.placements.size(); ++p) {
    times.add(resolved.placements[p], resolved.ends[p]);
  }
  times.finish(resolved.placements);
  check_machines_over_time(instance, horizon, resolved.placements, resolved.ends, findings);
  check_queues_over_time(instance, horizon, resolved.placements, resolved.ends, findings);
  check_licenses_over_time(instance, horizon, resolved.placements, resolved.ends, findings);
  check_places_over_time(instance, horizon, resolved.placements, resolved.ends, findings);
  check_promises(instance, plan, resolved, findings);
  if (!plan.certificate) {
    findings.add(FaultKind::missing_entry, "the plan has no price_curves");
    return result;
  }
  try {
    result.judged =
        judge_horizon(instance, horizon, resolved.placements, resolved.ends, *plan.certificate);
  } catch (const InputError& error) {
    findings.add(FaultKind::bad_certificate, error.what());
    return result;
  }
  compare(instance, plan, horizon, result.judged, findings);
  compare_missing(instance, plan, result.judged.required_missing, findings);
  return result;
}

}  // namespace berth::certify
