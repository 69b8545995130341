// SPDX-License-Identifier: Apache-2.0
#include "check_placement.hpp"

#include "job_value.hpp"
#include "machine_variants.hpp"

#include <algorithm>
#include <array>

#include "berth/model/level_names.hpp"

namespace berth::certify {

using model::Job;
using model::RawTask;
using model::Shape;

namespace {

bool takes_gpu(const Shape& s) { return s.gpus > 0 || s.gpu_milli > 0; }

/// True when the task takes the amounts of the shape: whole devices at 1000, or a share on one
/// device; on a device with slices, the fewest slices that cover it.
bool same_amounts(const Shape& s, const RawTask& task, std::int32_t slices) {
  if (task.needs != s.needs) return false;
  const std::int64_t each = s.gpu_milli > 0 ? in_slices(s.gpu_milli, slices) : 1000;
  const std::size_t devices = s.gpu_milli > 0 ? 1 : static_cast<std::size_t>(s.gpus);
  return task.gpus.size() == devices &&
         std::ranges::all_of(task.gpus, [&](const auto& d) { return d.milli == each; });
}

std::string amounts(const RawTask& task) {
  std::string text = amounts_text(task.needs) + ", GPU thousandths (";
  for (std::size_t d = 0; d < std::min<std::size_t>(task.gpus.size(), 8); ++d) {
    text += (d == 0 ? "" : " ") + std::to_string(task.gpus[d].milli);
  }
  return text + (task.gpus.size() > 8 ? " ...)" : ")");
}

std::string amounts(const Shape& s) {
  return amounts_text(s.needs) + ", " +
         (s.gpu_milli > 0 ? std::to_string(s.gpu_milli) + " thousandths of one GPU"
                          : std::to_string(s.gpus) + " whole GPUs");
}

}  // namespace

PlacementCheck::PlacementCheck(const model::InstanceView& instance, Findings& findings)
    : instance_(instance),
      findings_(&findings),
      seen_(instance.workload.size(), 0),
      loads_(instance.cluster),
      rules_(instance) {
  jobs_.reserve(seen_.size());
  for (std::size_t j = 0; j < seen_.size(); ++j) {
    jobs_.emplace(instance.workload.tables().job_names[j], JobId(j));
  }
  machines_.reserve(instance.cluster.machine_class.size());
  for (std::size_t m = 0; m < instance.cluster.machine_class.size(); ++m) {
    machines_.emplace(instance.cluster.machine_names[m], MachineId(m));
  }
}

std::string PlacementCheck::told(JobId job) const {
  return "job " + std::string(instance_.workload.tables().job_names[job.index()]);
}

bool PlacementCheck::is_pinned(JobId job) const {
  const model::WorkloadView& workload = instance_.workload;
  return workload.has(job) && workload.pinned(workload.job(job));
}

std::optional<JobId> PlacementCheck::claim(const std::string& job) {
  const auto known = jobs_.find(job);
  if (known == jobs_.end()) {
    findings_->add(FaultKind::unknown_job, "job " + job + " is not in the input");
    return std::nullopt;
  }
  std::uint8_t& seen = seen_[known->second.index()];
  if (seen != 0) {
    findings_->add(FaultKind::repeated_job, "job " + job + " is in the plan more than once");
    return std::nullopt;
  }
  seen = 1;
  if (is_pinned(known->second)) {
    findings_->add(FaultKind::pinned_job,
                   "job " + job + " is pinned where it runs; a plan does not list it");
    return std::nullopt;
  }
  return known->second;
}

void PlacementCheck::waiting(const model::RawUnplacedJob& waiting) { claim(waiting.job); }

bool PlacementCheck::is_configuration(JobId id, const Tasks& found) const {
  const model::WorkloadView& workload = instance_.workload;
  const auto row = workload.time_of(workload.job(id)).configurations;
  return std::ranges::any_of(workload.tables().configurations[row], [&](const auto& one) {
    return std::ranges::equal(one.counts, found);
  });
}

std::optional<model::JobPlacement> PlacementCheck::resolved(const model::RawPlacement& raw,
                                                            Gang gang) {
  const auto job = claim(raw.job);
  if (!job) return std::nullopt;
  model::JobPlacement placed{.job = *job, .start = raw.start, .tasks = {}};
  Tasks found(instance_.workload.job(*job).groups, 0);
  for (const RawTask& task : raw.tasks) {
    if (const auto one = resolve(*job, task, found)) placed.tasks.push_back(*one);
  }
  const model::Job& record = instance_.workload.job(*job);
  const bool elastic = gang == Gang::of_tasks_or_configuration && record.running < 0 &&
                       instance_.workload.time_of(record).configurations != 0;
  if (!elastic) {
    check_gang(*job, found);
  } else if (!is_configuration(*job, found)) {
    findings_->add(FaultKind::split_gang, told(*job) + " has the tasks of no configuration");
    return std::nullopt;
  }
  if (placed.tasks.size() != raw.tasks.size() || placed.tasks.empty()) return std::nullopt;
  check_types(placed);
  check_domain(placed);
  return placed;
}

std::optional<model::JobPlacement> PlacementCheck::placed_in_time(const model::RawPlacement& raw) {
  auto placed = resolved(raw, Gang::of_tasks_or_configuration);
  if (placed && instance_.workload.job(placed->job).running < 0) {
    rules_.check_counts(*placed, *findings_);
  }
  return placed;
}

std::optional<model::JobPlacement> PlacementCheck::placed(const model::RawPlacement& raw) {
  auto placed = resolved(raw, Gang::of_tasks);
  if (!placed) return std::nullopt;
  if (raw.start != 0) {
    findings_->add(FaultKind::bad_start, told(placed->job) + " starts at " +
                                             std::to_string(raw.start) +
                                             "; a snapshot plan starts every job at 0");
  }
  check_state(*placed);
  const auto groups = instance_.workload.groups_of(instance_.workload.job(placed->job));
  for (const model::TaskPlacement& t : placed->tasks) {
    loads_.add(t, instance_.workload.tables().shapes[groups[t.group].shape.index()]);
  }
  rules_.add(*placed, *findings_);
  return placed;
}

void PlacementCheck::check_state(const model::JobPlacement& placed) {
  for (const model::TaskPlacement& task : placed.tasks) {
    const model::MachineState state = instance_.cluster.state_of(task.machine);
    if (state == model::MachineState::up) continue;
    static constexpr std::array kStates{"up", "drained", "reserved", "being evacuated (drain)"};
    findings_->add(FaultKind::machine_not_up,
                   told(placed.job) + ": machine " +
                       std::string(instance_.cluster.machine_names[task.machine.index()]) + " is " +
                       kStates[static_cast<std::size_t>(state)]);
  }
}

std::optional<model::TaskPlacement> PlacementCheck::resolve(JobId job, const RawTask& task,
                                                            Tasks& found) {
  const auto machine = machines_.find(task.machine);
  const std::int32_t slices =
      machine == machines_.end() ? 0 : instance_.cluster.class_of(machine->second).gpu_slices;
  const auto group = group_of(job, task, slices, found);
  if (machine == machines_.end()) {
    findings_->add(FaultKind::unknown_machine,
                   told(job) + ": machine " + task.machine + " is not in the cluster");
    return std::nullopt;
  }
  check_slices(job, task, slices);
  const auto devices = devices_of(job, task, machine->second);
  if (!group || !devices) return std::nullopt;
  const Job& asked = instance_.workload.job(job);
  const Shape& s =
      instance_.workload.tables().shapes[instance_.workload.groups_of(asked)[*group].shape.index()];
  const std::int64_t milli = s.gpu_milli > 0 ? in_slices(s.gpu_milli, slices) : 1000;
  return model::TaskPlacement{machine->second, *group, *devices,
                              *devices == 0 ? 0 : static_cast<std::int32_t>(milli)};
}

void PlacementCheck::check_slices(JobId job, const RawTask& task, std::int32_t slices) {
  for (const model::RawDevice& device : task.gpus) {
    if (device.milli <= 0 || device.milli > 1000) continue;  // a wrong amount anyway
    if (in_slices(device.milli, slices) == device.milli) continue;
    findings_->add(FaultKind::broken_slice,
                   told(job) + ": " + std::to_string(device.milli) + " thousandths of device " +
                       std::to_string(device.index) + " of machine " + task.machine +
                       " are not a whole number of its " + std::to_string(slices) + " slices");
  }
}

/// The group of this task: equal label and amounts, preferably one that is not complete.
std::optional<std::uint32_t> PlacementCheck::group_of(JobId job, const RawTask& task,
                                                      std::int32_t slices, Tasks& found) {
  const model::WorkloadView& workload = instance_.workload;
  const auto groups = workload.groups_of(workload.job(job));
  std::optional<std::uint32_t> labelled, matching;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    if (workload.tables().labels[groups[g].label] != task.shape) continue;
    if (!labelled) labelled = g;
    if (!same_amounts(workload.tables().shapes[groups[g].shape.index()], task, slices)) continue;
    if (!matching || found[*matching] >= groups[*matching].count) matching = g;
  }
  if (!labelled) {
    findings_->add(FaultKind::unknown_shape, told(job) + " has no tasks of shape " + task.shape);
    return std::nullopt;
  }
  ++found[matching ? *matching : *labelled];
  if (!matching) {
    findings_->add(FaultKind::wrong_amounts,
                   told(job) + ": task " + task.shape + " on machine " + task.machine + " takes " +
                       amounts(task) + " instead of " +
                       amounts(workload.tables().shapes[groups[*labelled].shape.index()]));
  }
  return matching;
}

