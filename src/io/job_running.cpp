// SPDX-License-Identifier: Apache-2.0
#include "job_running.hpp"

#include "words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>

#include "berth/base/error.hpp"
#include "berth/model/free_machine.hpp"
#include "berth/model/value.hpp"

namespace berth::io {
namespace {

using model::Communication;
using model::Pattern;
using model::Running;
using model::TaskPlacement;

constexpr std::array<std::string_view, 3> kPatternNames{"none", "ring", "ps"};
constexpr double kMostGbps = 1e6;

JobLine::RunningTask read_task(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"machine", "shape", "gpus"};
  static constexpr std::string_view device_keys[] = {"index", "milli"};
  JobLine::RunningTask task;
  const std::uint32_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) task.machine = value.name();
    if (key == 1) task.label = value.name();
    if (key != 2) return;
    value.each([&](const JsonAt& gpu) {
      std::int64_t index = -1;
      const std::uint32_t given = gpu.fields(device_keys, [&](std::size_t k, const JsonAt& number) {
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

Pattern read_pattern(const JsonAt& at) {
  const std::string_view word = at.text();
  const auto* const found = std::ranges::find(kPatternNames, word);
  if (found == kPatternNames.end()) {
    at.fail("unknown pattern " + in_quotes(word), known_words(word, kPatternNames));
  }
  return static_cast<Pattern>(found - kPatternNames.begin());
}

}  // namespace

void read_running(const JsonAt& at, JobLine& line) {
  static constexpr std::string_view keys[] = {"tasks", "pinned", "stop_cost", "move_cost"};
  const std::uint32_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) value.each([&](const JsonAt& task) { line.running.push_back(read_task(task)); });
    if (key == 1) line.pinned = value.boolean();
    if (key == 2) line.stop_cost = value.amount(kMaxWorth);
    if (key == 3) line.move_cost = value.amount(kMaxWorth);
  });
  at.need(keys, 1, seen);
  if (line.running.empty())
    at.fail("a running job has tasks", "drop \"running\" for one that waits");
}

void read_communication(const JsonAt& at, JobLine& line) {
  static constexpr std::string_view keys[] = {"pattern", "gbps", "servers"};
  double gbps = 0.0;
  const std::uint32_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) line.pattern = read_pattern(value);
    if (key == 1) gbps = value.amount(kMostGbps);
    if (key == 2) line.servers = value.name();
  });
  at.need(keys, 2, seen);
  line.mbps = static_cast<std::int64_t>(std::ceil(gbps * 1000.0 * (1.0 - 1e-12)));
  if (line.pattern == Pattern::ps && line.servers.empty()) {
    at.fail("\"servers\" is missing", "the shape of the parameter servers' task group");
  }
  if (line.pattern != Pattern::ps && !line.servers.empty()) {
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
  json.close('}');
}

void add_communication(JsonText& json, const model::Workload& workload, const model::Job& job) {
  const Communication& c = job.communication;
  if (c.pattern == Pattern::none) return;
  json.key("communication").open('{');
  json.field("pattern", kPatternNames[static_cast<std::size_t>(c.pattern)]);
  json.field("gbps", static_cast<double>(c.mbps) / 1000.0);
  if (c.pattern == Pattern::ps) {
    json.field("servers", workload.labels[workload.groups_of(job)[c.servers].label]);
  }
  json.close('}');
}

void RunningTables::fail(std::int64_t at, const std::string& field, const std::string& problem,
                         const std::string& hint) const {
  throw InputError({.file = *file_, .line = at, .field = field}, problem, hint);
}

MachineId RunningTables::machine(std::string_view name, std::int64_t at, const std::string& field) {
  if (machines_.empty()) {
    for (std::size_t m = 0; m < cluster_->machines(); ++m) {
      machines_.emplace(cluster_->machine_names[m], m);
    }
  }
  const auto found = machines_.find(name);
  if (found == machines_.end()) fail(at, field, "unknown machine " + in_quotes(name));
  return MachineId(found->second);
}

TaskPlacement RunningTables::task(const JobLine::RunningTask& task, std::size_t index,
                                  std::int64_t at, const model::Workload& workload) {
  const std::string field = "running.tasks[" + std::to_string(index) + "]";
  const auto groups = workload.groups_of(workload.jobs.back());
  const auto found = std::ranges::find_if(
      groups, [&](const model::TaskGroup& g) { return workload.labels[g.label] == task.label; });
  if (found == groups.end()) {
    fail(at, field + ".shape", "the job has no task group " + in_quotes(task.label));
  }
  const model::Shape& shape = workload.shape(found->shape);
  TaskPlacement placed{.machine = machine(task.machine, at, field + ".machine"),
                       .group = static_cast<std::uint32_t>(found - groups.begin()),
                       .devices = task.devices};
  const int devices = std::popcount(task.devices);
  const int asked = shape.gpu_milli > 0 ? 1 : shape.gpus;
  if (devices != asked) {
    fail(
        at, field + ".gpus",
        "has " + std::to_string(devices) + " devices, its shape asks for " + std::to_string(asked));
  }
  if (devices > 0) placed.milli = shape.gpu_milli > 0 ? shape.gpu_milli : int{model::kGpuMilli};
  if (task.milli != 0 && task.milli != placed.milli) {
    fail(at, field + ".gpus",
         "takes " + std::to_string(task.milli) + " thousandths, its shape asks for " +
             std::to_string(placed.milli));
  }
  return placed;
}

