// SPDX-License-Identifier: Apache-2.0
#include "job_time.hpp"

#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace berth::io {
namespace {

using model::Configuration;
using model::kNever;
using model::kNotGiven;
using model::Utility;

/// Guard: a plan tries each with each GPU type
constexpr std::size_t kMaxConfigurations = 64;

std::int64_t positive_seconds(const JsonAt& at) {
  const std::int64_t seconds = at.integer();
  if (seconds < 1) {
    at.fail(fmt::format("{} seconds; it takes at least 1", seconds), "leave it out if unknown");
  }
  return at.integer(1, kMaxSeconds);
}

model::UtilityPoint read_point(const JsonAt& at, const Utility& utility) {
  model::UtilityPoint point;
  std::size_t index = 0;
  const std::size_t length = at.each([&](const JsonAt& number) {
    if (index == 0) point.seconds = number.integer(0, kMaxSeconds);
    if (index == 1) point.factor = number.amount(1.0);
    ++index;
  });
  if (length != 2) at.fail("expected [seconds, factor]");
  if (utility.points.empty()) {
    if (point.seconds != 0) at.fail("the first point is at second 0", "begin with [0, 1]");
    return point;
  }
  if (point.seconds <= utility.points.back().seconds) {
    at.fail(fmt::format("{} seconds after {}", point.seconds, utility.points.back().seconds),
            "points are in ascending order of their seconds");
  }
  if (point.factor > utility.points.back().factor) {
    at.fail(fmt::format("factor {} after {}", point.factor, utility.points.back().factor),
            "a job is never worth more when it ends later");
  }
  return point;
}

void read_utility(const JsonAt& at, Utility& utility) {
  const std::uint64_t seen = at.fields(kUtilityForms, [&](std::size_t form, const JsonAt& points) {
    utility.steps = form == 1;
    if (!utility.points.empty()) at.fail("is \"linear\" or \"steps\", not both");
    points.each([&](const JsonAt& point) { utility.points.push_back(read_point(point, utility)); });
    if (utility.points.empty()) points.fail("has no points", "begin with [0, 1]");
  });
  if (seen == 0)
    at.fail("is neither \"linear\" nor \"steps\"", R"(e.g. {"linear":[[0,1],[3600,0]]})");
}

/// Tasks by group; a group that is not named keeps the count of `tasks`.
std::vector<std::int32_t> read_task_counts(const JsonAt& at, const JobLine& line) {
  std::vector<std::int32_t> counts;
  std::vector<std::string_view> labels;
  for (const JobLine::TaskLine& task : line.tasks) {
    counts.push_back(task.count);
    labels.push_back(task.label);
  }
  at.entries([&](const JsonAt& count) {
    const auto found = std::ranges::find(labels, count.key());
    if (found == labels.end()) {
      count.fail("the job has no task group " + in_quotes(count.key()),
                 known_words(count.key(), labels));
    }
    counts[static_cast<std::size_t>(found - labels.begin())] =
        static_cast<std::int32_t>(count.integer(0, kMaxCount));
  });
  if (std::ranges::all_of(counts, [](std::int32_t n) { return n == 0; })) at.fail("has no tasks");
  return counts;
}

void read_configurations(const JsonAt& at, JobLine& line) {
  static constexpr std::string_view keys[] = {"counts", "speed", "value"};
  auto& all = line.time.configurations;
  for (const JobLine::TaskLine& task : line.tasks) {
    if (task.k_of > 0) at.fail("the tasks of the job have k_of", "an elastic job has none");
  }
  at.each([&](const JsonAt& element) {
    Configuration c{.counts = {}};
    const std::uint64_t seen = element.fields(keys, [&](std::size_t key, const JsonAt& value) {
      if (key == 0) c.counts = read_task_counts(value, line);
      if (key == 1) c.speed = value.amount(kMaxSpeed);
      if (key == 1 && c.speed == 0.0) value.fail("a job without speed never ends");
      if (key == 2) c.value = value.amount(kMaxWorth);
    });
    element.need(keys, 1, seen);
    if (std::ranges::find(all, c.counts, &Configuration::counts) != all.end()) {
      element.fail("has the counts of an earlier configuration", "keep one of them");
    }
    if (all.size() == kMaxConfigurations) at.fail("more than 64 configurations");
    all.push_back(std::move(c));
  });
}

/// Of GPU types and configurations, those in which the job is fastest.
double greatest_speed(const JobLine& line) {
  double speed = line.gpu_types.empty() ? 1.0 : 0.0;
  for (const std::string_view type : line.gpu_types) speed = std::max(speed, speed_on(line, type));
  for (const auto& [type, factor] : line.speeds) {
    if (line.gpu_types.empty()) speed = std::max(speed, factor);
  }
  double elastic = line.time.configurations.empty() ? 1.0 : 0.0;
  for (const Configuration& c : line.time.configurations) elastic = std::max(elastic, c.speed);
  return speed * elastic;
}

/// Refuses times that no run of the job keeps, and keys without meaning beside the others.
void check(const TimeValues& values, const JobLine& line) {
  const model::TimeRules& rules = line.time.rules;
  const double speed = greatest_speed(line);
  // No type runs a job without speed: it waits for that reason.
  const std::int64_t least = speed == 0.0 ? 0 : std::max<std::int64_t>(seconds_at(line, speed), 0);
  for (const std::size_t key : {kDeadline, kUtility}) {
    if (!values[key] || rules.seconds() != kNotGiven) continue;
    values[key]->fail("the job has neither \"duration\" nor \"limit\", so it has no end",
                      "give one of them");
  }
  if (rules.limit != kNotGiven && least > rules.limit) {
    values[kLimit]->fail(
        fmt::format("{} seconds, but the job takes {} where it is fastest", rules.limit, least),
        "the limit is at least the duration");
  }
  if (rules.deadline != kNever &&
      rules.deadline - rules.not_before < std::max<std::int64_t>(least, 1)) {
    values[kDeadline]->fail(
        fmt::format(
            "{}, but the job starts at {} or later and takes {} seconds where it is fastest",
            rules.deadline, rules.not_before, least),
        "times are seconds on the axis of \"arrival\"");
  }
  if (rules.preemptible && line.pinned) {
    values[kPreemptible]->fail("the job is pinned, so it never stops", "leave out one of them");
  }
  if (rules.limit != kNotGiven && line.time.remaining > rules.limit) {
    values[kLimit]->fail(fmt::format("{} seconds, but \"running.remaining\" says {}", rules.limit,
                                     line.time.remaining));
  }
}

}  // namespace