std::optional<std::uint64_t> PlacementCheck::devices_of(JobId job, const RawTask& task,
                                                        MachineId machine) {
  const model::Cluster& cluster = instance_.cluster;
  const std::int64_t gpus = cluster.classes[cluster.machine_class[machine.index()].index()].gpus;
  std::uint64_t devices = 0;
  for (const model::RawDevice& device : task.gpus) {
    const std::string where =
        told(job) + ": device " + std::to_string(device.index) + " of machine " + task.machine;
    if (device.index < 0 || device.index >= gpus) {
      findings_->add(FaultKind::device_out_of_range,
                     where + " does not exist; it has " + std::to_string(gpus));
      return std::nullopt;
    }
    const std::uint64_t bit = std::uint64_t{1} << device.index;
    if ((devices & bit) != 0) {
      findings_->add(FaultKind::repeated_device, where + " is named twice by one task");
      return std::nullopt;
    }
    devices |= bit;
  }
  return devices;
}

void PlacementCheck::check_gang(JobId job, const Tasks& found) {
  const model::WorkloadView& workload = instance_.workload;
  const auto groups = workload.groups_of(workload.job(job));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (found[g] == groups[g].count) continue;
    findings_->add(FaultKind::split_gang, told(job) + " has " + std::to_string(found[g]) + " of " +
                                              std::to_string(groups[g].count) + " tasks of shape " +
                                              workload.tables().labels[groups[g].label]);
  }
}

