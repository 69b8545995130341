// SPDX-License-Identifier: Apache-2.0
#include "plan_flags.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace berth::apps {
namespace {

constexpr int kMostThreads = 4096;  ///< threads per rank; a guard against typing errors

}  // namespace

void add_plan_flags(CLI::App& command, PlanFlags& flags) {
  add_input(command, flags.input);
  command.add_option("--out", flags.out, "Where the plan goes, JSON (.gz by suffix)")
      ->check(file_name())
      ->required();
  command
      .add_option("--time-limit", flags.time_limit,
                  "Seconds after which the best plan so far is certified and written (exit code "
                  "3); no limit by default")
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
  add_log(command, flags.log);
}

}  // namespace berth::apps
