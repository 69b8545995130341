// SPDX-License-Identifier: Apache-2.0
#include "resume.hpp"

#include "checkpoint_ids.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// Contents of this rank's shards from the checkpoint. @param file  open on rank 0
coordinator::ShardContents scatter_saved_contents(const PlanningContext& context,
                                                  std::optional<CheckpointInput>& file) {
  coordinator::ShardContents mine;
  for (;;) {
    std::optional<coordinator::ShardContents> some;
    context.comm.agreed_on_root([&] {
      some = file->next();
      if (some) expect_known_ids(context, *some);
    });
    bool more = some.has_value();
    context.comm.broadcast_value(more);
    if (!more) return mine;
    if (!some) some.emplace();
    mine.merge(coordinator::scatter_contents(context.comm, *some, context.owners));
  }
}

}  // namespace

LocalSolution resume(const PlanningContext& context, coordinator::JobRecords& records) {
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
    const coordinator::ShardContents contents = scatter_saved_contents(context, file);
    records.fetch(jobs_of(c, contents));
    LocalSolution solution{
        .relaxation = at_prices(context, std::move(c.consensus)), .local = {}, .rounds = {}};
    solution.relaxation.configurations = std::move(c.configurations);
    solution.local.mine =
        coordinator::own_shards(context.comm, decompose(context, solution.relaxation),
                                shard_settings(context, solution.relaxation));
    for (solver::Shard& shard : solution.local.mine) {
      for (const model::JobPlacement& p : c.rounds.spanning) shard.reserve(p);
    }
    context.comm.agreed([&] { coordinator::restore_contents(contents, solution.local.mine); });
    if (context.comm.rank() == 0) solution.local.task_prices = std::move(c.task_prices);
    solution.rounds = std::move(c.rounds);
    return solution;
  });
}

}  // namespace berth::pipeline
