// SPDX-License-Identifier: Apache-2.0
#include "priority_bounds.hpp"

#include "bound.hpp"
#include "planning_problem.hpp"
#include "relax.hpp"
#include "round.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "berth/certify/figures.hpp"
#include "berth/comm/messages.hpp"

namespace berth::pipeline {
namespace {

/// Steps by 2 of one descent at most. Untuned guard; most end within 3.
constexpr int kMostSteps = 8;

/// The bound of one class at one weight of the classes above.
struct WeightedBound {
  double bound = 0.0;
  model::Certificate certificate;
  std::vector<double> prices;
};

struct WeightCandidate {
  std::vector<std::int32_t> weights;  ///< as PriorityClass::weights_log2
  WeightedBound at;
};

class ClassProver {
 public:
  ClassProver(const PlanningContext& context, coordinator::JobRecords& jobs,
              const model::Placement& placement)
      : comm_(context.comm),
        instance_(context.unpriced.instance()),
        options_(context.options),
        stages_(context.stages),
        jobs_(jobs),
        placement_(placement),
        stop_(context.stop),
        home_(jobs.home_jobs()),
        table_(class_table(comm_, instance_, options_.objective, home_, placement)),
        priorities_(certify::priorities_of(table_)),
        values_(certify::class_values(instance_, options_.objective, table_)),
        tables_(instance_.workload.tables()),
        quiet_({.verbosity = 0}) {}

  std::vector<ProvedClass> run() {
    std::vector<ProvedClass> classes;
    std::vector<std::int32_t> weights;  // as ProvedClass has them
    auto sums = table_.begin();
    for (std::size_t k = 0; k < priorities_.size(); ++k, ++sums) {
      ProvedClass& c = classes.emplace_back();
      c.proved = {.priority = priorities_[k],
                  .jobs_total = sums->second.jobs_total,
                  .jobs_placed = sums->second.jobs_placed(),
                  .value = values_[k].value};
      WeightCandidate best = least(k, std::move(weights));
      c.proved.upper_bound = best.at.bound;
      c.proved.gap = certify::gap(best.at.bound, c.proved.value);
      c.proved.certificate = std::move(best.at.certificate);
      c.proved.weights_log2 = best.weights;
      c.prices = std::move(best.at.prices);
      weights = std::move(best.weights);
      weights.push_back(0);
    }
    return classes;
  }

 private:
  /// Begins with the weights of the class before, because each class must outweigh the next; then
  /// descends, for all classes above, and for the highest i of them.
  WeightCandidate least(std::size_t k, std::vector<std::int32_t> start) {
    WeightCandidate best{.weights = std::move(start), .at = {}};
    best.at = at(k, best.weights);
    for (std::size_t i = k; i > 0; --i) descend(k, i, best);
    return best;
  }

  /// Adds the same to the exponents of the highest `classes` while that lowers the bound: steps of
  /// 2, then one of 1. Ties: the first one tried.
  void descend(std::size_t k, std::size_t classes, WeightCandidate& best) {
    const auto improve = [&](std::int32_t step) {
      WeightCandidate next{.weights = best.weights, .at = {}};
      for (std::size_t i = 0; i < classes; ++i) next.weights[i] += step;
      if (!certify::unusable_weights(instance_, options_.objective, next.weights).empty()) {
        return false;
      }
      next.at = at(k, next.weights);
      if (next.at.bound >= best.at.bound) return false;
      best = std::move(next);
      return true;
    };
    for (const std::int32_t step : {2, -2}) {
      int steps = 0;
      while (steps < kMostSteps && improve(step)) ++steps;
      if (steps > 0) break;  // a convex function falls in one direction only
    }
    if (!improve(1)) improve(-1);
  }

  /// What class k is of all weighted values, at least 2^-20: the error that its bound inherits from
  /// theirs is to be small beside its own value.
  [[nodiscard]] double share_of(std::size_t k, const std::vector<std::int32_t>& weights) const {
    const double own = std::max(0.0, values_[k].value);
    double all = own;
    for (std::size_t i = 0; i < k; ++i) {
      all += std::ldexp(std::max(0.0, values_[i].value), weights[i]);
    }
    return all > 0.0 ? std::max(own / all, 0x1p-20) : 1.0;
  }

  WeightedBound at(std::size_t k, const std::vector<std::int32_t>& weights) {
    model::set_weights(instance_.workload.tables(), certify::class_weights(priorities_, weights),
                       tables_);
    const model::InstanceView weighted(instance_.cluster, {tables_, instance_.workload.records()});
    PlanOptions finer = options_;
    finer.prices.least_gain *= share_of(k, weights);
    const PlanningProblem problem(comm_, weighted, finer, stages_, jobs_);
    const PlanningContext context = problem.context(comm_, finer, stages_, quiet_, stop_);
    LocalSolution solution;
    solution.relaxation = relax(context, jobs_);
    const auto counted = certify::jobs_of_class(instance_.workload, home_, priorities_[k]);
    const DistributedJudge judge = judge_of(context, counted);
    Proof proof = bound(context, judge, solution);
    const certify::Bound weighed = judge.bound(proof.certificate, placement_);
    return {.bound = certify::class_bound(weighed, values_, weights),
            .certificate = std::move(proof.certificate),
            .prices = std::move(solution.relaxation.consensus.prices)};
  }

  const comm::Communicator& comm_;
  model::InstanceView instance_;
  PlanOptions options_;
  Stages& stages_;
  coordinator::JobRecords& jobs_;
  const model::Placement& placement_;
  StopToken stop_;
  std::vector<JobId> home_;
  certify::ClassTable table_;
  std::vector<std::int32_t> priorities_;
  std::vector<certify::ObjectiveValue> values_;
  model::WorkloadTables tables_;  ///< weighted for the bound at hand
  report::ProgressTable quiet_;
};

}  // namespace

certify::ClassTable class_table(const comm::Communicator& comm, const model::InstanceView& instance,
                                model::Objective objective, std::span<const JobId> home,
                                const model::Placement& placement) {
  certify::ClassTable mine, all;
  comm.agreed([&] {
    certify::add_jobs(instance, objective, home, mine);
    certify::add_placed(instance, objective, placement, mine);
  });
  for (const certify::ClassTable& one :
       comm::all_gather<certify::ClassTable>(comm, std::span(&mine, 1))) {
    certify::add(one, all);
  }
  return all;
}

std::vector<ProvedClass> prove_classes(const PlanningContext& context,
                                       coordinator::JobRecords& jobs,
                                       const model::Placement& placement) {
  return ClassProver(context, jobs, placement).run();
}

}  // namespace berth::pipeline
