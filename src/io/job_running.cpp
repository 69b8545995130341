// SPDX-License-Identifier: Apache-2.0
#include "job_running.hpp"

#include "words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace berth::io {
namespace {

using model::Communication;
using model::CommunicationPattern;
using model::Running;
using model::TaskPlacement;

constexpr std::array<std::string_view, 3> kPatternNames{"none", "ring", "ps"};
/// Gbit/s of a communicating job: 1 Pbit/s; a guard against typing errors
constexpr double kMostGbps = 1e6;

JobLine::RunningTask read_running_task(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"machine", "shape", "gpus"};
  static constexpr std::string_view device_keys[] = {"index", "milli"};
  JobLine::RunningTask task;
  const std::uint64_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) task.machine = value.name();
    if (key == 1) task.label = value.name();
    if (key != 2) return;
    value.each([&](const JsonAt& gpu) {
      std::int64_t index = -1;
      const std::uint64_t given = gpu.fields(device_keys, [&](std::size_t k, const JsonAt& number) {
        if (k == 0) index = number.integer(0, model::kMaxGpusPerMachine - 1);
        if (k == 1) task.milli = number.integer(1, model::kGpuMilli);
      });
      gpu.need(device_keys, 1, given);
      const std::uint64_t bit = std::uint64_t{1} << index;
      if ((task.devices & bit) != 0) gpu.fail("the task has this device twice");
      task.devices |= bit;
    });
  });
  at.need(keys, 1, seen);
  return task;
}

CommunicationPattern read_pattern(const JsonAt& at) {
  const std::string_view word = at.text();
  const auto* const found = std::ranges::find(kPatternNames, word);
  if (found == kPatternNames.end()) {
    at.fail("unknown pattern " + in_quotes(word), known_words(word, kPatternNames));
  }
  return static_cast<CommunicationPattern>(found - kPatternNames.begin());
}

}  // namespace

void read_running(const JsonAt& at, JobLine& line) {
  static constexpr std::string_view keys[] = {"tasks",     "pinned", "stop_cost",
                                              "move_cost", "since",  "remaining"};
  const std::uint64_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0)
      value.each([&](const JsonAt& task) { line.running.push_back(read_running_task(task)); });
    if (key == 1) line.pinned = value.boolean();
    if (key == 2) line.stop_cost = value.amount(kMaxWorth);
    if (key == 3) line.move_cost = value.amount(kMaxWorth);
    if (key == 4) line.time.since = value.integer(0, kMaxAmount);
    if (key == 5) line.time.remaining = value.integer(0, kMaxSeconds);
  });
  at.need(keys, 1, seen);
  if (line.running.empty())
    at.fail("a running job has tasks", "drop \"running\" for one that waits");
  if (line.time.since != model::kNotGiven && line.time.remaining != model::kNotGiven) {
    at.fail("gives \"since\" and \"remaining\"", "one of them says when the job ends");
  }
}

void read_communication(const JsonAt& at, JobLine& line) {
  static constexpr std::string_view keys[] = {"pattern", "gbps", "servers"};
  double gbps = 0.0;
  const std::uint64_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) line.pattern = read_pattern(value);
    if (key == 1) gbps = value.amount(kMostGbps);
    if (key == 2) line.servers = value.name();
  });
  at.need(keys, 2, seen);
  line.mbps = static_cast<std::int64_t>(std::ceil(gbps * 1000.0 * (1.0 - 1e-12)));
  if (line.pattern == CommunicationPattern::ps && line.servers.empty()) {
    at.fail("\"servers\" is missing", "the shape of the parameter servers' task group");
  }
  if (line.pattern != CommunicationPattern::ps && !line.servers.empty()) {
    at.fail("only pattern ps has \"servers\"");
  }
}

void add_running(JsonText& json, const model::Instance& instance, const model::Job& job) {
  const model::Workload& workload = instance.workload;
  const Running* running = workload.running_of(job);
  if (running == nullptr) return;
  json.key("running").open('{').key("tasks").open('[');
  for (const TaskPlacement& t : workload.tasks_of(*running)) {
    const std::string& label = workload.labels[workload.groups_of(job)[t.group].label];
    json.open('{');
    if (label != kDefaultLabel) json.field("shape", label);
    json.field("machine", instance.cluster.machine_names[t.machine.index()]);
    if (t.devices != 0) {
      json.key("gpus").open('[');
      for (std::uint64_t rest = t.devices; rest != 0; rest &= rest - 1) {
        json.open('{').field("index", std::int64_t{std::countr_zero(rest)});
        json.field("milli", std::int64_t{t.milli}).close('}');
      }
      json.close(']');
    }
    json.close('}');
  }
  json.close(']');
  if (running->pinned) json.key("pinned").boolean(true);
  if (running->stop_cost != 0.0) json.field("stop_cost", running->stop_cost);
  if (running->move_cost != 0.0) json.field("move_cost", running->move_cost);
  if (running->since != model::kNotGiven) json.field("since", running->since);
  if (running->remaining != model::kNotGiven) json.field("remaining", running->remaining);
  json.close('}');
}

void add_communication(JsonText& json, const model::Workload& workload, const model::Job& job) {
  const Communication& c = job.communication;
  if (c.pattern == CommunicationPattern::none) return;
  json.key("communication").open('{');
  json.field("pattern", kPatternNames[static_cast<std::size_t>(c.pattern)]);
  json.field("gbps", static_cast<double>(c.mbps) / 1000.0);
  if (c.pattern == CommunicationPattern::ps) {
    json.field("servers", workload.labels[workload.groups_of(job)[c.servers].label]);
  }
  json.close('}');
}

}  // namespace berth::io
