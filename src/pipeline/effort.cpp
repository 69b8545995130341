// SPDX-License-Identifier: Apache-2.0
#include "effort.hpp"

#include "bound.hpp"
#include "checkpoint_writer.hpp"
#include "fill_free_room.hpp"
#include "incumbent.hpp"
#include "plan_again.hpp"
#include "relax.hpp"
#include "tighten_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/random.hpp"
#include "berth/coordinator/equal_jobs.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/coordinator/neighbourhood_search.hpp"

namespace berth::pipeline {
namespace {

constexpr int kStarts = 4;        ///< every fourth pass is a new start; chosen, not tuned
constexpr int kBoundSteps = 200;  ///< evaluations of the bound, times the pass (decision 3)
constexpr int kLeaves = 32;       ///< leaves of the tree, times the pass (decision 7)
constexpr int kMostLeaves = 512;  ///< chosen, not tuned
/// Cells of tables that the bound computes, and as many for the tree, times the pass: one to three
/// seconds each (decision 123).
constexpr std::int64_t kBoundCells = 2'000'000'000;
constexpr std::int64_t kLeastShard = 256;  ///< GPUs of a shard in a new start; chosen, not tuned
constexpr std::int64_t kMostGpusOfShard = 16384;  ///< the same, at most; decision 13

/// Passes of every run that ends far from its bound where a job is a large share (decision 122).
/// Their numbers, from kFirstUsual on, have the sizes of passes 3 to 6.
constexpr int kUsualPasses = 4, kFirstUsual = 420'003;
constexpr double kFar = 0.001;  ///< gap
constexpr std::int64_t kMostUsualGpus = 8'192;
constexpr std::size_t kMostUsualRecords = 10'000;  ///< jobs and machines
constexpr std::size_t kFewJobs = 1'000;
constexpr std::int64_t kMostUsualGpusWithFewJobs = 32'768;

/// The context with other options, which it refers to.
PlanningContext with(const PlanningContext& c, const PlanOptions& options) {
  return {c.comm,   c.unpriced, c.limits, c.limit_groups, c.pools, c.shards,
          c.owners, options,    c.stages, c.progress,     c.stop,  c.digest};
}

bool has_few_jobs(const PlanningContext& context) {
  return context.unpriced.instance().workload.size() <= kFewJobs;
}

bool takes_usual_passes(const PlanningContext& context) {
  const model::InstanceView& instance = context.unpriced.instance();
  const std::int64_t most = has_few_jobs(context) ? kMostUsualGpusWithFewJobs : kMostUsualGpus;
  return instance.cluster.gpus() <= most && context.options.rounds.regroups > 0 &&
         instance.workload.size() + instance.cluster.machines() <= kMostUsualRecords;
}

class EffortPasses {
 public:
  EffortPasses(const PlanningContext& context, coordinator::JobRecords& records,
               const DistributedJudge& judge, const PlanSoFar& plan)
      : context_(context),
        records_(records),
        judge_(judge),
        solution_(plan.solution),
        proof_(plan.proof),
        placement_(plan.placed.placement),
        best_(context, records, judge, placement_),
        writer_(context, plan.solution) {
    solution_.rounds.round = plan.placed.rounds;
    solution_.rounds.shards = static_cast<std::int64_t>(context.shards.size());
  }

  /// Continues after these passes.
  void run(EffortState done) {
    done_ = std::move(done);
    if (done_.pass == 0) {
      usual_passes();
      done_.pass = 1;
      if (context_.options.effort > 1) save_if_due();
    }
    while (done_.pass < context_.options.effort && !best_.ends_search(proof_)) {
      const int pass = ++done_.pass;
      context_.stages.run("effort", [&] {
        best_.offer(pass % kStarts == 0 ? new_start(pass / kStarts) : neighbour(pass));
      });
      if (done_.bound_falls && std::has_single_bit(static_cast<unsigned>(pass))) {
        tighten_further(pass);
      }
      context_.progress.line({.stage = "effort",
                              .round = pass,
                              .objective = best_.objective(),
                              .bound = proof_.upper_bound,
                              .left = context_.options.effort - pass});
      save_if_due();
    }
  }

 private:
  void usual_passes() {
    if (!takes_usual_passes(context_)) return;
    if (has_few_jobs(context_) && context_.shards.size() > 1 && !best_.ends_search(proof_, kFar)) {
      // few jobs in several shards are large parts of a shard
      context_.stages.run("effort", [&] { best_.offer(start_anew(kFirstUsual, 1, 1.0)); });
      show_search(0);
    }
    for (int i = 0; i < kUsualPasses && !best_.ends_search(proof_, kFar); ++i) {
      context_.stages.run("effort", [&] { best_.offer(neighbour(kFirstUsual + i)); });
      show_search(i + 1);
    }
  }

  void show_search(int passes) {
    context_.progress.line({.stage = "search",
                            .round = passes,
                            .objective = best_.objective(),
                            .bound = proof_.upper_bound,
                            .left = kUsualPasses - passes});
  }

  /// Saves the state if it is due and no stop has cut a pass short, as after rounds. Collective.
  void save_if_due() {
    const CheckpointOptions& checkpoint = context_.options.checkpoint;
    if (checkpoint.file.empty() || (done_.pass - 1) % checkpoint.every != 0) return;
    if (context_.comm.max(context_.stop.has_cut() ? 1 : 0) == 1) return;
    done_.certificate = proof_.certificate;
    done_.upper_bound = proof_.upper_bound;
    writer_(solution_.rounds, done_, placement_);
  }

