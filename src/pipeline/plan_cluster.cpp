// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/plan_cluster.hpp"

#include "nic_prices.hpp"
#include "online.hpp"
#include "prove.hpp"
#include "stages.hpp"
#include "start.hpp"
#include "tighten.hpp"
#include "waiting.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "berth/base/assert.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"
#include "berth/coordinator/limits.hpp"
#include "berth/pipeline/distribute.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;
using coordinator::Coordinated;
using model::Placement;

constexpr double kMostExpected = 100.0;

/// Everything about the plan but its figures and its certificate.
model::Plan describe(const model::Instance& instance, const PlanOptions& options,
                     Placement placement) {
  model::Plan plan;
  plan.instance_digest = model::instance_digest(instance);
  plan.plan_digest = model::plan_digest(instance, placement);
  plan.seed = options.seed;
  plan.objective_kind = options.objective;
  plan.required_missing = certify::required_missing(instance, placement);
  plan.waiting = waiting(instance, options.objective, placement);
  plan.placements = std::move(placement);
  return plan;
}

TightenOptions tightening(const model::Instance& instance, const PlanOptions& options,
                          const Placement& placement) {
  return {.objective = certify::objective(instance, options.objective, placement).value,
          .gap = options.gap,
          .steps = options.bound_steps >= 0 ? options.bound_steps
                                            : usual_bound_steps(instance.cluster.gpus()),
          .leaves = options.tree_nodes >= 0 ? options.tree_nodes
                                            : usual_tree_leaves(instance.cluster.gpus()),
          .stop = options.stop};
}

/// The judge's word on the placement: objective, bound, gap.
void certify_plan(const model::Instance& instance, Proof proof, model::Plan& plan) {
  plan.certificate = std::move(proof.certificate);
  plan.figures = certify::figures(instance, plan.objective_kind, plan.placements, plan.certificate);
  plan.gap_parts = certify::gap_parts(instance, plan.objective_kind, plan.placements,
                                      plan.certificate, plan.figures);
  plan.proof_digest = certify::proof_digest(instance, plan.figures.objective,
                                            plan.figures.upper_bound, plan.certificate);
}

