// SPDX-License-Identifier: Apache-2.0
#include "resume.hpp"

#include "batched_gather.hpp"
#include "checkpoint_ids.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/certify/bound.hpp"
#include "berth/comm/messages.hpp"
#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/plan_shards.hpp"
#include "berth/pipeline/checkpoint.hpp"
#include "berth/pipeline/option_table.hpp"

namespace berth::pipeline {
namespace {

/// Jobs whose records this rank needs: those of its shards, spanning jobs and pending offers.
std::vector<JobId> jobs_of(const Checkpoint& c, const coordinator::ShardContents& contents) {
  std::vector<JobId> jobs = coordinator::jobs_of(contents);
  std::ranges::move(coordinator::jobs_of(c.rounds.spanning), std::back_inserter(jobs));
  for (const coordinator::PendingRound& pending_round : c.rounds.pending) {
    for (const solver::JobOffer& offer : pending_round.offers) jobs.push_back(offer.job);
  }
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

/// Calls `receive` on every rank with each block that rank 0 reads, and with nothing elsewhere.
template <class Block>
void for_each_block(const PlanningContext& context,
                    const std::function<std::optional<Block>()>& read,
                    const std::function<void(const Block&)>& receive) {
  for (;;) {
    std::optional<Block> some;
    context.comm.agreed_on_root([&] {
      some = read();
      if (some) expect_known_ids(context, *some);
    });
    bool more = some.has_value();
    context.comm.broadcast_value(more);
    if (!more) return;
    receive(some.value_or(Block{}));
  }
}

/// Contents of this rank's shards from the checkpoint. @param file  open on rank 0
coordinator::ShardContents scatter_saved_contents(const PlanningContext& context,
                                                  std::optional<CheckpointInput>& file) {
  coordinator::ShardContents mine;
  for_each_block<coordinator::ShardContents>(
      context, [&] { return file->next(); },
      [&](const coordinator::ShardContents& some) {
        mine.merge(coordinator::scatter_contents(context.comm, some, context.owners));
      });
  return mine;
}

/// Placements of the jobs at home on this rank from the checkpoint. @param file  open on rank 0
model::Placement scatter_saved_placement(const PlanningContext& context,
                                         const coordinator::JobRecords& records,
                                         std::optional<CheckpointInput>& file) {
  model::Placement mine;
  for_each_block<model::Placement>(
      context, [&] { return file->next_placed(); },
      [&](const model::Placement& some) {
        std::ranges::move(to_homes(context.comm, records, some), std::back_inserter(mine));
      });
  std::ranges::sort(mine, {}, &model::JobPlacement::job);
  context.comm.agreed([&] { expect_own_tasks(context, mine); });
  return mine;
}

/// This rank's shards with the contents of the checkpoint. @param file  open on rank 0
void restore_shards(const PlanningContext& context, coordinator::JobRecords& records,
                    const Checkpoint& c, std::optional<CheckpointInput>& file,
                    LocalSolution& solution) {
  const coordinator::ShardContents contents = scatter_saved_contents(context, file);
  records.fetch(jobs_of(c, contents));
  solution.local.mine =
      coordinator::own_shards(context.comm, decompose(context, solution.relaxation),
                              shard_settings(context, solution.relaxation));
  context.comm.agreed([&] {
    restore_consistent(context, [&] {
      for (solver::Shard& shard : solution.local.mine) {
        for (const model::JobPlacement& p : c.rounds.spanning) shard.reserve(p);
      }
      coordinator::restore_contents(contents, solution.local.mine);
    });
  });
}

}  // namespace

StartedRun resume(const PlanningContext& context, coordinator::JobRecords& records) {
  return context.stages.run("resume", [&] {
    const std::string& path = context.options.checkpoint.resume;
    Checkpoint c;
    std::optional<CheckpointInput> file;  // on rank 0
    context.comm.agreed_on_root([&] {
      c = file.emplace(path).head();
      expect_same_run(path, c, context.digest, fingerprint(context.options));
      expect_known_ids(context, c);
    });
    comm::broadcast(context.comm, c);
    StartedRun run;
    LocalSolution& solution = run.solution;
    solution.relaxation = at_prices(context, std::move(c.consensus));
    solution.relaxation.configurations = std::move(c.configurations);
    if (c.effort.pass == 0) {
      restore_shards(context, records, c, file, solution);
    } else {
      const model::Certificate& saved = c.effort.certificate;
      if (!saved.jobs.empty() || saved.search_steps > 0) records.gather_to_root();
      run.placement = scatter_saved_placement(context, records, file);
    }
    if (context.comm.rank() == 0) solution.local.task_prices = std::move(c.task_prices);
    solution.rounds = std::move(c.rounds);
    run.effort = std::move(c.effort);
    return run;
  });
}

Proof saved_proof(const PlanningContext& context, const DistributedJudge& judge,
                  const EffortState& effort) {
  context.comm.agreed_on_root([&] {
    const std::string unusable = certify::unusable(
        context.unpriced.instance(), context.options.objective, effort.certificate, judge.facts());
    if (unusable.empty()) return;
    throw InputError({.file = context.options.checkpoint.resume, .line = 0, .field = {}}, unusable,
                     "start the plan anew");
  });
  return {effort.certificate, effort.upper_bound};
}

}  // namespace berth::pipeline