double speed_on(const JobLine& line, std::string_view gpu_type) {
  for (const auto& [type, speed] : line.speeds) {
    if (type == gpu_type) return speed;
  }
  return 1.0;
}

std::int64_t seconds_at(const JobLine& line, double speed) {
  constexpr double kRounding = 1e-9;  // so that no sound time is refused
  const model::TimeRules& rules = line.time.rules;
  if (rules.duration == kNotGiven) return rules.limit;
  return static_cast<std::int64_t>(
      std::ceil(static_cast<double>(rules.duration) / speed * (1.0 - kRounding)));
}

void read_time(const TimeValues& values, JobLine& line) {
  if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); })) return;
  model::TimeRules& rules = line.time.rules;
  const auto given = [&](std::size_t key) { return values[key].has_value(); };
  if (given(kDuration)) rules.duration = positive_seconds(*values[kDuration]);
  if (given(kLimit)) rules.limit = positive_seconds(*values[kLimit]);
  if (given(kNotBefore)) rules.not_before = values[kNotBefore]->integer(0, kMaxAmount);
  if (given(kDeadline)) rules.deadline = values[kDeadline]->integer(0, kMaxAmount);
  if (given(kAfter)) {
    values[kAfter]->each([&](const JsonAt& name) { line.time.after.push_back(name.name()); });
  }
  if (given(kUtility)) read_utility(*values[kUtility], line.time.utility);
  if (given(kConfigurations)) read_configurations(*values[kConfigurations], line);
  if (given(kPreemptible)) rules.preemptible = values[kPreemptible]->boolean();
  if (given(kCheckpointEvery)) rules.checkpoint_every = positive_seconds(*values[kCheckpointEvery]);
  if (given(kRestartCost)) rules.restart_cost = values[kRestartCost]->integer(0, kMaxSeconds);
  check(values, line);
}

}  // namespace berth::io