void RunningTables::check_counts(std::int64_t at, const model::Workload& workload,
                                 const Running& running) const {
  const auto groups = workload.groups_of(workload.jobs[running.job.index()]);
  const auto tasks = workload.tasks_of(running);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto runs =
        std::ranges::count(tasks, static_cast<std::uint32_t>(g), &TaskPlacement::group);
    if (runs == groups[g].count) continue;
    fail(at, "running.tasks",
         "runs " + std::to_string(runs) + " tasks of " +
             in_quotes(workload.labels[groups[g].label]) + ", the job has " +
             std::to_string(groups[g].count),
         "a gang runs with all its tasks");
  }
}

/// A job that may move also may stay, so it must lie where it could be put.
void RunningTables::check_allowed(std::int64_t at, const model::Workload& workload,
                                  const Running& running) const {
  const model::Job& job = workload.jobs[running.job.index()];
  GpuTypeId type;
  for (const TaskPlacement& t : workload.tasks_of(running)) {
    const GpuTypeId here = cluster_->class_of(t.machine).gpu_type;
    const bool counts = t.devices != 0 || workload.gpu_milli(job) == 0;
    if (!counts) continue;
    const bool any = job.gpu_types == ~std::uint64_t{0};
    const bool allowed = any || (here.valid() && ((job.gpu_types >> here.value()) & 1) != 0);
    const bool mixed = t.devices != 0 && type.valid() && here != type;
    if (!allowed || mixed) {
      fail(at, "running.tasks",
           "machine " + in_quotes(cluster_->machine_names[t.machine.index()]) +
               (mixed ? " has another GPU type than the job's other tasks"
                      : " has a GPU type that the job's gpu_types do not allow"),
           "say \"pinned\": true for a job that runs against its own rules");
    }
    if (t.devices != 0) type = here;
  }
  if (model::width(*cluster_, workload.tasks_of(running)) > job.domain) {
    fail(at, "running.tasks", "lies wider than the job's \"domain\"",
         "say \"pinned\": true for a job that runs against its own rules");
  }
}

void RunningTables::pin(const model::Workload& workload, const Running& running) {
  const auto groups = workload.groups_of(workload.jobs[running.job.index()]);
  for (const TaskPlacement& t : workload.tasks_of(running)) {
    const model::Shape& shape = workload.shape(groups[t.group].shape);
    cluster_->immovable.push_back({.machine = t.machine,
                                   .devices = t.devices,
                                   .milli = t.milli,
                                   .cpu_milli = shape.cpu_milli,
                                   .memory_mib = shape.memory_mib,
                                   .job = running.job});
  }
}

void RunningTables::add(const JobLine& line, std::int64_t at, model::Workload& workload) {
  if (line.running.empty()) return;
  Running running{.job = JobId(workload.jobs.size() - 1),
                  .pinned = line.pinned,
                  .stop_cost = line.stop_cost,
                  .move_cost = line.move_cost,
                  .first_task = static_cast<std::uint32_t>(workload.running_tasks.size()),
                  .tasks = static_cast<std::uint32_t>(line.running.size())};
  for (std::size_t i = 0; i < line.running.size(); ++i) {
    workload.running_tasks.push_back(task(line.running[i], i, at, workload));
    const MachineId m = workload.running_tasks.back().machine;
    if (cluster_->state_of(m) != model::MachineState::up) running.pinned = true;
  }
  const auto first = workload.running_tasks.begin() + running.first_task;
  std::sort(
      first, workload.running_tasks.end(), [](const TaskPlacement& a, const TaskPlacement& b) {
        return std::tie(a.group, a.machine, a.devices) < std::tie(b.group, b.machine, b.devices);
      });
  check_counts(at, workload, running);
  if (running.pinned) {
    pin(workload, running);
  } else {
    check_allowed(at, workload, running);
  }
  workload.jobs.back().running = static_cast<std::int32_t>(workload.running.size());
  workload.running.push_back(running);
  lines_.push_back(at);
}

void RunningTables::finish(const model::Workload& workload) {
  if (workload.running.empty()) return;
  std::ranges::stable_sort(cluster_->immovable, {}, &model::Immovable::machine);
  std::unordered_map<std::int32_t, model::FreeMachine> free;  // of machines where something runs
  const auto on = [&](MachineId m) -> model::FreeMachine& {
    return free.try_emplace(m.value(), cluster_->class_of(m)).first->second;
  };
  const auto take = [&](const model::Immovable& piece, std::int64_t at) {
    if (!on(piece.machine).fits(piece)) {
      fail(at, "running.tasks",
           "machine " + in_quotes(cluster_->machine_names[piece.machine.index()]) +
               " does not hold all that is said to run there");
    }
    on(piece.machine).take(piece);
  };
  for (const model::Immovable& piece : cluster_->immovable) {
    if (!piece.job.valid()) take(piece, 0);
  }
  for (std::size_t r = 0; r < workload.running.size(); ++r) {
    const Running& running = workload.running[r];
    const auto groups = workload.groups_of(workload.jobs[running.job.index()]);
    for (const TaskPlacement& t : workload.tasks_of(running)) {
      const model::Shape& shape = workload.shape(groups[t.group].shape);
      take({t.machine, t.devices, t.milli, shape.cpu_milli, shape.memory_mib, running.job},
           lines_[r]);
    }
  }
}

}  // namespace berth::io