void PlacementCheck::check_types(const model::JobPlacement& placed) {
  const model::Cluster& cluster = instance_.cluster;
  const model::WorkloadView& workload = instance_.workload;
  const Job& job = workload.job(placed.job);
  const bool gpu_job = uses_gpu(workload, job);
  const auto groups = workload.groups_of(job);
  GpuTypeId used;
  for (const model::TaskPlacement& t : placed.tasks) {
    const bool typed = takes_gpu(workload.tables().shapes[groups[t.group].shape.index()]);
    if (gpu_job && !typed) continue;  // CPU-only tasks of a GPU job may be placed anywhere
    const GpuTypeId type =
        cluster.classes[cluster.machine_class[t.machine.index()].index()].gpu_type;
    const bool any = job.gpu_types == ~std::uint64_t{0};
    const std::string where =
        told(placed.job) + " on machine " + std::string(cluster.machine_names[t.machine.index()]);
    if (!any && (!type.valid() || ((job.gpu_types >> type.value()) & 1) == 0)) {
      findings_->add(FaultKind::wrong_type,
                     where + ": GPU type " +
                         (type.valid() ? cluster.gpu_types[type.index()] : "(none)") +
                         " is not allowed");
      return;
    }
    if (gpu_job && used.valid() && type != used) {
      findings_->add(FaultKind::mixed_types, where + ": GPU type " +
                                                 cluster.gpu_types[type.index()] + " beside " +
                                                 cluster.gpu_types[used.index()]);
      return;
    }
    used = type;
  }
}

void PlacementCheck::check_domain(const model::JobPlacement& placed) {
  const model::Level allowed = instance_.workload.job(placed.job).domain;
  const model::Level width = extent_of(instance_, placed).width;
  if (width <= allowed) return;
  findings_->add(FaultKind::domain_violated,
                 told(placed.job) + " lies in one " + std::string(model::name_of(width)) +
                     ", but must lie in one " + std::string(model::name_of(allowed)));
}

void PlacementCheck::finish_jobs() {
  for (std::size_t j = 0; j < seen_.size(); ++j) {
    if (seen_[j] != 0 || is_pinned(JobId(j))) continue;
    findings_->add(FaultKind::lost_job, told(JobId(j)) + " is neither placed nor waiting");
  }
}

void PlacementCheck::finish() {
  finish_jobs();
  loads_.report(*findings_);
  rules_.report(*findings_);
}

}  // namespace berth::certify
