// SPDX-License-Identifier: Apache-2.0
#include "option_rows.hpp"

#include <array>

#include "berth/model/objective.hpp"

namespace berth::pipeline::rows {

using coordinator::GroupOptions;
using coordinator::RoundOptions;
using solver::OnlineOptions;
using solver::SearchEffort;

/// Names of the values, in the order of the enum.
std::span<const std::string_view> choice_names(model::Objective) { return model::kObjectiveNames; }

std::span<const std::string_view> choice_names(strads::SelectionRule) {
  static constexpr std::array<std::string_view, 2> kWords = {"largest", "sampled"};
  return kWords;
}

std::span<const std::string_view> choice_names(JobOrder) {
  static constexpr std::array<std::string_view, 2> kWords = {"value", "priority"};
  return kWords;
}

bool read_list(std::string_view word, std::vector<double>& value) {
  std::vector<double> list;
  while (true) {
    const std::size_t comma = word.find(',');
    if (!read_number(word.substr(0, comma), list.emplace_back())) return false;
    if (comma == std::string_view::npos) break;
    word.remove_prefix(comma + 1);
  }
  value = std::move(list);
  return true;
}

/// A number of passes, or "max".
OptionField effort_field() {
  OptionField passes = field<&PlanOptions::effort>();
  passes.text = [](const PlanOptions& o) {
    return o.effort == kMostEffort ? std::string("max") : text_of(o.effort);
  };
  passes.read = [](PlanOptions& o, std::string_view word) {
    if (word == "max") return o.effort = kMostEffort, true;
    return read_value(word, o.effort);
  };
  return passes;
}

std::vector<OptionRecord> common() {
  return {
      {.name = "objective",
       .field = word_field<&PlanOptions::objective>(),
       .help = "What is maximised: value or allocate (GPUs)"},
      {.name = "order",
       .field = word_field<&PlanOptions::order>(),
       .help = "What decides among jobs: value, or priority class by class (at most 16 different "
               "priorities), then value",
       .excludes = "online-order"},
      {.name = "shards",
       .field = field<&PlanOptions::partition, &partition::PartitionOptions::shards>(),
       .range = {.least = 0},
       .help = "Logical pieces of the cluster; 0 = one per 4096 GPUs, at most the pods"},
      {.name = "gap",
       .field = field<&PlanOptions::gap>(),
       .unit = "fraction, 0.001 is 0.1 %",
       .range = {.least = 0, .most = 1, .below_most = true},
       .help = "Stop at this certified gap: 0.001, or 0.1%"},
      {.name = "effort",
       .field = effort_field(),
       .unit = "passes",
       .range = {1, kMostEffort},
       .help = "Passes of search and proof: n+1 starts with all of n, so plan and bound are never "
               "worse; max = until the gap or --time-limit ends it",
       .effect = Effect::length,
       .excludes = "online-order"},
      {.name = "bound-steps",
       .field = field<&PlanOptions::bound_steps>(),
       .range = {-1, kMost},
       .help = "Steps that tighten the bound once the plan is known, filling racks by whole jobs; "
               "-1 = 200 up to 4096 GPUs, or 64 jobs on 16384, else none; 0 also leaves out the "
               "choice of "
               "whole jobs in "
               "plan and bound",
       .effect = Effect::proof},
      {.name = "tree-nodes",
       .field = field<&PlanOptions::tree_nodes>(),
       .range = {-1, 2000},
       .help = "Leaves of a tree of cases over the most undecided gangs that tightens the bound "
               "further, where there were such steps; -1 = 32 up to 1024 GPUs, or 64 jobs on "
               "16384, else none",
       .effect = Effect::proof},
      {.name = "checkpoint",
       .field = field<&PlanOptions::checkpoint, &CheckpointOptions::file>(),
       .help = "File to keep the plan in the making in, replaced at the ends of rounds (--horizon: "
               "passes)",
       .effect = Effect::none,
       .excludes = "online-order"},
      {.name = "checkpoint-every",
       .field = field<&PlanOptions::checkpoint, &CheckpointOptions::every>(),
       .unit = "rounds",
       .range = {.least = 1},
       .help = "Rounds from one checkpoint to the next; the first comes after the local plans "
               "(--horizon: "
               "passes)",
       .effect = Effect::none,
       .needs = "checkpoint"},
      {.name = "resume",
       .field = field<&PlanOptions::checkpoint, &CheckpointOptions::resume>(),
       .help = "Go on from this checkpoint of the same files and options, on any ranks",
       .effect = Effect::none,
       .excludes = "online-order"},
      {.name = "seed", .field = field<&PlanOptions::seed>(), .help = "Key of every random draw"},
  };
}

/// Options of the STRADS rounds; the defaults are measured (docs/decisions 2 and 5).
std::vector<OptionRecord> rounds() {
  std::vector<OptionRecord> rows = {
      {.name = "rounds",
       .field = field<&PlanOptions::rounds, &RoundOptions::rounds>(),
       .range = {0, kMost},
       .help = "Rounds of offers and bids, at most",
       .effect = Effect::length},
      {.name = "offers",
       .field = field<&PlanOptions::rounds, &RoundOptions::offers>(),
       .unit = "jobs",
       .range = {1, kMost},
       .help = "Jobs that wait which a shard offers in a round"},
      {.name = "offer-choice",
       .field = word_field<&PlanOptions::rounds, &RoundOptions::selection,
                           &strads::ScheduleOptions::rule>(),
       .help = "Which: sampled in proportion to the profit missed, or the largest"},
      {.name = "bidders",
       .field = field<&PlanOptions::rounds, &RoundOptions::bidders>(),
       .unit = "shards",
       .range = {1, kMost},
       .help = "Shards that may bid on one offer"},
      {.name = "schedulers",
       .field = field<&PlanOptions::rounds, &RoundOptions::schedulers>(),
       .range = {1, kMost},
       .help = "Groups of shards that take turns at offering"},
      {.name = "pipeline-depth",
       .field = field<&PlanOptions::rounds, &RoundOptions::depth>(),
       .unit = "rounds",
       .range = {0, kMost},
       .help = "Rounds a bid may be old when it is granted"},
      {.name = "regroups",
       .field = field<&PlanOptions::rounds, &RoundOptions::regroups>(),
       .range = {0, kMost},
       .help = "Rounds after those in which pods are dealt anew, at most: more of them, better "
               "plans",
       .effect = Effect::length},
      {.name = "group-gpus",
       .field = field<&PlanOptions::rounds, &RoundOptions::groups, &GroupOptions::gpus>(),
       .unit = "GPUs",
       .range = {0, kMost},
       .help = "GPUs of a group of pods, about; never more groups than shards; 0 = 16384, or 8192 "
               "in clusters of more than 32768"},
      {.name = "repartitions",
       .field = field<&PlanOptions::rounds, &RoundOptions::groups, &GroupOptions::effort,
                      &SearchEffort::repartitions>(),
       .range = {0, kMost},
       .help = "Machines repartitioned that a group tries in one of them"},
      {.name = "chains",
       .field = field<&PlanOptions::rounds, &RoundOptions::groups, &GroupOptions::effort,
                      &SearchEffort::chains>(),
       .range = {0, kMost},
       .help = "Ejection chains of a group in one of them"},
  };
  for (OptionRecord& row : rows) row.group = OptionGroup::rounds;
  return rows;
}

/// Options of jobs placed as they arrive, instead of all at once.
std::vector<OptionRecord> online() {
  constexpr double kMostExpected = 100.0;  // multiples of the GPUs; untuned guard
  std::vector<OptionRecord> rows = {
      {.name = "online-order",
       .field = field<&PlanOptions::online_order>(),
       .help = "Place jobs as they arrive, a batch at a time: a job that is placed stays, one that "
               "is not is left out. Single tasks without home and quota only"},
      {.name = "batch",
       .field = field<&PlanOptions::online, &OnlineOptions::batch>(),
       .unit = "jobs",
       .range = {1, 1 << 30},
       .help = "Jobs looked at together, with --online-order",
       .needs = "online-order"},
      {.name = "expect",
       .field = field<&PlanOptions::online, &OnlineOptions::expect>(),
       .unit = "1 is as much as there is room for",
       .range = {0, kMostExpected},
       .help = "What this batch and later ones are expected to ask for, in the mix seen so far, as "
               "a multiple of the free GPUs: the more, the choosier; 0 = nothing",
       .needs = "online-order"},
      {.name = "expect-load",
       .field = field<&PlanOptions::online, &OnlineOptions::load>(),
       .unit = "1 is as much as there is room for",
       .range = {0, kMostExpected},
       .help =
           "What all jobs ask for, as a multiple of all GPUs, if that much is known before they "
           "arrive; 0 = it is not",
       .needs = "online-order",
       .excludes = "expect"},
      {.name = "take-all",
       .field = field<&PlanOptions::online, &OnlineOptions::take_all>(),
       .help = "Place every job that fits when it arrives, though better ones are expected; jobs "
               "worth nothing run only beside GPUs that are all taken",
       .needs = "online-order"},
  };
  for (OptionRecord& row : rows) row.group = OptionGroup::online;
  return rows;
}

}  // namespace berth::pipeline::rows
