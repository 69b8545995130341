// SPDX-License-Identifier: Apache-2.0
#include "priority_order.hpp"

#include "assign.hpp"
#include "batched_gather.hpp"
#include "bound.hpp"
#include "certify_plan.hpp"
#include "coordinate.hpp"
#include "plan_stats.hpp"
#include "planning_problem.hpp"
#include "priority_bounds.hpp"
#include "priority_step.hpp"
#include "relax.hpp"
#include "resume.hpp"
#include "round.hpp"
#include "waiting_reasons.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/priority_classes.hpp"
#include "berth/comm/messages.hpp"
#include "berth/pipeline/checkpoint.hpp"
#include "berth/pipeline/option_table.hpp"
#include "berth/solver/priority_fill.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;
using model::Placement;

/// Number of placed required jobs, then the values of the classes above `priority`: of two plans
/// the lexicographically larger is better.
std::pair<std::int64_t, std::vector<Int128>> score_above(const model::InstanceView& instance,
                                                         model::Objective objective,
                                                         std::int32_t priority,
                                                         const Placement& placement) {
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  certify::ClassTable table;
  certify::add_jobs(instance, objective, jobs, table);
  certify::add_placed(instance, objective, placement, table);
  std::vector<Int128> values;
  const auto all = certify::class_values(instance, objective, table);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (certify::priorities_of(table)[k] > priority) values.push_back(all[k].exact);
  }
  const auto required = certify::required_placed(instance, placement);
  return {std::ssize(required), std::move(values)};
}

/// Plans the classes one by one on all ranks. Rank 0 has all jobs, and all placements so far.
class ClassPlanner {
 public:
  ClassPlanner(const Communicator& comm, const model::InstanceView& instance,
               const PlanOptions& options, Stages& stages, report::ProgressTable& progress,
               const StopToken& stop)
      : comm_(comm),
        instance_(instance),
        options_(options),
        stages_(stages),
        progress_(progress),
        stop_(stop) {
    if (!options.checkpoint.resume.empty()) {
      comm.agreed_on_root([&] { saved_ = CheckpointInput(options.checkpoint.resume).head(); });
      comm.broadcast_string(saved_.instance_digest);
    }
  }

  /// Plans all classes. @return the placement, on rank 0
  Placement run(std::span<const std::int32_t> priorities) {
    for (const std::int32_t priority : priorities) {
      progress_.note(fmt::format("class priority={}", priority));
      Placement planned = plan(priority);
      comm_.agreed_on_root([&] { add(priority, std::move(planned)); });
    }
    comm_.agreed_on_root([&] {
      if (!options_.checkpoint.resume.empty() && !resumed_) {
        expect_same_run(options_.checkpoint.resume, saved_, digest_, fingerprint(options_));
      }
    });
    stages_.run("fill", [&] { comm_.agreed_on_root([&] { fill(placed_); }); });
    return std::move(placed_);
  }

  /// The rounds of all classes.
  std::vector<model::RoundRecord> rounds;

 private:
  /// The plan of one class beside those above, on rank 0. Collective.
  Placement plan(std::int32_t priority) {
    PriorityStep step = priority_step(comm_, instance_, options_.objective, priority, placed_);
    const model::InstanceView view(instance_.cluster, {step.tables, step.records});
    coordinator::JobRecords records(comm_, step.tables, step.records);
    records.scatter_homes();
    const PlanningProblem problem(comm_, view, options_, stages_, records);
    const PlanningContext context = problem.context(comm_, options_, stages_, progress_, stop_);
    LocalSolution solution = start(context, records);
    const std::vector<JobId> home = records.home_jobs();
    const DistributedJudge judge = judge_of(context, home);
    const Proof proof = bound(context, judge, solution);
    GlobalPlacement placed = coordinate(context, records, solution, proof);
    std::ranges::move(placed.records, std::back_inserter(rounds));
    return gather_placement(comm_, std::move(placed.placement));
  }

  LocalSolution start(const PlanningContext& context, coordinator::JobRecords& records) {
    digest_ = context.digest;
    if (!options_.checkpoint.resume.empty() && digest_ == saved_.instance_digest) {
      resumed_ = true;
      return resume(context, records).solution;
    }
    GlobalRelaxation relaxation = relax(context, records);
    coordinator::Assignment assignment = assign(context, records, relaxation);
    return round(context, records, std::move(relaxation), std::move(assignment));
  }

  /// Adds the class to what is placed. If the classes above lost value, they keep their old places.
  void add(std::int32_t priority, Placement planned) {
    const auto counts = [&](const model::JobPlacement& p) {
      const model::Job& job = instance_.workload.job(p.job);
      return job.priority >= priority || job.required;
    };
    std::erase_if(planned, [&](const auto& p) { return !counts(p); });
    if (score(priority, planned) < score(priority, placed_)) {
      Placement restored = with_places(planned, [&](const model::JobPlacement& p) {
        return is_above(priority, p) && loses(p, planned);
      });
      if (score(priority, restored) < score(priority, placed_)) {
        restored = with_places(planned, [&](const auto& p) { return is_above(priority, p); });
      }
      planned = std::move(restored);
      std::erase_if(planned, [&](const auto& p) { return !counts(p); });
    }
    placed_ = std::move(planned);
  }

  [[nodiscard]] bool is_above(std::int32_t priority, const model::JobPlacement& p) const {
    return instance_.workload.job(p.job).priority > priority;
  }

