// SPDX-License-Identifier: Apache-2.0
#include "plan_flags.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

namespace berth::apps {
namespace {

constexpr int kMostThreads = 4096;
constexpr int kMostBoundSteps = 1'000'000;
constexpr int kMostTreeNodes = 2000;
constexpr int kMostRounds = 1'000'000;
constexpr int kMostBatch = 1 << 30;

/// Jobs placed as they arrive, instead of all at once.
void add_online(CLI::App& command, PlanFlags& flags) {
  solver::OnlineOptions& online = flags.plan.online;
  CLI::Option* const order =
      command
          .add_flag("--online-order", flags.online,
                    "Place jobs as they arrive, a batch at a time: who is placed stays, who is "
                    "not is left out. Single tasks without home and quota only")
          ->excludes("--checkpoint")
          ->excludes("--resume");
  command.add_option("--batch", flags.batch, "Jobs looked at together, with --online-order")
      ->needs(order)
      ->check(CLI::Range(1, kMostBatch).description(""))
      ->capture_default_str();
  CLI::Option* const expect =
      command
          .add_option("--expect", online.expect,
                      "What this batch and later ones are expected to ask for, in the mix seen so "
                      "far, as a multiple of the free GPUs: the more, the choosier; 0 = nothing")
          ->needs(order)
          ->capture_default_str();
  command
      .add_option("--expect-load", online.load,
                  "What all jobs ask for, as a multiple of all GPUs, if that much is known before "
                  "they arrive; 0 = it is not")
      ->needs(order)
      ->excludes(expect)
      ->capture_default_str();
  command
      .add_flag("--take-all", flags.take_all,
                "Place every job that fits when it arrives, though better ones are expected; jobs "
                "worth nothing run only beside GPUs that are all taken")
      ->needs(order);
}

/// What the STRADS rounds do; the defaults are measured (docs/decisions 2 and 5).
void add_rounds(CLI::App& command, PlanFlags& flags) {
  coordinator::RoundOptions& rounds = flags.plan.rounds;
  const auto add = [&](const char* name, int& value, int least, const char* help) {
    return command.add_option(name, value, help)
        ->check(CLI::Range(least, kMostRounds).description(""))
        ->group("Rounds, for studies")
        ->capture_default_str();
  };
  add("--rounds", rounds.rounds, 0, "Rounds of offers and bids, at most");
  add("--offers", rounds.offers, 1, "Jobs that wait which a shard offers in a round");
  command
      .add_option("--offer-choice", flags.offer_choice,
                  "Which: sampled in proportion to the profit missed, or the largest")
      ->check(CLI::IsMember({"sampled", "largest"}))
      ->group("Rounds, for studies")
      ->capture_default_str();
  add("--bidders", rounds.bidders, 1, "Shards that may bid on one offer");
  add("--schedulers", rounds.schedulers, 1, "Groups of shards that take turns at offering");
  add("--pipeline-depth", rounds.depth, 0, "Rounds a bid may be old when it is granted");
  add("--regroups", rounds.regroups, 0,
      "Rounds after those in which pods are dealt anew, at most: more of them, "
      "better plans");
  add("--group-gpus", rounds.groups.gpus, 0,
      "GPUs of a group of pods, about; never more groups than shards; 0 = 16384, or 8192 in "
      "clusters of more than 32768");
  add("--repartitions", rounds.groups.effort.repartitions, 0,
      "Machines cut anew that a group tries in one of them");
  add("--chains", rounds.groups.effort.chains, 0, "Ejection chains of a group in one of them");
}

}  // namespace

void add_plan_flags(CLI::App& command, PlanFlags& flags) {
  add_input(command, flags.input);
  command.add_option("--out", flags.out, "Where the plan goes, JSON (.gz by suffix)")->required();
  command.add_option("--objective", flags.objective, "What is maximised: value or allocate (GPUs)")
      ->check(CLI::IsMember({"value", "allocate"}))
      ->capture_default_str();
  command
      .add_option("--shards", flags.plan.partition.shards,
                  "Logical pieces of the cluster; 0 = one per 4096 GPUs, at most the pods")
      ->capture_default_str();
  command.add_option("--gap", flags.plan.gap, "Stop at this certified gap, a fraction")
      ->capture_default_str();
  command
      .add_option("--bound-steps", flags.plan.bound_steps,
                  "Steps that tighten the bound once the plan is known, filling racks by whole "
                  "jobs; -1 = 200 up to 4096 GPUs, else none")
      ->check(CLI::Range(-1, kMostBoundSteps).description(""))
      ->capture_default_str();
  command
      .add_option("--tree-nodes", flags.plan.tree_nodes,
                  "Leaves of a tree of cases over the most undecided gangs that tightens the bound "
                  "further, where there were such steps; -1 = 32 up to 1024 GPUs, else none")
      ->check(CLI::Range(-1, kMostTreeNodes).description(""))
      ->capture_default_str();
  command
      .add_option("--time-limit", flags.time_limit,
                  "Seconds after which the best plan so far is certified and written (exit code "
                  "3); no limit by default")
      ->check(positive_seconds());
  CLI::Option* const checkpoint =
      command.add_option("--checkpoint", flags.plan.checkpoint.file,
                         "File to keep the plan in the making in, replaced at the ends of rounds");
  command
      .add_option("--checkpoint-every", flags.plan.checkpoint.every,
                  "Rounds from one checkpoint to the next; the first comes after the local plans")
      ->needs(checkpoint)
      ->capture_default_str();
  command.add_option("--resume", flags.plan.checkpoint.resume,
                     "Go on from this checkpoint of the same files and options, on any ranks");
  command.add_option("--seed", flags.plan.seed, "Key of every random draw")
      ->check(not_negative())
      ->capture_default_str();
  command
      .add_option("--threads", flags.threads,
                  "Threads per rank; 0 = OMP_NUM_THREADS, else the rank's share of the cores")
      ->check(CLI::Range(0, kMostThreads).description(""))
      ->capture_default_str();
  command.add_option("--trace-out", flags.trace,
                     "Stages, rounds, shards and messages of every rank in time, as JSON for "
                     "Perfetto or chrome://tracing (.gz by suffix)");
  add_rounds(command, flags);
  add_online(command, flags);
  add_log(command, flags.log);
}

std::map<std::string, std::string> record(const PlanFlags& flags) {
  std::map<std::string, std::string> options{
      {"objective", flags.objective},
      {"shards", std::to_string(flags.plan.partition.shards)},
      {"bound_steps", std::to_string(flags.plan.bound_steps)},
      {"tree_nodes", std::to_string(flags.plan.tree_nodes)},
      {"gap", fmt::format("{}", flags.plan.gap)}};
  options.merge(pipeline::non_default(flags.plan.rounds));
  if (flags.online) {
    options["batch"] = std::to_string(flags.batch);
    options["expect"] = fmt::format("{}", flags.plan.online.expect);
    options["expect_load"] = fmt::format("{}", flags.plan.online.load);
    options["take_all"] = flags.take_all ? "yes" : "no";
  }
  return options;
}

}  // namespace berth::apps