/// Of the tree of cases; 0 without one.
std::int64_t leaves_of(const model::BoundTree& tree) {
  return std::ranges::count_if(tree.nodes, [&](const auto& n) { return !n.split.valid(); });
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

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

coordinator::RoundOptions round_options(const PlanOptions& options, coordinator::Sharing* sharing) {
  coordinator::RoundOptions rounds = options.rounds;
  rounds.sharing = sharing;
  rounds.gap = options.gap;
  rounds.choice.seed = options.seed;
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

double largest_of(std::span<const double> prices) {
  return prices.empty() ? 0.0 : *std::ranges::max_element(prices);
}

/// The best that the prices found so far prove.
Proof prove(const Scene& scene, const Start& start) {
  const model::Instance& instance = scene.face.instance();
  const double largest =
      std::max(largest_of(start.consensus.quotas), largest_of(start.consensus.links));
  std::vector<model::Certificate> candidates{
      from_pools(scene.pools, start.consensus.prices, largest)};
  if (!start.local.shape_prices.empty())
    candidates.push_back(from_shapes(start.local.shape_prices));
  for (model::Certificate& candidate : candidates) {
    add_quotas(candidate, scene.quotas, start.consensus.quotas);
  }
  if (largest_of(start.consensus.links) > 0.0) {
    candidates.push_back(candidates.front());
    add_uplinks(candidates.back(), instance, scene.uplinks, start.consensus.links);
  }
  return tightest(instance, scene.options.objective, std::move(candidates));
}

}  // namespace

void validate(const PlanOptions& options) {
  const auto refuse = [](const char* flag, const std::string& problem, const char* hint) {
    throw InputError({.file = "", .line = 0, .field = flag}, problem, hint);
  };
  if (!(options.gap >= 0.0 && options.gap < 1.0)) {
    refuse("--gap", fmt::format("{} is not a fraction in [0, 1)", options.gap),
           "0.001 means 0.1 %");
  }
  if (options.partition.shards < 0) {
    refuse("--shards", fmt::format("{}", options.partition.shards), "0 means the default");
  }
  if (options.online.batch < 0) {
    refuse("--batch", fmt::format("{}", options.online.batch), "1 means job by job");
  }
  for (const auto& [flag, amount] : {std::pair{"--expect", options.online.expect},
                                     std::pair{"--expect-load", options.online.load}}) {
    if (amount >= 0.0 && amount <= kMostExpected) continue;
    refuse(flag, fmt::format("{} is not between 0 and {}", amount, kMostExpected),
           "1 means as much as there is room for");
  }
  if (options.checkpoint.every < 1) {
    refuse("--checkpoint-every", fmt::format("{}", options.checkpoint.every),
           "1 means after every round");
  }
}

model::Plan plan_cluster(const Communicator& comm, const model::Instance& instance,
                         const PlanOptions& options, report::ProgressTable& progress) {
  Stages stages(comm);
  const model::Valuation face(instance, options.objective);
  const model::Quotas quotas(instance, options.objective);
  const model::Links links(instance);
  const model::UplinkGroups uplinks(instance, links);
  const auto pools =
      model::make_pools(instance.cluster, model::pool_level(instance, options.objective));

  if (options.online.batch > 0) {
    comm.agreed([&] { expect_single_tasks(face); });
  }
  const auto shards = stages.run(
      "partition", [&] { return partition::split(instance.cluster, options.partition); });
  const auto owners = partition::own(instance.cluster, shards, comm.size());

  const Scene scene{comm, face, quotas, links, uplinks, pools, shards, owners, options};
  Start start = options.checkpoint.resume.empty() ? plan_locally(scene, stages, progress)
                                                  : resume(scene, stages);
  const model::Valuation& valuation = *start.valuation;

  Proof proof =
      stages.run("bound", [&] { return comm.rank() == 0 ? prove(scene, start) : Proof{}; });
  std::vector<model::RoundRecord> records;
  CheckpointWriter writer(scene, start);
  Coordinated done;
  Placement placement;
  if (options.online.batch > 0) {
    stages.run("online", [&] {
      comm.agreed([&] {
        if (comm.rank() == 0) placement = place_in_order(face, online_options(options));
      });
    });
  } else {
    std::unique_ptr<coordinator::Sharing> sharing;
    if (start.limits != nullptr) {
      sharing = std::make_unique<coordinator::Sharing>(comm, valuation, *start.limits,
                                                       start.rounds.spanning);
    }
    done = stages.run("coordinate", [&] {
      return coordinator::coordinate(comm, valuation, {shards, owners, start.consensus.prices},
                                     start.local.mine, round_options(options, sharing.get()),
                                     hooks(proof, writer, progress, records), start.rounds);
    });
    placement = coordinator::gather_placement(comm, start.local.mine, done.spanning);
  }
  comm.agreed([&] {
    if (comm.rank() != 0 || start.limits == nullptr) return;
    BERTH_ENSURE(coordinator::keeps(instance, *start.limits, placement));
  });

  stages.run("tighten", [&] {
    comm.agreed([&] {
      if (comm.rank() != 0) return;
      proof = price_nics(instance, options.objective, std::move(proof), options.stop);
      proof = tighten(face, pools, start.consensus.prices, std::move(proof),
                      tightening(instance, options, placement));
    });
  });

  model::Plan plan;
  stages.run("certify", [&] {
    comm.agreed([&] {
      if (comm.rank() != 0) return;
      plan = describe(instance, options, std::move(placement));
      certify_plan(instance, proof, plan);
      progress.line({.stage = "certify",
                     .objective = plan.figures.objective,
                     .bound = plan.figures.upper_bound});
    });
  });
  plan.reproducible = comm.max(options.stop.has_cut() ? 1 : 0) == 0;
  plan.seconds = stages.slowest();
  plan.rounds = std::move(records);
  plan.stats = {{"evaluations", start.consensus.evaluations},
                {"pools", static_cast<double>(pools.size())},
                {"shards", static_cast<double>(shards.size())},
                {"ranks", comm.size()},
                {"rounds", done.rounds},
                {"leaves", static_cast<double>(leaves_of(plan.certificate.tree))},
                {"spanning_gangs", static_cast<double>(done.spanning.size())},
                {"peak_memory_mib", comm.max_seconds(peak_memory_mib())}};
  return plan;
}

}  // namespace berth::pipeline
