// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/plan_shards.hpp"

#include <algorithm>
#include <utility>

#include "berth/coordinator/wire.hpp"

namespace berth::coordinator {
namespace {

using solver::Shard;

/// All jobs on GPUs are single tasks that look at the GPU type only.
bool places_are_alike(const model::Valuation& valuation) {
  const model::Workload& workload = valuation.instance().workload;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const model::Job& job = workload.jobs[j];
    if (workload.gpu_milli(job) == 0 || workload.pinned(job)) continue;
    if (workload.tasks(job) != 1 || !valuation.placeless(JobId(j))) return false;
  }
  return true;
}

/// What lies on one shard's machines; tasks of one job never lie on two here, except CPU-only
/// gangs, which are left to wait.
model::Placement part_of(const model::Placement& all, const partition::Shards& shards, ShardId s) {
  model::Placement part;
  for (const model::JobPlacement& p : all) {
    const auto here = [&](const model::TaskPlacement& t) {
      return shards.of_machine[t.machine.index()] == s;
    };
    if (std::ranges::all_of(p.tasks, here)) part.push_back(p);
  }
  return part;
}

LocalPlans plan_as_one(const comm::Communicator& comm, const model::Valuation& valuation,
                       const model::Pools& pools, const partition::Shards& shards,
                       const Assignment& assignment, std::vector<Shard> mine,
                       std::span<const double> prices, const solver::ShardOptions& options) {
  LocalPlans plans{.mine = std::move(mine), .shape_prices = {}};
  std::vector<std::int64_t> stream;
  comm.agreed([&] {
    if (comm.rank() != 0) return;
    std::vector<MachineId> machines;
    for (std::size_t m = 0; m < shards.of_machine.size(); ++m) machines.emplace_back(m);
    Shard whole(ShardId{}, valuation, pools, std::move(machines), options);
    for (const model::JobPlacement& p : assignment.spanning) whole.reserve(p);
    for (const model::JobPlacement& p : assignment.kept) whole.keep(p);
    whole.plan(assignment.open_jobs(), prices, options.stop);
    stream = to_wire(whole.placement());
    plans.shape_prices = whole.shape_prices();
  });
  comm.broadcast_vector(stream);
  const model::Placement all = from_wire(stream);
  std::vector<char> waits(valuation.instance().workload.jobs.size(), 0);
  for (const JobId job : assignment.open_jobs()) waits[job.index()] = 1;
  for (const model::JobPlacement& p : all) waits[p.job.index()] = 0;
  for (Shard& shard : plans.mine) {
    std::vector<JobId> waiting;  // dealt round: any shard may offer them
    for (std::size_t j = 0; j < waits.size(); ++j) {
      if (waits[j] != 0 && j % shards.size() == shard.id().index()) waiting.emplace_back(j);
    }
    shard.restore({.placed = part_of(all, shards, shard.id()), .unplaced = std::move(waiting)});
  }
  return plans;
}

}  // namespace

std::vector<Shard> own_shards(const comm::Communicator& comm, const model::Valuation& valuation,
                              const model::Pools& pools, const partition::Shards& shards,
                              const partition::Ownership& owners,
                              const solver::ShardOptions& options) {
  std::vector<Shard> mine;
  for (const ShardId s : owners.of_rank(comm.rank())) {
    mine.emplace_back(s, valuation, pools, shards.machines[s.index()], options);
  }
  return mine;
}

LocalPlans plan_shards(const comm::Communicator& comm, const model::Valuation& valuation,
                       const model::Pools& pools, const partition::Shards& shards,
                       const partition::Ownership& owners, const Assignment& assignment,
                       std::span<const double> prices, const solver::ShardOptions& options) {
  std::vector<Shard> mine = own_shards(comm, valuation, pools, shards, owners, options);
  if (places_are_alike(valuation)) {
    return plan_as_one(comm, valuation, pools, shards, assignment, std::move(mine), prices,
                       options);
  }
  comm.agreed([&] {
    auto left = std::ssize(mine);
    for (Shard& shard : mine) {
      const comm::Communicator::Span span(comm, "shard", shard.id().value());
      for (const model::JobPlacement& p : assignment.spanning) shard.reserve(p);
      for (const model::JobPlacement& p : assignment.kept) {
        if (shards.of_machine[p.tasks.front().machine.index()] == shard.id()) shard.keep(p);
      }
      shard.plan(assignment.jobs_of(shard.id()), prices, options.stop.share_of(left--));
    }
  });
  return {.mine = std::move(mine), .shape_prices = {}};
}

}  // namespace berth::coordinator
