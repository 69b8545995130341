// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_ids.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <stdexcept>

#include "berth/base/archive.hpp"
#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/solver/shard.hpp"

namespace berth::pipeline {
namespace {

/// A number that a certificate can hold: sums of capacities at such prices stay below 2^128.
bool is_price(double price) {
  constexpr double kMost = 1e24;  // value per unit; far above any that jobs can pay, untuned guard
  return price >= 0.0 && price <= kMost;
}

constexpr const char* kContradicts = "holds a state that contradicts itself";

/// Counts of what ids refer to.
class KnownIds {
 public:
  explicit KnownIds(const PlanningContext& context)
      : cluster_(context.unpriced.instance().cluster),
        jobs_(context.unpriced.instance().workload.size()),
        shards_(context.shards.size()),
        shapes_(context.unpriced.instance().workload.tables().shapes.size()) {}

  [[nodiscard]] bool job(JobId id) const { return id.valid() && id.index() < jobs_; }
  [[nodiscard]] bool shard(ShardId id) const { return id.valid() && id.index() < shards_; }
  [[nodiscard]] bool jobs(std::span<const JobId> ids) const {
    return std::ranges::all_of(ids, [&](JobId id) { return job(id); });
  }
  [[nodiscard]] bool prices(std::span<const solver::TaskPrice> prices) const {
    return std::ranges::all_of(prices, [&](const solver::TaskPrice& p) {
      const bool known = p.gpu_type.valid() ? p.gpu_type.index() < cluster_.gpu_types.size()
                                            : p.gpu_type == GpuTypeId();  // machines without GPUs
      return known && p.shape.valid() && p.shape.index() < shapes_ && is_price(p.price);
    });
  }
  [[nodiscard]] bool placement(const model::Placement& placed) const {
    return std::ranges::all_of(placed, [&](const model::JobPlacement& p) {
      return job(p.job) &&
             std::ranges::all_of(p.tasks, [&](const model::TaskPlacement& t) { return task(t); });
    });
  }

 private:
  [[nodiscard]] bool task(const model::TaskPlacement& task) const {
    if (!task.machine.valid() || task.machine.index() >= cluster_.machines()) return false;
    const ClassId machine_class = cluster_.machine_class[task.machine.index()];
    const auto gpus = static_cast<std::uint32_t>(cluster_.classes[machine_class.index()].gpus);
    return gpus >= 64 || (task.devices >> gpus) == 0;
  }

  const model::Cluster& cluster_;
  std::size_t jobs_;
  std::size_t shards_;
  std::size_t shapes_;
};

[[noreturn]] void refuse(const PlanningContext& context, const std::string& problem) {
  throw InputError({.file = context.options.checkpoint.resume, .line = 0, .field = {}}, problem,
                   "start the plan anew");
}

void expect(const PlanningContext& context, bool known) {
  if (!known) refuse(context, "names what this cluster and these jobs do not have");
}

void expect_prices(const PlanningContext& context, std::span<const double> prices) {
  if (!std::ranges::all_of(prices, is_price)) refuse(context, "has prices that no plan can have");
}

}  // namespace

void restore_consistent(const PlanningContext& context, const std::function<void()>& restore) {
  try {
    restore();
  } catch (const BrokenContract&) {  // checked where the state is used
    refuse(context, kContradicts);
  }
}

void expect_own_tasks(const PlanningContext& context, const model::Placement& placement) {
  const model::WorkloadView& workload = context.unpriced.instance().workload;
  const auto own = [&](const model::JobPlacement& p) {
    const model::Job& job = workload.job(p.job);
    const std::size_t groups = workload.groups_of(job).size();
    return std::ssize(p.tasks) == workload.tasks(job) &&
           std::ranges::all_of(p.tasks, [&](const auto& task) { return task.group < groups; });
  };
  const bool twice =
      std::ranges::adjacent_find(placement, {}, &model::JobPlacement::job) != placement.end();
  if (twice || !std::ranges::all_of(placement, own)) refuse(context, kContradicts);
}

void expect_known_ids(const PlanningContext& context, const Checkpoint& checkpoint) {
  const KnownIds known(context);
  const coordinator::RoundState& rounds = checkpoint.rounds;
  expect(context, checkpoint.consensus.prices.size() == context.pools.size());
  expect(context, checkpoint.consensus.limits.size() == context.limit_groups.prices());
  expect_prices(context, checkpoint.consensus.prices);
  expect_prices(context, checkpoint.consensus.limits);
  const solver::ConfigurationSolution& configurations = checkpoint.configurations;
  expect_prices(context, configurations.limit_prices);
  expect(context, known.prices(configurations.prices));
  for (const auto& prices : checkpoint.task_prices) expect(context, known.prices(prices));
  expect(context, !configurations.solved() ||
                      configurations.limit_prices.size() == context.limit_groups.prices());
  expect(context, rounds.shards == static_cast<std::int64_t>(context.shards.size()));
  expect(context, rounds.round >= 0 && rounds.regroups >= 0 && rounds.idle_rounds >= 0);
  expect(context, known.placement(rounds.spanning));
  expect(context, checkpoint.effort.pass >= 0);
  for (const coordinator::Refusal& refusal : rounds.refusals) {
    expect(context, known.job(refusal.job) && known.shard(refusal.shard));
  }
  for (const coordinator::PendingRound& pending : rounds.pending) {
    for (const solver::JobOffer& offer : pending.offers) {
      expect(context, known.job(offer.job) && known.shard(offer.source));
    }
    for (const solver::Bid& bid : pending.bids) {
      expect(context, known.job(bid.job) && known.shard(bid.shard));
    }
  }
}

void expect_known_ids(const PlanningContext& context, const model::Placement& placement) {
  expect(context, KnownIds(context).placement(placement));
}

void expect_known_ids(const PlanningContext& context, const coordinator::ShardContents& contents) {
  const KnownIds known(context);
  for (const auto& [shard, bytes] : contents) {
    expect(context, known.shard(shard));
    try {
      const auto content = from_bytes<solver::ShardContent>(bytes);
      expect(context, known.placement(content.placed));
      expect(context, known.jobs(content.unplaced) && known.jobs(content.evicted));
    } catch (const std::out_of_range&) {  // not the bytes of a content
      expect(context, false);
    }
  }
}

}  // namespace berth::pipeline
