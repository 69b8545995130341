// SPDX-License-Identifier: Apache-2.0
#include "last_search.hpp"

#include "distributed_judge.hpp"
#include "search_again.hpp"
#include "whole_jobs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/certify/figures.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/solver/selected_start.hpp"

namespace berth::pipeline {
namespace {

/// A larger gap is worth more starts: docs/decisions/0122.
constexpr double kFarFromBound = 0.001;
/// Starts with the jobs of the plan, while each gains. Chosen, not tuned.
constexpr int kStartsOfPlacedJobs = 4;
/// Percent by which prices of room are raised before the bound decides which jobs stay. At its own
/// prices too many do, as gangs need whole machines. Tuned on `mixture` (decision 130).
constexpr std::array kPriceRaises{0, 3};

model::Certificate with_raised_prices(model::Certificate certificate, int percent) {
  const auto raise = [&](std::int64_t& price) {
    price = as_price(Int128{price} * (100 + percent) / 100);
  };
  for (auto& p : certificate.pools) raise(p.gpu_milli);
  for (auto& s : certificate.shapes) raise(s.price);
  for (auto& g : certificate.gangs) raise(g.price);
  raise(certificate.whole_jobs.gpu_milli);
  return certificate;
}

/// The jobs without those that stay. Both ascending.
std::vector<JobId> without(std::span<const JobId> jobs, std::span<const JobId> staying) {
  std::vector<JobId> others;
  std::ranges::set_difference(jobs, staying, std::back_inserter(others));
  return others;
}

/// New starts of a plan where jobs run (decisions 125 and 130).
class NewStarts {
 public:
  NewStarts(const PlanningContext& context, const GlobalRelaxation& relaxation,
            const model::Certificate& certificate, model::Placement& placement)
      : context_(context),
        relaxation_(relaxation),
        certificate_(certificate),
        planned_(model::planned_jobs(context.unpriced.instance().workload)),
        run_(whole_run(context, relaxation)),
        placement_(placement) {}

  /// The better of two ways: with jobs that stay where the bound leaves them, and from the empty
  /// cluster. Returns the value gained.
  double run() {
    if (planned_.empty() || context_.unpriced.instance().workload.tables().running.empty()) {
      return 0.0;
    }
    const auto alone = comm::Communicator::serial();
    const DistributedJudge judge(alone, context_.unpriced.instance(), context_.options.objective,
                                 planned_);
    const std::vector<JobId> chosen = chosen_jobs(context_, certificate_);
    const double before = judge.objective(placement_);
    model::Placement other = placement_;
    for (const int percent : kPriceRaises) {
      start_with_stays(chosen, judge.staying_jobs(judge.fitted(
                                   with_raised_prices(without_search(certificate_), percent))));
    }
    std::swap(other, placement_);
    start_from_empty(chosen);
    if (score(judge, other) > score(judge, placement_)) std::swap(other, placement_);
    return judge.objective(placement_) - before;
  }

 private:
  /// Number of placed required jobs, and value.
  [[nodiscard]] std::pair<std::ptrdiff_t, double> score(const DistributedJudge& judge,
                                                        const model::Placement& placement) const {
    const model::WorkloadView& workload = context_.unpriced.instance().workload;
    const auto required = [&](const model::JobPlacement& p) {
      return workload.job(p.job).required;
    };
    return {std::ranges::count_if(placement, required), judge.objective(placement)};
  }

  /// Beside the jobs that stay, the chosen jobs come first, then any.
  void start_with_stays(std::span<const JobId> chosen, std::span<const JobId> staying) {
    if (staying.empty() || context_.stop.requested()) return;
    double gain = start_with(without(chosen, staying), staying);
    gain += start_with(without(planned_, staying), staying);
    if (gain > 0.0) search();
  }

  /// With the chosen jobs, then with those of the plan, while that gains.
  void start_from_empty(std::span<const JobId> chosen) {
    start_with(chosen, {});
    for (int start = 0; start < kStartsOfPlacedJobs && !context_.stop.requested(); ++start) {
      std::vector<JobId> placed;
      for (const model::JobPlacement& p : placement_) placed.push_back(p.job);
      if (start_with(placed, {}) <= 0.0) break;
      search();
    }
  }

  void search() { search_again(context_, certificate_, run_, placement_); }

  double start_with(std::span<const JobId> jobs, std::span<const JobId> staying) {
    return solver::plan_selected(context_.unpriced, {context_.pools, relaxation_.consensus.prices},
                                 jobs,
                                 {.how = solver::SelectedPlacement::fill_and_dive,
                                  .shard = context_.options.shard,
                                  .staying = staying},
                                 run_, placement_);
  }

  const PlanningContext& context_;
  const GlobalRelaxation& relaxation_;
  const model::Certificate& certificate_;
  std::vector<JobId> planned_;
  solver::RunContext run_;
  model::Placement& placement_;
};

}  // namespace

solver::RunContext whole_run(const PlanningContext& context, const GlobalRelaxation& relaxation) {
  solver::RunContext run = run_context(context, relaxation);
  run.limits = relaxation.limits == nullptr ? nullptr : &context.limits;
  return run;
}

double search_at_last_prices(const PlanningContext& context, const GlobalRelaxation& relaxation,
                             const Proof& proof, const TightenGoal& goal,
                             model::Placement& placement) {
  const solver::RunContext run = whole_run(context, relaxation);
  double gained = search_again(context, proof.certificate, run, placement);
  const auto gap = [&] { return certify::gap(proof.upper_bound, goal.objective + gained); };
  if (gap() > kFarFromBound) {
    gained += NewStarts(context, relaxation, proof.certificate, placement).run();
  }
  if (gap() > goal.gap) {
    const double slack = proof.upper_bound - goal.objective - gained;
    gained += relocate_gangs(context, proof.certificate, slack, run, placement);
  }
  return gained;
}

}  // namespace berth::pipeline
