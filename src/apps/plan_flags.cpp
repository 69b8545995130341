// SPDX-License-Identifier: Apache-2.0
#include "plan_flags.hpp"

#include "time_span.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "berth/pipeline/option_table.hpp"

namespace berth::apps {
namespace {

constexpr int kMostThreads = 4096;  ///< threads per rank; a guard against typing errors
constexpr std::int64_t kLongestHorizon = std::int64_t{1} << 29;  ///< seconds, 17 years

/// Whole seconds of "90m", "24h", "7d" or "3600"; 0 when the word is none, or too long.
std::int64_t span_of(const std::string& word) {
  const double seconds = seconds_of(word);
  if (!(seconds >= 1.0 && seconds <= static_cast<double>(kLongestHorizon))) return 0;
  const auto whole = static_cast<std::int64_t>(seconds);
  return static_cast<double>(whole) == seconds ? whole : 0;
}

/// `--objective` also takes the objectives of plans in time.
void extend_objective(CLI::App& command, PlanFlags& flags) {
  const pipeline::OptionRecord& row = pipeline::option_named("objective");
  CLI::Option* of_moment = command.get_option("--objective");
  const std::string group = of_moment->get_group();
  command.remove_option(of_moment);
  const auto time_objective = [](const std::string& word) {
    const auto& names = model::kHorizonObjectiveNames;
    return std::ranges::find(names, word) - names.begin();
  };
  const auto assign = [&flags, &row, time_objective](const CLI::results_t& words) {
    const auto found = time_objective(words.back());
    const bool known = found < std::ssize(model::kHorizonObjectiveNames);
    flags.horizon.objective = static_cast<model::HorizonObjective>(known ? found : 0);
    if (known && found > 0) return true;
    return row.assign(flags.plan, words.back()).empty();
  };
  const auto fault = [&row, time_objective](const std::string& word) {
    if (time_objective(word) < std::ssize(model::kHorizonObjectiveNames)) return std::string();
    pipeline::PlanOptions trial;
    return row.assign(trial, word);
  };
  command
      .add_option("--objective", CLI::callback_t(assign),
                  std::string(row.help) +
                      "; with --horizon also flow: weight x (completion - "
                      "arrival), the least sum, and makespan: the last completion, the earliest")
      ->check(CLI::Validator(fault, ""))
      ->type_name("TEXT:{value,allocate,flow,makespan}")
      ->default_str(row.field.text(flags.plan))
      ->group(group);
}

void add_horizon(CLI::App& command, PlanFlags& flags) {
  const auto fault = [](const std::string& word) {
    return span_of(word) > 0 ? std::string() : word + " is no span such as 90m, 24h or 7d";
  };
  const auto assign = [&flags](const CLI::results_t& words) {
    flags.horizon.length = span_of(words.back());
    return true;
  };
  constexpr const char* kGroup = "Plans in time";
  CLI::Option* const horizon =
      command
          .add_option("--horizon", CLI::callback_t(assign),
                      "Plan when jobs start, over this span: 3600, 90m, 24h, 7d")
          ->group(kGroup)
          ->check(CLI::Validator(fault, ""))
          ->type_name("DURATION");
  // a plan in time has no rounds: refused, not ignored
  for (const char* of_moment : {"--online-order", "--trace-out", "--shards"}) {
    horizon->excludes(command.get_option(of_moment));
  }
  command
      .add_option("--now", flags.horizon.now,
                  "Second at which the plan begins, as in the jobs file")
      ->group(kGroup)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40).description(""))
      ->needs(horizon);
  CLI::Option* const keep =
      command
          .add_option("--keep", flags.keep,
                      "An earlier plan with a horizon: its starts are promises, kept if possible")
          ->group(kGroup)
          ->check(file_name())
          ->needs(horizon);
  command
      .add_option("--keep-price", flags.keep_price,
                  "Price of a promise at its start, in values of its job (flow: weight x horizon), "
                  "less by the share of the horizon until then; by default above all jobs")
      ->group(kGroup)
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->needs(keep);
}

void add_policy(CLI::App& command, PlanFlags& flags) {
  CLI::Option* const policy =
      command
          .add_option("--policy", flags.policy,
                      "Write what this policy of `berth simulate` does, with Berth's bound beside "
                      "it: one decision, or with --horizon the starts of a simulation")
          ->check(file_name());
  command
      .add_option("--profiles", flags.profiles,
                  "Speeds of jobs that the policy knows: profiles.jsonl")
      ->check(file_name())
      ->needs(policy);
  for (const char* of_berth :
       {"--online-order", "--checkpoint", "--resume", "--trace-out", "--order", "--keep"}) {
    policy->excludes(command.get_option(of_berth));
  }
}

}  // namespace

std::FILE* figures_stream(const PlanFlags& flags) { return words_beside(flags.out); }

void add_plan_flags(CLI::App& command, PlanFlags& flags) {
  add_input(command, flags.input);
  command
      .add_option("--out", flags.out,
                  "Where the plan goes, JSON (.gz by suffix); -: standard output")
      ->check(file_name())
      ->transform(dash_for(kStandardOutput))
      ->required();
  const auto limit = [&flags](const CLI::results_t& words) {
    flags.time_limit = seconds_of(words.back());
    return true;
  };
  command
      .add_option("--time-limit", CLI::callback_t(limit),
                  "After this time (30, 30s, 5m, 2h) the best plan so far is certified and written "
                  "(exit code 3); no limit by default")
      ->check(positive_seconds());
  command
      .add_option("--threads", flags.threads,
                  "Threads per rank; 0 = OMP_NUM_THREADS, else the rank's share of the cores")
      ->check(CLI::Range(0, kMostThreads).description(""))
      ->capture_default_str();
  command
      .add_option("--trace-out", flags.trace,
                  "Stages, rounds, shards and messages of every rank in time, as JSON for "
                  "Perfetto or chrome://tracing (.gz by suffix)")
      ->check(file_name());
  add_plan_options(command, flags.plan);
  extend_objective(command, flags);
  add_horizon(command, flags);
  add_policy(command, flags);
  add_log(command, flags.log);
}

}  // namespace berth::apps
