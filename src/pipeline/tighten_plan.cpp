// SPDX-License-Identifier: Apache-2.0
#include "tighten_plan.hpp"

#include "batched_gather.hpp"
#include "bound.hpp"
#include "fill_free_room.hpp"
#include "gang_prices.hpp"
#include "last_search.hpp"
#include "near_prices.hpp"
#include "relax.hpp"
#include "resource_prices.hpp"
#include "stay_prices.hpp"
#include "tighten.hpp"
#include "whole_jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/certify/figures.hpp"
#include "berth/coordinator/equal_jobs.hpp"
#include "berth/solver/assigned_start.hpp"
#include "berth/solver/home_start.hpp"
#include "berth/solver/selected_start.hpp"

namespace berth::pipeline {
namespace {

/// Jobs x GPUs of a rack: so many cells leave 20 evaluations (HomeRackOptions::cells).
constexpr std::int64_t kMostHomeCells = 5'000'000;

/// Units of a cluster whose bound by job prices is evaluated by default: the GPUs of the largest
/// for many jobs (decision 3).
constexpr std::int64_t kMostUnits = 4096;

/// Jobs that are assigned to places all at once: with more, each is a small part of a place, and
/// the local search fills places as well.
constexpr std::size_t kFewGangs = 64;

TightenOptions tighten_options(const model::InstanceView& instance, const PlanOptions& options) {
  const std::int64_t gpus = instance.cluster.gpus();
  const auto jobs = static_cast<std::int64_t>(instance.workload.size());
  TightenOptions how{.job_prices = options.job_prices, .branch = options.branch};
  how.job_prices.evaluations =
      options.bound_steps >= 0 ? options.bound_steps : usual_bound_steps(gpus, jobs);
  how.branch.leaves = options.tree_nodes >= 0 ? options.tree_nodes : usual_tree_leaves(gpus, jobs);
  if (options.bound_steps < 0) how.most_units = kMostUnits;
  return how;
}

/// Lets the judge search over all placements, or over the places of few gangs, if the proof leaves
/// a gap and that lowers the bound.
void add_search(const PlanningContext& context, const model::Placement& placement,
                const TightenGoal& goal, Proof& proof) {
  if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return;
  if (goal.stop.requested()) return;
  const model::InstanceView& instance = context.unpriced.instance();
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const auto alone = comm::Communicator::serial();
  const DistributedJudge judge(alone, instance, context.options.objective, jobs);
  model::Certificate certificate = proof.certificate;
  certificate.search_steps =
      is_small(context)
          ? context.options.exact.within_size(context.options.search_steps, instance.cluster.gpus())
          : context.options.search_steps;
  const double bound = judge.bound(certificate, placement).value;
  if (bound < proof.upper_bound) proof = {std::move(certificate), bound};
}

/// True when the bound within home racks can be evaluated often enough (solver::home_rack_prices).
bool can_choose_at_home(const PlanningContext& context, std::span<const JobId> home) {
  const model::InstanceView& instance = context.unpriced.instance();
  const bool some = std::ranges::any_of(
      home, [&](JobId job) { return instance.workload.job(job).home_rack.valid(); });
  const std::int64_t rack_gpus =
      instance.cluster.gpus() / static_cast<std::int64_t>(instance.cluster.racks.size());
  return context.comm.max(some ? 1 : 0) == 1 && context.pools.level == model::Level::rack &&
         static_cast<std::int64_t>(instance.workload.size()) * rack_gpus <= kMostHomeCells;
}

/// The steps by which proof and plan get closer, each only while a gap is left.
class Tightening {
 public:
  Tightening(const PlanningContext& context, coordinator::JobRecords& records,
             const DistributedJudge& judge, const GlobalRelaxation& relaxation, Proof& proof,
             model::Placement& placement)
      : context_(context),
        instance_(context.unpriced.instance()),
        records_(records),
        judge_(judge),
        relaxation_(relaxation),
        proof_(proof),
        placement_(placement),
        goal_{.objective = judge.objective(placement),
              .gap = context.options.gap,
              .stop = context.stop},
        how_(tighten_options(instance_, context.options)) {}

  void run() {
    if (closed()) return;
    if (steps()) choose();
    if (closed()) return;
    const bool homes = steps() && can_choose_at_home(context_, records_.home_jobs());
    if (!homes && !some_step_helps()) return;
    records_.gather_to_root();
    placement_ = gather_placement(context_.comm, std::move(placement_));
    context_.comm.agreed_on_root([&] {
      start_from_choice();
      if (homes) choose_homes();
      if (few()) assign_gangs();
      price_room();
      if (searches_prices() && !closed() && proof_.certificate.jobs.empty() &&
          !goal_.stop.requested()) {
        goal_.objective += search_at_last_prices(context_, relaxation_, proof_, goal_, placement_);
      }
      proof_ = price_jobs(context_.unpriced, context_.pools, relaxation_.consensus.prices,
                          std::move(proof_), goal_, how_);
      if (searches()) add_search(context_, placement_, goal_, proof_);
    });
    if (choice_.usable || homes || searches_prices()) {
      fill_free_room(context_, records_, placement_);
      coordinator::serve_equal_jobs(context_.comm, context_.unpriced, records_, placement_);
    }
  }