  /// Large neighbourhood search in groups of machines whose size alternates.
  model::Placement neighbour(int pass) {
    static constexpr std::array<std::int64_t, 5> kGpus = {512, 2048, 256, 1024, 4096};
    static constexpr std::array<double, 4> kShares = {1.0, 0.5, 0.25, 0.75};
    static constexpr std::array<double, 7> kSmoothings = {1.0, 4.0, 0.3, 2.0, 0.6, 8.0, 1.5};
    static constexpr std::array<double, 3> kDecided = {0.9, 0.75, 0.6};
    const auto n = static_cast<std::size_t>(pass - 2);
    const GlobalRelaxation& relaxation = solution_.relaxation;
    const coordinator::Decomposition decomposition{.valuation = context_.unpriced,
                                                   .shards = context_.shards,
                                                   .owners = context_.owners,
                                                   .pools = context_.pools,
                                                   .prices = relaxation.consensus.prices};
    coordinator::ShardSettings settings = shard_settings(context_, relaxation);
    settings.run.limits = context_.limits.empty() ? nullptr : &context_.limits;
    const coordinator::NeighbourhoodPass how{
        .number = pass,
        .seed = context_.options.seed,
        .gpus = kGpus[n % kGpus.size()],
        .search = {.share = kShares[n % kShares.size()],
                   .smoothing = kSmoothings[n % kSmoothings.size()],
                   .decided = kDecided[n % kDecided.size()],
                   .key = 0,
                   .effort = context_.options.rounds.groups.effort}};
    model::Placement found = placement_;
    coordinator::search_neighbourhoods(context_.comm, decomposition, records_, settings, how,
                                       found);
    fill_free_room(context_, records_, found);
    coordinator::serve_equal_jobs(context_.comm, context_.unpriced, records_, found);
    BERTH_ENSURE(
        context_.limits.empty() ||
        coordinator::within_limits(
            context_.limits, coordinator::limit_use(context_.comm, context_.unpriced.instance(),
                                                    context_.limits, found)));
    return found;
  }

  /// Shards of new start number `start`, from 1.
  [[nodiscard]] std::int32_t shards_of(int start) const {
    static constexpr std::array<double, 6> kFactors = {4.0, 2.0, 0.5, 8.0, 1.0, 16.0};
    const std::int64_t gpus = context_.unpriced.instance().cluster.gpus();
    const auto usual = static_cast<double>(context_.shards.size());
    const double factor = kFactors[static_cast<std::size_t>(start - 1) % kFactors.size()];
    const auto most = std::max<std::int64_t>(1, gpus / kLeastShard);
    const auto least = std::clamp<std::int64_t>(gpus / kMostGpusOfShard, 1, most);
    return static_cast<std::int32_t>(
        std::clamp(static_cast<std::int64_t>(usual * factor), least, most));
  }

  /// New start number `start`, from 1.
  model::Placement new_start(int start) {
    return start_anew(start, shards_of(start), start % 2 == 0 ? 0.5 : 2.0);
  }

  /// A plan from the consensus prices in so many shards, with draws that `key` names and the
  /// dive's smoothing times `smoothing`.
  model::Placement start_anew(int key, std::int32_t shards, double smoothing) {
    PlanOptions options = context_.options;
    options.partition.shards = shards;
    options.seed = mix64(options.seed + static_cast<std::uint64_t>(key));
    options.shard.dive.eps *= smoothing;
    return plan_again(context_, options, records_, solution_, proof_);
  }

  /// More steps for the bound, in proportion to the pass, as long as they lower it: passes of the
  /// plan take the time otherwise. Collective.
  void tighten_further(int pass) {
    const double before = proof_.upper_bound;
    PlanOptions options = context_.options;
    options.bound_steps = pass * (options.bound_steps >= 0 ? options.bound_steps : kBoundSteps);
    const int leaves = options.tree_nodes >= 0 ? options.tree_nodes : kLeaves;
    options.tree_nodes = std::min(leaves * pass, std::max(leaves, kMostLeaves));
    options.job_prices.most_cells = options.branch.most_cells = kBoundCells * pass;
    options.search_steps *= pass;
    options.exact.steps *= pass;
    tighten(with(context_, options), records_, judge_, solution_, proof_, placement_);
    best_.refresh();
    done_.bound_falls = context_.comm.max(proof_.upper_bound < before ? 1 : 0) == 1;
  }

  const PlanningContext& context_;
  coordinator::JobRecords& records_;
  const DistributedJudge& judge_;
  LocalSolution& solution_;
  Proof& proof_;
  model::Placement& placement_;
  Incumbent best_;  ///< of `placement_`
  CheckpointWriter writer_;
  EffortState done_;
};

}  // namespace

void spend_effort(const PlanningContext& context, coordinator::JobRecords& records,
                  const DistributedJudge& judge, const PlanSoFar& plan, EffortState done) {
  const bool some = context.options.effort > 1 || takes_usual_passes(context);
  if (!some || context.options.online_order) return;
  EffortPasses(context, records, judge, plan).run(std::move(done));
}

}  // namespace berth::pipeline
