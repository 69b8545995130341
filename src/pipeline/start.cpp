// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/wire.hpp"

namespace berth::pipeline {
namespace {

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

/// What each rank's shards need, and the gangs that lie over several.
coordinator::JobLists jobs_of(const Checkpoint& c, const Scene& scene) {
  auto lists = coordinator::jobs_in_contents(c.contents, scene.owners,
                                             static_cast<std::size_t>(scene.comm.size()));
  for (auto& list : lists) {
    for (const model::JobPlacement& p : c.rounds.spanning) list.push_back(p.job);
    for (const coordinator::Flight& flight : c.rounds.flights) {
      for (const solver::Offer& offer : flight.offers) list.push_back(offer.job);
    }
  }
  return lists;
}

/// Rank 0's checkpoint to all; the contents go to all as well, each takes what is its own.
void hand_out(const comm::Communicator& comm, Checkpoint& c) {
  comm.broadcast_vector(c.consensus.prices);
  comm.broadcast_vector(c.consensus.quotas);
  comm.broadcast_vector(c.consensus.links);
  comm.broadcast_value(c.consensus.bound);
  comm.broadcast_value(c.consensus.evaluations);
  comm.broadcast_vector(c.shape_prices);
  auto spanning = coordinator::to_wire(c.rounds.spanning);
  comm.broadcast_vector(spanning);
  c.rounds.spanning = coordinator::from_wire(spanning);
  comm.broadcast_value(c.rounds.round);
  comm.broadcast_value(c.rounds.regroups);
  comm.broadcast_value(c.rounds.idle_rounds);
  comm.broadcast_value(c.rounds.shards);
  comm.broadcast_vector(c.rounds.refusals);
  std::size_t flights = c.rounds.flights.size();
  comm.broadcast_value(flights);
  c.rounds.flights.resize(flights);
  for (coordinator::Flight& flight : c.rounds.flights) {
    comm.broadcast_vector(flight.offers);
    comm.broadcast_vector(flight.bids);
  }
  comm.broadcast_vector(c.contents);
}

}  // namespace

Start plan_locally(const Scene& scene, Stages& stages, report::ProgressTable& progress) {
  solver::PriceOptions prices = scene.options.prices;
  prices.stop = scene.options.stop;
  Start start;
  start.consensus = stages.run("relax", [&] {
    scene.jobs.hand_out([&] {
      return scene.jobs.from_home(
          coordinator::dealt_jobs(scene.face, static_cast<std::size_t>(scene.comm.size())));
    });
    return coordinator::consensus(scene.comm, scene.face, scene.pools, scene.quotas, scene.uplinks,
                                  prices);
  });
  progress.line({.stage = "relax",
                 .objective = std::nan(""),
                 .bound = start.consensus.bound - scene.face.stop_costs()});
  scene.jobs.keep({});
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
    coordinator::Sharing(scene.comm, *start.valuation, *start.limits, start.rounds.spanning)
        .settle(start.local.mine, start.rounds.spanning);
  });
  return start;
}

Start resume(const Scene& scene, Stages& stages) {
  return stages.run("resume", [&] {
    const std::string& path = scene.options.checkpoint.resume;
    Checkpoint c;
    scene.comm.agreed([&] {
      if (scene.comm.rank() != 0) return;
      c = read_checkpoint(path);
      expect_same_run(path, c, scene.digest, words_of(scene.options));
    });
    hand_out(scene.comm, c);
    scene.jobs.hand_out([&] { return scene.jobs.from_home(jobs_of(c, scene)); });
    Start start;
    start.valuation = priced(scene, c.consensus);
    start.limits = limits_of(scene, c.consensus);
    start.local.mine =
        coordinator::own_shards(scene.comm, *start.valuation, scene.pools, scene.shards,
                                scene.owners, shard_options(scene.options, start.limits.get()));
    for (solver::Shard& shard : start.local.mine) {
      for (const model::JobPlacement& p : c.rounds.spanning) shard.reserve(p);
    }
    coordinator::restore_contents(c.contents, start.local.mine);
    if (scene.comm.rank() == 0) start.local.shape_prices = std::move(c.shape_prices);
    start.consensus = std::move(c.consensus);
    start.rounds = std::move(c.rounds);
    return start;
  });
}

CheckpointWriter::CheckpointWriter(const Scene& scene, const Start& start)
    : path_(scene.options.checkpoint.file) {
  if (path_.empty() || scene.comm.rank() != 0) return;
  checkpoint_.instance_digest = scene.digest;
  checkpoint_.options = words_of(scene.options);
  checkpoint_.consensus = start.consensus;
  checkpoint_.shape_prices = start.local.shape_prices;
}

void CheckpointWriter::operator()(const coordinator::RoundState& rounds,
                                  std::span<const std::int64_t> contents) {
  checkpoint_.rounds = rounds;
  checkpoint_.contents.assign(contents.begin(), contents.end());
  write_checkpoint(path_, checkpoint_);
}

}  // namespace berth::pipeline