 private:
  [[nodiscard]] bool closed() const {
    return certify::gap(proof_.upper_bound, goal_.objective) <= goal_.gap;
  }
  [[nodiscard]] bool steps() const { return context_.options.bound_steps != 0; }
  [[nodiscard]] bool few() const { return steps() && instance_.workload.size() <= kFewGangs; }
  /// Prices of gangs, and the local search at the last prices.
  [[nodiscard]] bool searches_prices() const { return steps() && few_records(instance_); }
  /// Over all placements.
  [[nodiscard]] bool searches() const {
    return context_.options.search_steps > 0 && is_small(context_);
  }
  /// False when no step but a choice within home racks would do anything.
  [[nodiscard]] bool some_step_helps() const {
    return choice_.usable || searches_prices() || how_.job_prices.evaluations > 0 ||
           resources_matter(instance_) || searches() || few();
  }
  [[nodiscard]] solver::PricedPools pools() const {
    return {context_.pools, relaxation_.consensus.prices};
  }

  /// The proof with whole jobs. Collective.
  void choose() {
    const std::vector<JobId> home = records_.home_jobs();  // starts may have moved them
    choice_ =
        choose_whole_jobs(judge_.with_homes(home), context_, goal_.objective, std::move(proof_));
    proof_ = choice_.proof;
  }

  /// Plans anew with the chosen jobs first.
  void start_from_choice() {
    if (choice_.selected.empty()) return;
    const auto starts = choice_.promising || solver::some_job_may_move(instance_.workload)
                            ? solver::SelectedPlacement::fill_and_dive
                            : solver::SelectedPlacement::fill;
    goal_.objective += solver::plan_selected(context_.unpriced, pools(), choice_.selected,
                                             {.how = starts, .shard = context_.options.shard},
                                             whole_run(context_, relaxation_), placement_);
  }

  /// The proof within home racks, and a plan anew from its choice of jobs in these.
  void choose_homes() {
    HomeProof home =
        choose_at_home(context_, relaxation_.consensus.prices, goal_, std::move(proof_));
    proof_ = std::move(home.proof);
    if (home.found.at_home.empty() || solver::some_job_may_move(instance_.workload)) return;
    goal_.objective += solver::plan_at_home(context_.unpriced, pools(), home.found,
                                            context_.options.shard.dive.effort,
                                            whole_run(context_, relaxation_), placement_);
  }

  /// Plans anew from the best assignment of few large gangs to racks, pods and types, then searches
  /// over their places. The assignment does not know limits.
  void assign_gangs() {
    if (closed()) return;
    const std::vector<JobId> gangs = solver::whole_gpu_jobs(instance_);
    if (relaxation_.limits == nullptr && !gangs.empty()) {
      goal_.objective += solver::plan_assigned(context_.unpriced, pools(), gangs,
                                               context_.options.shard.dive.effort,
                                               whole_run(context_, relaxation_), placement_);
    }
    if (context_.options.search_steps > 0 && !searches()) {
      add_search(context_, placement_, goal_, proof_);
    }
  }

  /// The proof at better prices of resources, of room beside jobs that stay, and of gangs.
  void price_room() {
    const model::Objective objective = context_.options.objective;
    proof_ = price_resources(instance_, objective, std::move(proof_), context_.stop);
    if (steps()) proof_ = price_stays(instance_, objective, std::move(proof_), goal_);
    if (searches_prices()) proof_ = price_gangs(instance_, objective, std::move(proof_), goal_);
  }

  const PlanningContext& context_;
  const model::InstanceView& instance_;
  coordinator::JobRecords& records_;
  const DistributedJudge& judge_;
  const GlobalRelaxation& relaxation_;
  Proof& proof_;
  model::Placement& placement_;
  TightenGoal goal_;
  TightenOptions how_;
  ChoiceProof choice_;
};

}  // namespace

void tighten(const PlanningContext& context, coordinator::JobRecords& records,
             const DistributedJudge& judge, const LocalSolution& solution, Proof& proof,
             model::Placement& placement) {
  context.stages.run("tighten", [&] {
    Tightening(context, records, judge, solution.relaxation, proof, placement).run();
  });
}

}  // namespace berth::pipeline
