// SPDX-License-Identifier: Apache-2.0
#include "place.hpp"

#include "online.hpp"
#include "windows.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/certify/figures.hpp"
#include "berth/coordinator/coordinate.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/pipeline/plan_cluster.hpp"
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

coordinator::RoundOptions round_options(const PlanOptions& options,
                                        coordinator::LimitAllocation* allocation) {
  coordinator::RoundOptions rounds = options.rounds;
  rounds.allocation = allocation;
  rounds.gap = options.gap;
  rounds.selection.seed = options.seed;
  rounds.save_every = options.checkpoint.file.empty() ? 0 : options.checkpoint.every;
  rounds.stop = options.stop;
  return rounds;
}

solver::OnlineOptions online_options(const PlanOptions& options) {
  solver::OnlineOptions online = options.online;
  online.stop = options.stop;
  return online;
}

/// The hooks refer to all of these and add each round to `rounds`.
coordinator::Hooks hooks(const Proof& proof, CheckpointWriter& writer,
                         report::ProgressTable& progress, std::vector<model::RoundRecord>& rounds) {
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
                   .record = &record});
  };
  return {.report = report, .save = std::ref(writer), .gap = gap};
}

/// Of the jobs at home here.
bool lacks_required(const Scene& scene, const model::Placement& placement) {
  const model::Workload& workload = scene.face.instance().workload;
  return std::ranges::any_of(scene.jobs.home_jobs(), [&](JobId job) {
    return workload.job(job).required &&
           !std::ranges::binary_search(placement, job, {}, &model::JobPlacement::job);
  });
}

/// Rank 0 looks at all jobs and all that is placed.
void repair_required(const Scene& scene, const Start& start, model::Placement& placement) {
  scene.jobs.gather_to_root();
  placement = gather_placement(scene.comm, std::move(placement));
  scene.comm.agreed_on_root([&] {
    solver::repair_required_jobs(*start.valuation, start.limits.get(), placement,
                                 {.stop = scene.options.stop});
  });
}

}  // namespace

std::map<std::string, std::string> changed(const coordinator::RoundOptions& rounds) {
  const coordinator::RoundOptions usual;
  std::map<std::string, std::string> words;
  const auto compare = [&](const char* name, int value, int other) {
    if (value != other) words[name] = std::to_string(value);
  };
  compare("rounds", rounds.rounds, usual.rounds);
  compare("offers", rounds.offers, usual.offers);
  compare("bidders", rounds.bidders, usual.bidders);
  compare("schedulers", rounds.schedulers, usual.schedulers);
  compare("pipeline_depth", rounds.depth, usual.depth);
  compare("regroups", rounds.regroups, usual.regroups);
  compare("chains", rounds.groups.effort.chains, usual.groups.effort.chains);
  compare("repartitions", rounds.groups.effort.repartitions, usual.groups.effort.repartitions);
  compare("group_gpus", rounds.groups.gpus, usual.groups.gpus);
  if (rounds.selection.rule == strads::SelectionRule::largest) words["offer_choice"] = "largest";
  return words;
}

Placed place_in_rounds(const Scene& scene, Start& start, const Proof& proof, Stages& stages,
                       report::ProgressTable& progress, std::vector<model::RoundRecord>& records) {
  CheckpointWriter writer(scene, start);
  std::unique_ptr<coordinator::LimitAllocation> allocation;
  if (start.limits != nullptr) {
    allocation = std::make_unique<coordinator::LimitAllocation>(
        scene.comm, *start.valuation, *start.limits, start.rounds.spanning);
  }
  const coordinator::CoordinationResult done = stages.run("coordinate", [&] {
    return coordinator::coordinate(
        scene.comm, *start.valuation,
        {scene.shards, scene.owners, scene.pools, start.consensus.prices, scene.jobs},
        start.local.mine, round_options(scene.options, allocation.get()),
        hooks(proof, writer, progress, records), start.rounds);
  });
  Placed placed{.placement = coordinator::placements_at_home(scene.comm, start.local.mine,
                                                             done.spanning, scene.jobs),
                .rounds = done.rounds,
                .spanning = done.spanning.size(),
                .most_jobs = scene.comm.max(scene.jobs.count_local())};
  start.local.mine.clear();  // what follows looks at the plan alone
  scene.jobs.retain_only({});
  if (scene.comm.max(lacks_required(scene, placed.placement) ? 1 : 0) == 1) {
    repair_required(scene, start, placed.placement);
  }
  if (start.limits == nullptr) return placed;
  const model::Instance& instance = scene.face.instance();
  BERTH_ENSURE(coordinator::within_limits(
      *start.limits,
      coordinator::limit_use(scene.comm, instance, *start.limits, placed.placement)));
  return placed;
}

Placed place_online(const Scene& scene, Stages& stages) {
  Placed placed;
  stages.run("online", [&] {
    scene.jobs.gather_to_root();
    scene.comm.agreed_on_root(
        [&] { placed.placement = place_in_order(scene.face, online_options(scene.options)); });
  });
  return placed;
}

}  // namespace berth::pipeline
