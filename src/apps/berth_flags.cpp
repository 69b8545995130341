// SPDX-License-Identifier: Apache-2.0
#include "berth_flags.hpp"

#include <algorithm>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/error.hpp"

namespace berth::apps {
namespace {

constexpr std::int64_t kMostSeconds = 31'557'600;  // a year

}  // namespace

void add_berth_flags(CLI::App& command, BerthFlags& flags) {
  sim::BerthOptions& options = flags.options;
  const auto seconds = CLI::Range(std::int64_t{0}, kMostSeconds);
  const auto share = CLI::Range(0.0, 1.0);
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->group("Policy berth")->capture_default_str();
  };
  add("--objective", flags.objective,
      "flow (mean JCT by weight), makespan, value (utilities and deadlines), fair (as max-min), or "
      "allocate (most GPUs in use)")
      ->check(CLI::IsMember({"flow", "makespan", "value", "fair", "allocate"}));
  add("--preemption", flags.preemption, "off: the horizon plan itself, no job is stopped");
  add("--spacing", flags.spacing, "Least seconds between two decisions")->check(seconds);
  add("--refresh", flags.refresh, "Most seconds between two rounds of prices")->check(seconds);
  add("--hysteresis", options.hysteresis, "Share by which a running job's time left counts less")
      ->check(share);
  add("--min-run", flags.least_run, "Seconds that a job runs before it is stopped")->check(seconds);
  add("--min-run-restarts", options.least_run_restarts, "The same in restart costs")
      ->check(CLI::Range(0.0, 1e6));
  add("--width-exponent", options.width_exponent,
      "Of a job's GPUs in its index: 1 least GPU-time first, 0 least time first")
      ->check(share);
  add("--ageing", options.ageing, "Lengths of a job after which its index falls; 0: never")
      ->check(CLI::Range(0.0, 1e6));
  add("--overdue", options.overdue_factor, "Lengths of a job after which it comes first")
      ->check(CLI::Range(0.0, 1e6));
  add("--overdue-share", options.overdue_share, "Of the GPUs, for overdue jobs")->check(share);
  add("--gang-share", options.gang_share, "Of the GPUs, for large jobs first, in order of arrival")
      ->check(share);
  add("--gang-gpus", options.gang_gpus, "GPUs from which a job is large")
      ->check(CLI::Range(1.0, 1e9));
  add("--move-share", options.move_share, "Of the GPUs, moved to another type by one decision")
      ->check(share);
}

sim::BerthOptions berth_options(const BerthFlags& flags) {
  sim::BerthOptions options = flags.options;
  options.preemption = flags.preemption;
  options.spacing = flags.spacing * policy::kSecond;
  options.refresh = std::max<std::int64_t>(1, flags.refresh) * policy::kSecond;
  options.least_run = flags.least_run * policy::kSecond;
  using sim::OnlineObjective;
  if (flags.objective == "makespan") options.objective = OnlineObjective::makespan;
  if (flags.objective == "value") options.objective = OnlineObjective::value;
  if (flags.objective == "allocate") options.objective = OnlineObjective::allocate;
  return options;
}

void record_berth(const BerthFlags& flags, std::map<std::string, std::string>& record) {
  const sim::BerthOptions& options = flags.options;
  const auto add = [&](const char* name, const auto& value) {
    record[name] = fmt::format("{}", value);
  };
  add("objective", flags.objective);
  add("preemption", flags.preemption ? "on" : "off");
  add("spacing", flags.spacing);
  add("refresh", flags.refresh);
  add("hysteresis", options.hysteresis);
  add("min_run", flags.least_run);
  add("min_run_restarts", options.least_run_restarts);
  add("width_exponent", options.width_exponent);
  add("ageing", options.ageing);
  add("overdue", options.overdue_factor);
  add("overdue_share", options.overdue_share);
  add("gang_share", options.gang_share);
  add("gang_gpus", options.gang_gpus);
  add("move_share", options.move_share);
}

}  // namespace berth::apps
