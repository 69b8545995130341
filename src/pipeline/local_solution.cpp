// SPDX-License-Identifier: Apache-2.0
#include "local_solution.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/packed_placement.hpp"
#include "berth/pipeline/option_table.hpp"

namespace berth::pipeline {
namespace {

constexpr std::int64_t kSlices = 16;  ///< the contents are written in

coordinator::ShardSettings shard_settings(const PlanningContext& context,
                                          const model::CouplingLimits* limits) {
  return {.options = context.options.shard, .run = run_context(context, limits)};
}

std::unique_ptr<const model::Valuation> priced(const PlanningContext& context,
                                               const coordinator::Consensus& consensus) {
  return std::make_unique<const model::Valuation>(
      context.unpriced.instance(), context.unpriced.objective(),
      model::SharedPrices(context.limit_groups, consensus.limits));
}

std::unique_ptr<const model::CouplingLimits> limits_of(const PlanningContext& context,
                                                       const coordinator::Consensus& consensus) {
  if (context.limits.empty()) return nullptr;
  auto limits = std::make_unique<model::CouplingLimits>(context.limits);
  const auto quotas = static_cast<std::ptrdiff_t>(limits->of_queues());
  limits->charge({consensus.limits.begin(), consensus.limits.begin() + quotas});
  return limits;
}

/// What this rank's shards need, and what all have to know of.
std::vector<JobId> jobs_of(const Checkpoint& c, std::span<const std::int64_t> contents) {
  std::vector<JobId> jobs = coordinator::jobs_of(contents);
  std::ranges::move(coordinator::jobs_of(c.rounds.spanning), std::back_inserter(jobs));
  for (const coordinator::PendingRound& pending_round : c.rounds.pending) {
    for (const solver::JobOffer& offer : pending_round.offers) jobs.push_back(offer.job);
  }
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

/// Rank 0's checkpoint to all.
void broadcast_checkpoint(const comm::Communicator& comm, Checkpoint& c) {
  comm.broadcast_vector(c.consensus.prices);
  comm.broadcast_vector(c.consensus.limits);
  comm.broadcast_value(c.consensus.bound);
  comm.broadcast_value(c.consensus.evaluations);
  comm.broadcast_vector(c.task_prices);
  auto spanning = coordinator::pack_placement(c.rounds.spanning);
  comm.broadcast_vector(spanning);
  c.rounds.spanning = coordinator::unpack_placement(spanning);
  comm.broadcast_value(c.rounds.round);
  comm.broadcast_value(c.rounds.regroups);
  comm.broadcast_value(c.rounds.idle_rounds);
  comm.broadcast_value(c.rounds.shards);
  comm.broadcast_vector(c.rounds.refusals);
  std::size_t pending = c.rounds.pending.size();
  comm.broadcast_value(pending);
  c.rounds.pending.resize(pending);
  for (coordinator::PendingRound& pending_round : c.rounds.pending) {
    comm.broadcast_vector(pending_round.offers);
    comm.broadcast_vector(pending_round.bids);
  }
}

/// What this rank's shards held. @param file  on rank 0
coordinator::ContentStream scatter_saved_contents(const PlanningContext& context,
                                                  std::optional<CheckpointInput>& file) {
  coordinator::ContentStream mine;
  for (;;) {
    std::optional<coordinator::ContentStream> some;
    context.comm.agreed_on_root([&] { some = file->next(); });
    bool more = some.has_value();
    context.comm.broadcast_value(more);
    if (!more) return mine;
    if (!some) some.emplace();
    const auto part = coordinator::scatter_contents(context.comm, *some, context.owners);
    mine.insert(mine.end(), part.begin(), part.end());
  }
}

}  // namespace

solver::RunContext run_context(const PlanningContext& context,
                               const model::CouplingLimits* limits) {
  return {.gap = context.options.gap,
          .seed = context.options.seed,
          .stop = context.stop,
          .limits = limits};
}

coordinator::Decomposition decompose(const PlanningContext& context,
                                     const LocalSolution& solution) {
  return {.valuation = *solution.valuation,
          .shards = context.shards,
          .owners = context.owners,
          .pools = context.pools,
          .prices = solution.consensus.prices,
          .records = context.records};
}

LocalSolution plan_locally(const PlanningContext& context, Stages& stages,
                           report::ProgressTable& progress) {
  LocalSolution solution;
  solution.consensus = stages.run("relax", [&] {
    context.records.scatter([&] {
      return context.records.only_home(coordinator::jobs_by_evaluator(
          context.unpriced, static_cast<std::size_t>(context.comm.size())));
    });
    return coordinator::consensus(context.comm, context.unpriced, context.pools,
                                  context.limit_groups, context.options.prices, context.stop);
  });
  progress.line({.stage = "relax",
                 .objective = std::nan(""),
                 .bound = solution.consensus.bound - context.unpriced.stop_costs()});
  context.records.retain_only({});
  solution.valuation = priced(context, solution.consensus);
  solution.limits = limits_of(context, solution.consensus);
  const coordinator::Decomposition decomposition = decompose(context, solution);
  coordinator::Assignment jobs = stages.run("assign", [&] {
    return coordinator::assign(context.comm, decomposition,
                               run_context(context, solution.limits.get()));
  });
  solution.local = stages.run("round", [&] {
    return coordinator::plan_shards(context.comm, decomposition, jobs,
                                    shard_settings(context, solution.limits.get()));
  });
  solution.rounds.spanning = std::move(jobs.spanning);
  if (solution.limits == nullptr) return solution;
  stages.run("settle", [&] {
    coordinator::LimitAllocation(context.comm, *solution.valuation, *solution.limits,
                                 solution.rounds.spanning)
        .enforce(solution.local.mine, solution.rounds.spanning);
  });
  return solution;
}

LocalSolution resume(const PlanningContext& context, Stages& stages) {
  return stages.run("resume", [&] {
    const std::string& path = context.options.checkpoint.resume;
    Checkpoint c;
    std::optional<CheckpointInput> file;  // on rank 0
    context.comm.agreed_on_root([&] {
      c = file.emplace(path).head();
      expect_same_run(path, c, context.digest, fingerprint(context.options));
    });
    broadcast_checkpoint(context.comm, c);
    const coordinator::ContentStream contents = scatter_saved_contents(context, file);
    context.records.fetch(jobs_of(c, contents));
    LocalSolution solution;
    solution.valuation = priced(context, c.consensus);
    solution.limits = limits_of(context, c.consensus);
    solution.local.mine = coordinator::own_shards(context.comm, decompose(context, solution),
                                                  shard_settings(context, solution.limits.get()));
    for (solver::Shard& shard : solution.local.mine) {
      for (const model::JobPlacement& p : c.rounds.spanning) shard.reserve(p);
    }
    context.comm.agreed([&] { coordinator::restore_contents(contents, solution.local.mine); });
    if (context.comm.rank() == 0) solution.local.task_prices = std::move(c.task_prices);
    solution.consensus = std::move(c.consensus);
    solution.rounds = std::move(c.rounds);
    return solution;
  });
}

CheckpointWriter::CheckpointWriter(const PlanningContext& context, const LocalSolution& solution)
    : comm_(context.comm), path_(context.options.checkpoint.file) {
  if (path_.empty() || context.comm.rank() != 0) return;
  checkpoint_.instance_digest = context.digest;
  checkpoint_.options = fingerprint(context.options);
  checkpoint_.consensus = solution.consensus;
  checkpoint_.task_prices = solution.local.task_prices;
}

void CheckpointWriter::operator()(const coordinator::RoundState& rounds,
                                  std::span<const solver::Shard> mine) {
  std::optional<CheckpointOutput> file;  // on rank 0
  comm_.agreed_on_root([&] {
    checkpoint_.rounds = rounds;
    file.emplace(path_, checkpoint_);
  });
  const std::int64_t at_once = rounds.shards / kSlices + 1;
  for (std::int64_t first = 0; first < rounds.shards; first += at_once) {
    const auto contents = coordinator::gather_contents(comm_, mine, first, first + at_once);
    comm_.agreed_on_root([&] { file->add(contents); });
  }
  comm_.agreed_on_root([&] { file->commit(); });
}

}  // namespace berth::pipeline
