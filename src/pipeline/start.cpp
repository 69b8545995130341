// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/packed_placement.hpp"

namespace berth::pipeline {
namespace {

constexpr std::int64_t kSlices = 16;  ///< the contents are written in

/// What the plan depends on beside the instance.
std::string words_of(const PlanOptions& options) {
  std::string words =
      fmt::format("objective={} shards={} gap={} seed={}",
                  options.objective == model::Objective::allocate ? "allocate" : "value",
                  options.partition.shards, options.gap, options.seed);
  for (const auto& [name, value] : changed(options.rounds)) {
    if (name == "rounds" || name == "regroups") continue;  // how far, not where to
    words += fmt::format(" {}={}", name, value);
  }
  return words;
}

solver::ShardOptions shard_options(const PlanOptions& options, const model::Limits* limits) {
  solver::ShardOptions shard = options.shard;
  shard.limits = limits;
  shard.stop = options.stop;
  shard.gap = options.gap;
  return shard;
}

std::unique_ptr<const model::Valuation> priced(const Scene& scene,
                                               const coordinator::Consensus& consensus) {
  model::SharedPrices prices{.queues = scene.quotas.by_queue(consensus.quotas)};
  const auto costs = [](double price) { return price > 0.0; };
  if (std::ranges::any_of(consensus.links, costs)) {
    prices.uplinks = &scene.uplinks;
    prices.links = consensus.links;
  }
  return std::make_unique<const model::Valuation>(scene.face.instance(), scene.face.objective(),
                                                  std::move(prices));
}

std::unique_ptr<const model::Limits> limits_of(const Scene& scene,
                                               const coordinator::Consensus& consensus) {
  if (scene.quotas.empty() && scene.links.idle()) return nullptr;
  return std::make_unique<const model::Limits>(
      model::Limits{.quotas = &scene.quotas, .links = &scene.links, .charged = consensus.quotas});
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
void hand_out(const comm::Communicator& comm, Checkpoint& c) {
  comm.broadcast_vector(c.consensus.prices);
  comm.broadcast_vector(c.consensus.quotas);
  comm.broadcast_vector(c.consensus.links);
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
coordinator::ContentStream hand_out_contents(const Scene& scene,
                                             std::optional<CheckpointInput>& file) {
  coordinator::ContentStream mine;
  for (;;) {
    std::optional<coordinator::ContentStream> some;
    scene.comm.agreed_on_root([&] { some = file->next(); });
    bool more = some.has_value();
    scene.comm.broadcast_value(more);
    if (!more) return mine;
    if (!some) some.emplace();
    const auto part = coordinator::scatter_contents(scene.comm, *some, scene.owners);
    mine.insert(mine.end(), part.begin(), part.end());
  }
}

}  // namespace

Start plan_locally(const Scene& scene, Stages& stages, report::ProgressTable& progress) {
  solver::PriceOptions prices = scene.options.prices;
  prices.stop = scene.options.stop;
  Start start;
  start.consensus = stages.run("relax", [&] {
    scene.jobs.scatter([&] {
      return scene.jobs.only_home(
          coordinator::jobs_by_evaluator(scene.face, static_cast<std::size_t>(scene.comm.size())));
    });
    return coordinator::consensus(scene.comm, scene.face, scene.pools, scene.quotas, scene.uplinks,
                                  prices);
  });
  progress.line({.stage = "relax",
                 .objective = std::nan(""),
                 .bound = start.consensus.bound - scene.face.stop_costs()});
  scene.jobs.retain_only({});
  start.valuation = priced(scene, start.consensus);
  start.limits = limits_of(scene, start.consensus);
  coordinator::Assignment jobs = stages.run("assign", [&] {
    return coordinator::assign(scene.comm, *start.valuation, scene.pools, scene.shards,
                               start.consensus.prices, scene.jobs, scene.options.stop,
                               start.limits.get());
  });
  start.local = stages.run("round", [&] {
    return coordinator::plan_shards(scene.comm, *start.valuation, scene.pools, scene.shards,
                                    scene.owners, jobs, start.consensus.prices,
                                    shard_options(scene.options, start.limits.get()), scene.jobs);
  });
  start.rounds.spanning = std::move(jobs.spanning);
  if (start.limits == nullptr) return start;
  stages.run("settle", [&] {
    coordinator::LimitAllocation(scene.comm, *start.valuation, *start.limits, start.rounds.spanning)
        .enforce(start.local.mine, start.rounds.spanning);
  });
  return start;
}

Start resume(const Scene& scene, Stages& stages) {
  return stages.run("resume", [&] {
    const std::string& path = scene.options.checkpoint.resume;
    Checkpoint c;
    std::optional<CheckpointInput> file;  // on rank 0
    scene.comm.agreed_on_root([&] {
      c = file.emplace(path).head();
      expect_same_run(path, c, scene.digest, words_of(scene.options));
    });
    hand_out(scene.comm, c);
    const coordinator::ContentStream contents = hand_out_contents(scene, file);
    scene.jobs.fetch(jobs_of(c, contents));
    Start start;
    start.valuation = priced(scene, c.consensus);
    start.limits = limits_of(scene, c.consensus);
    start.local.mine =
        coordinator::own_shards(scene.comm, *start.valuation, scene.pools, scene.shards,
                                scene.owners, shard_options(scene.options, start.limits.get()));
    for (solver::Shard& shard : start.local.mine) {
      for (const model::JobPlacement& p : c.rounds.spanning) shard.reserve(p);
    }
    scene.comm.agreed([&] { coordinator::restore_contents(contents, start.local.mine); });
    if (scene.comm.rank() == 0) start.local.task_prices = std::move(c.task_prices);
    start.consensus = std::move(c.consensus);
    start.rounds = std::move(c.rounds);
    return start;
  });
}

CheckpointWriter::CheckpointWriter(const Scene& scene, const Start& start)
    : comm_(scene.comm), path_(scene.options.checkpoint.file) {
  if (path_.empty() || scene.comm.rank() != 0) return;
  checkpoint_.instance_digest = scene.digest;
  checkpoint_.options = words_of(scene.options);
  checkpoint_.consensus = start.consensus;
  checkpoint_.task_prices = start.local.task_prices;
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
