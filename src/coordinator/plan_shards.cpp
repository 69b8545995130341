// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/plan_shards.hpp"

#include "content_exchange.hpp"

#include <algorithm>
#include <utility>

#include "berth/comm/messages.hpp"
#include "berth/solver/shard_planning.hpp"

namespace berth::coordinator {
namespace {

using solver::Shard;

/// By rank: jobs assigned to its shards.
JobLists jobs_by_owner(const Assignment& assignment, const partition::Shards& shards,
                       const partition::Ownership& owners, std::size_t ranks) {
  JobLists lists(ranks);
  const auto list = [&](ShardId shard) -> std::vector<JobId>& {
    return lists[static_cast<std::size_t>(owners.owner[shard.index()])];
  };
  for (std::size_t j = 0; j < assignment.shard_of.size(); ++j) {
    if (assignment.shard_of[j].valid()) list(assignment.shard_of[j]).emplace_back(j);
  }
  for (const model::JobPlacement& p : assignment.kept) {
    list(shards.of_machine[p.tasks.front().machine.index()]).push_back(p.job);
  }
  return lists;
}

/// Sends each shard the placements on its machines. Only CPU-only gangs can use machines of several
/// shards here; they become unplaced. Unplaced jobs are distributed by id: any shard may offer
/// them.
void scatter_placement(const model::Placement& all, const Assignment& assignment,
                       const partition::Shards& shards, ContentExchange& exchange) {
  std::vector<char> waits(assignment.shard_of.size(), 0);
  for (const JobId job : assignment.open_jobs()) waits[job.index()] = 1;
  for (const model::JobPlacement& p : all) {
    waits[p.job.index()] = 0;
    const auto pieces = pieces_of(p, shards.of_machine);
    if (pieces.size() == 1) exchange.add(*pieces.begin(), ContentKind::placed, p);
  }
  for (std::size_t j = 0; j < waits.size(); ++j) {
    if (waits[j] != 0) exchange.add(ShardId(j % shards.size()), JobId(j));
  }
}

LocalPlans plan_undivided(const comm::Communicator& comm, const Decomposition& decomposition,
                          JobRecords& records, const Assignment& assignment,
                          const ShardSettings& settings, std::vector<Shard> mine) {
  const partition::Shards& shards = decomposition.shards;
  records.gather_to_root();
  ContentExchange exchange(comm, decomposition.owners, records);
  LocalPlans plans{.mine = std::move(mine), .task_prices = {}};
  comm.agreed_on_root([&] {
    std::vector<MachineId> machines;
    for (std::size_t m = 0; m < shards.of_machine.size(); ++m) machines.emplace_back(m);
    Shard whole(ShardId{}, decomposition.valuation, decomposition.pools, std::move(machines),
                settings.options, settings.run);
    for (const model::JobPlacement& p : assignment.spanning) whole.reserve(p);
    for (const model::JobPlacement& p : assignment.kept) solver::add_running(whole, p);
    solver::plan(whole, assignment.open_jobs(), decomposition.prices, settings.run.stop);
    plans.task_prices = whole.task_prices();
    scatter_placement(whole.placement(), assignment, shards, exchange);
  });
  auto contents = exchange.deliver();
  for (Shard& shard : plans.mine) {
    PieceContent& content = contents[shard.id()];
    shard.restore({.placed = std::move(content.placed), .unplaced = std::move(content.waiting)});
  }
  return plans;
}

}  // namespace

bool all_place_independent(const planner_model::Valuation& valuation, std::span<const JobId> jobs) {
  const model::WorkloadView& workload = valuation.instance().workload;
  return std::ranges::all_of(jobs, [&](JobId id) {
    const model::Job& job = workload.job(id);
    return workload.gpu_milli(job) == 0 ||
           (workload.tasks(job) == 1 && valuation.place_independent(id));
  });
}

std::vector<Shard> own_shards(const comm::Communicator& comm, const Decomposition& decomposition,
                              const ShardSettings& settings) {
  std::vector<Shard> mine;
  for (const ShardId s : decomposition.owners.of_rank(comm.rank())) {
    mine.emplace_back(s, decomposition.valuation, decomposition.pools,
                      decomposition.shards.machines[s.index()], settings.options, settings.run);
  }
  return mine;
}

LocalPlans plan_shards(const comm::Communicator& comm, const Decomposition& decomposition,
                       JobRecords& records, const Assignment& assignment,
                       const ShardSettings& settings) {
  const partition::Shards& shards = decomposition.shards;
  const auto ranks = static_cast<std::size_t>(comm.size());
  records.scatter([&] { return records.only_home(JobLists(ranks, jobs_of(assignment.spanning))); });
  std::vector<Shard> mine = own_shards(comm, decomposition, settings);
  if (comm.min(all_place_independent(decomposition.valuation, records.home_jobs()) ? 1 : 0) == 1) {
    return plan_undivided(comm, decomposition, records, assignment, settings, std::move(mine));
  }
  records.scatter([&] {
    return records.only_home(jobs_by_owner(assignment, shards, decomposition.owners, ranks));
  });
  comm.agreed([&] {
    std::vector<std::vector<JobId>> jobs = assignment.jobs_by_shard(shards.size());
    std::vector<std::vector<const model::JobPlacement*>> kept(shards.size());
    for (const model::JobPlacement& p : assignment.kept) {
      kept[shards.of_machine[p.tasks.front().machine.index()].index()].push_back(&p);
    }
    auto left = std::ssize(mine);
    for (Shard& shard : mine) {
      const comm::Communicator::TraceSpan span(comm, "shard", shard.id().value());
      for (const model::JobPlacement& p : assignment.spanning) shard.reserve(p);
      for (const model::JobPlacement* p : kept[shard.id().index()]) solver::add_running(shard, *p);
      solver::plan(shard, jobs[shard.id().index()], decomposition.prices,
                   settings.run.stop.share_of(left--));
    }
  });
  std::vector<std::vector<solver::TaskPrice>> of_first;
  for (const Shard& shard : mine) {
    if (shard.id() == ShardId{0}) of_first = shard.task_prices();
  }
  of_first = comm::gather<std::vector<solver::TaskPrice>>(comm, of_first);
  return {.mine = std::move(mine), .task_prices = std::move(of_first)};
}

}  // namespace berth::coordinator