  /// True when the job is worth less in the plan than where it is placed now.
  [[nodiscard]] bool loses(const model::JobPlacement& now, const Placement& planned) const {
    const planner_model::Valuation valuation(instance_, options_.objective);
    const auto at = std::ranges::lower_bound(planned, now.job, {}, &model::JobPlacement::job);
    return at == planned.end() || at->job != now.job ||
           valuation.placed(*at) < valuation.placed(now);
  }

  /// The plan, with the places so far of the jobs that the predicate selects, filled.
  template <class Select>
  [[nodiscard]] Placement with_places(Placement planned, const Select& select) const {
    Placement old;
    std::ranges::copy_if(placed_, std::back_inserter(old), select);
    std::erase_if(planned, [&](const model::JobPlacement& p) {
      return std::ranges::binary_search(old, p.job, {}, &model::JobPlacement::job);
    });
    std::ranges::move(old, std::back_inserter(planned));
    std::ranges::sort(planned, {}, &model::JobPlacement::job);
    fill(planned);
    return planned;
  }

  [[nodiscard]] std::pair<std::int64_t, std::vector<Int128>> score(std::int32_t priority,
                                                                   const Placement& p) const {
    return score_above(instance_, options_.objective, priority, p);
  }

  void fill(Placement& placement) const {
    const planner_model::Valuation valuation(instance_, options_.objective);
    const planner_model::CouplingLimits limits(instance_, options_.objective);
    solver::fill_by_priority(valuation, limits, placement, stop_.patient());
  }

  const Communicator& comm_;
  model::InstanceView instance_;
  const PlanOptions& options_;
  Stages& stages_;
  report::ProgressTable& progress_;
  StopToken stop_;
  Placement placed_ = {};  ///< by the classes so far, ascending
  Checkpoint saved_ = {};  ///< to resume from; on ranks above 0 its digest only
  std::string digest_ = {};
  bool resumed_ = false;
};

/// Plans all classes, with all records on rank 0 meanwhile. @return placements at home
GlobalPlacement plan_classes(const PlanningContext& context, const PlanOptions& options,
                             coordinator::JobRecords& jobs, std::span<const JobId> home) {
  const Communicator& comm = context.comm;
  const model::InstanceView& instance = context.unpriced.instance();
  const certify::ClassTable table = class_table(comm, instance, options.objective, home, {});
  ClassPlanner planner(comm, instance, options, context.stages, context.progress, context.stop);
  jobs.gather_to_root();
  const Placement all = planner.run(certify::priorities_of(table));
  jobs.scatter_homes();
  GlobalPlacement placed;
  placed.placement = to_homes(comm, jobs, all);
  placed.records = std::move(planner.rounds);
  placed.rounds = static_cast<int>(placed.records.size());
  return placed;
}

/// Unplaced jobs with the reason at the prices of their class.
std::vector<model::UnplacedJob> waiting_by_class(const PlanningContext& context,
                                                 std::span<const JobId> home,
                                                 std::span<const ProvedClass> classes,
                                                 const Placement& placement) {
  const model::WorkloadView& workload = context.unpriced.instance().workload;
  std::vector<model::UnplacedJob> all;
  for (const ProvedClass& c : classes) {
    std::vector<JobId> members(home.begin(), home.end());
    std::erase_if(members,
                  [&](JobId job) { return workload.job(job).priority != c.proved.priority; });
    std::ranges::move(
        waiting({context.comm, context.unpriced, context.limits, context.pools, c.prices}, members,
                placement),
        std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &model::UnplacedJob::job);
  return all;
}

}  // namespace

model::Plan plan_by_priority(const Communicator& comm, const model::InstanceView& instance,
                             const PlanOptions& options, report::ProgressTable& progress,
                             coordinator::JobRecords& jobs, const StopToken& stop) {
  Stages stages(comm);
  expect_few_priorities(comm, instance, jobs, {});
  PlanOptions unsaved = options;  // checkpoints are of classes
  unsaved.checkpoint = {};
  const PlanningProblem problem(comm, instance, unsaved, stages, jobs);
  const PlanningContext context = problem.context(comm, unsaved, stages, progress, stop);
  LocalSolution whole;  // the bound of the whole plan first: a stop later does not weaken it
  whole.relaxation = relax(context, jobs);
  const std::vector<JobId> home = jobs.home_jobs();
  const DistributedJudge judge = judge_of(context, home);
  Proof proof = bound(context, judge, whole);

  GlobalPlacement placed = plan_classes(context, options, jobs, home);
  const std::vector<ProvedClass> classes = prove_classes(context, jobs, placed.placement);
  model::Plan plan = certify_plan(context, jobs, whole.relaxation.consensus.prices,
                                  std::move(proof), std::move(placed.placement));
  plan.waiting = waiting_by_class(context, home, classes, plan.placements);
  for (const ProvedClass& c : classes) plan.classes.push_back(c.proved);
  comm.agreed_on_root([&] {
    plan.proof_digest = certify::proof_digest(
        instance, plan.figures.objective, plan.figures.upper_bound, plan.certificate, plan.classes);
  });
  plan.reproducible = comm.max(stop.has_cut() ? 1 : 0) == 0;
  plan.seconds = stages.slowest();
  plan.stats = plan_stats(context, whole, placed, plan.certificate.tree);
  plan.rounds = std::move(placed.records);
  return plan;
}

}  // namespace berth::pipeline
