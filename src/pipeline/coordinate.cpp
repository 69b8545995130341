// SPDX-License-Identifier: Apache-2.0
#include "coordinate.hpp"

#include "batched_gather.hpp"
#include "bound.hpp"
#include "checkpoint_writer.hpp"
#include "fill_free_room.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/certify/figures.hpp"
#include "berth/coordinator/coordinate.hpp"
#include "berth/coordinator/equal_jobs.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/solver/exact_search.hpp"
#include "berth/solver/required_job_repair.hpp"

namespace berth::pipeline {
namespace {

model::RoundRecord record_of(const coordinator::RoundReport& round, double upper_bound) {
  return {.round = round.round,
          .kind = round.kind,
          .objective = round.objective,
          .upper_bound = upper_bound,
          .gap = certify::gap(upper_bound, round.objective),
          .importance = round.importance,
          .gain = round.gain,
          .blocks = round.offers,
          .bids = round.bids,
          .commits = round.commits,
          .conflicts = round.conflicts,
          .refusals = round.refusals,
          .messages = round.cost.messages,
          .bytes = round.cost.bytes,
          .slowest_rank = round.cost.slowest_rank,
          .slowest_seconds = round.cost.slowest,
          .mean_seconds = round.cost.mean};
}

/// Most rounds of the kind of the last one that still come.
std::int64_t rounds_left(const coordinator::RoundOptions& options,
                         std::span<const model::RoundRecord> done) {
  const model::RoundKind kind = done.back().kind;
  const int most = kind == model::RoundKind::offers ? options.rounds : options.regroups;
  return std::max<std::int64_t>(0,
                                most - std::ranges::count(done, kind, &model::RoundRecord::kind));
}

/// Hooks of the rounds. They keep references to all arguments and append each round to `rounds`.
coordinator::Hooks hooks(const Proof& proof, CheckpointWriter& writer,
                         const PlanningContext& context, std::vector<model::RoundRecord>& rounds) {
  report::ProgressTable& progress = context.progress;
  const coordinator::RoundOptions& options = context.options.rounds;
  const auto gap = [&proof](double objective) {
    return certify::gap(proof.upper_bound, objective);
  };
  const auto report = [&](const coordinator::RoundReport& round) {
    if (round.round == 0) {
      progress.line(
          {.stage = "round", .round = 0, .objective = round.objective, .bound = proof.upper_bound});
      return;
    }
    const auto& record = rounds.emplace_back(record_of(round, proof.upper_bound));
    const bool offers = record.kind == model::RoundKind::offers;
    progress.line({.stage = offers ? "coordinate" : "regroup",
                   .round = record.round,
                   .objective = record.objective,
                   .bound = record.upper_bound,
                   .blocks = record.blocks,
                   .conflicts = record.conflicts,
                   .left = rounds_left(options, rounds),
                   .record = &record});
  };
  return {.report = report, .save = std::ref(writer), .gap = gap};
}

/// Runs the STRADS rounds and appends each to `done`.
coordinator::CoordinationResult run_rounds(const PlanningContext& context,
                                           coordinator::JobRecords& records,
                                           LocalSolution& solution, const Proof& proof,
                                           std::vector<model::RoundRecord>& done) {
  const GlobalRelaxation& relaxation = solution.relaxation;
  CheckpointWriter writer(context, solution);
  std::unique_ptr<coordinator::LimitAllocation> allocation;
  if (relaxation.limits != nullptr) {
    allocation = std::make_unique<coordinator::LimitAllocation>(
        context.comm, *relaxation.valuation, *relaxation.limits, solution.rounds.spanning);
  }
  const CheckpointOptions& checkpoint = context.options.checkpoint;
  const coordinator::RoundContext rounds{
      .run = run_context(context, relaxation),
      .allocation = allocation.get(),
      .save_every = checkpoint.file.empty() ? 0 : checkpoint.every,
      .hooks = hooks(proof, writer, context, done)};
  return context.stages.run("coordinate", [&] {
    return coordinator::coordinate(context.comm, decompose(context, relaxation), records,
                                   solution.local.mine,
                                   {context.options.rounds, rounds, solution.rounds});
  });
}

/// True when a required one of these jobs is unplaced.
bool misses_required(const PlanningContext& context, std::span<const JobId> jobs,
                     const model::Placement& placement) {
  const model::WorkloadView& workload = context.unpriced.instance().workload;
  return std::ranges::any_of(jobs, [&](JobId job) {
    return workload.job(job).required &&
           !std::ranges::binary_search(placement, job, {}, &model::JobPlacement::job);
  });
}

/// Repairs the required jobs on rank 0, which gathers all jobs and placements. Collective.
void repair_required(const PlanningContext& context, coordinator::JobRecords& records,
                     const GlobalRelaxation& relaxation, model::Placement& placement) {
  records.gather_to_root();
  placement = gather_placement(context.comm, std::move(placement));
  context.comm.agreed_on_root([&] {
    solver::repair_required_jobs(*relaxation.valuation, relaxation.limits.get(), placement,
                                 context.options.required_job_repair, context.stop);
  });
}

/// Objective of a whole placement.
double objective_of(const PlanningContext& context, const model::Placement& placement) {
  planner_model::LimitUsage usage(context.unpriced.instance(), &context.limits);
  for (std::size_t l = 0; l < usage.size(); ++l) usage.allow(l, context.limits.capacity(l));
  double sum = -context.unpriced.stop_costs();
  for (const model::JobPlacement& placed : placement) {
    sum += context.unpriced.placed(placed);
    usage.add(placed);
  }
  return sum - usage.surcharges();
}

/// Searches for a better plan on rank 0, which gathers all jobs and placements, unless the proof
/// leaves no gap. Collective.
void search_exactly(const PlanningContext& context, coordinator::JobRecords& records,
                    const Proof& proof, model::Placement& placement) {
  records.gather_to_root();
  placement = gather_placement(context.comm, std::move(placement));
  context.comm.agreed_on_root([&] {
    const double gap = certify::gap(proof.upper_bound, objective_of(context, placement));
    const auto jobs = model::planned_jobs(context.unpriced.instance().workload);
    if (gap <= context.options.gap && !misses_required(context, jobs, placement)) return;
    solver::search_exactly(context.unpriced, &context.limits, placement, context.options.exact,
                           context.stop);
  });
}

/// Adds what searches by shards leave out: missing required jobs, the best plan of a small
/// instance, jobs that fit into room left anywhere. Collective.
void fill(const PlanningContext& context, coordinator::JobRecords& records,
          const GlobalRelaxation& relaxation, const Proof& proof, model::Placement& placement) {
  const bool misses = misses_required(context, records.home_jobs(), placement);
  if (context.comm.max(misses ? 1 : 0) == 1) {
    repair_required(context, records, relaxation, placement);
  }
  const bool exact = context.options.exact.steps > 0;
  if (exact && is_small(context)) search_exactly(context, records, proof, placement);
  fill_free_room(context, records, placement);
  coordinator::serve_equal_jobs(context.comm, *relaxation.valuation, records, placement);
}

}  // namespace

GlobalPlacement coordinate(const PlanningContext& context, coordinator::JobRecords& records,
                           LocalSolution& solution, const Proof& proof) {
  GlobalPlacement placed;
  const coordinator::CoordinationResult done =
      run_rounds(context, records, solution, proof, placed.records);
  placed.placement =
      coordinator::placements_at_home(context.comm, solution.local.mine, done.spanning, records);
  placed.rounds = done.rounds;
  placed.spanning = done.spanning.size();
  placed.most_jobs = context.comm.max(records.count_local());
  solution.local.mine.clear();  // later stages need the placement only
  records.retain_only({});
  const GlobalRelaxation& relaxation = solution.relaxation;
  context.stages.run("fill", [&] { fill(context, records, relaxation, proof, placed.placement); });
  if (relaxation.limits == nullptr) return placed;
  const model::InstanceView& instance = context.unpriced.instance();
  BERTH_ENSURE(coordinator::within_limits(
      *relaxation.limits,
      coordinator::limit_use(context.comm, instance, *relaxation.limits, placed.placement)));
  return placed;
}

}  // namespace berth::pipeline
