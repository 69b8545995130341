// SPDX-License-Identifier: Apache-2.0
#include "slurm/gang.hpp"

#include "slurm/values.hpp"
#include "words.hpp"

#include <algorithm>

namespace berth::io::slurm {
namespace {

using model::kGpuMilli;
using model::Shape;

/// GPUs requested per node, socket, task or job. Parts of a GPU are in thousandths.
struct GpuRequest {
  std::int64_t gpus = 0;
  std::int64_t milli = 0;  ///< of one GPU
  std::int64_t cpus = 0;   ///< Slurm 23.11 and later also write --cpus-per-task here
  std::string type;
  std::string fault;

  [[nodiscard]] bool any() const { return gpus > 0 || milli > 0; }
};

/// Adds parts of a GPU: "shard:2" where GPUs are cut into 4 is 500 thousandths; "shard:4" is a
/// whole GPU.
void add_parts(const Gres& gres, const ImportedMachines& machines, GpuRequest& ask) {
  const auto parts = machines.parts_per_gpu.find(gres.name);
  if (parts == machines.parts_per_gpu.end()) {
    ask.fault = "parts of a GPU, which no machine has";
    return;
  }
  if (gres.count > parts->second) {
    ask.fault = "parts of several GPUs";
    return;
  }
  ask.milli += divided_up(gres.count * kGpuMilli, parts->second);
  if (!gres.type.empty()) ask.type = gres.type;
}

GpuRequest read_request(const std::string& list, const SlurmJob& job,
                        const ImportedMachines& machines, Notes& notes) {
  GpuRequest ask;
  const auto gres = parse_gres(list);
  if (!gres) {
    ask.fault = "generic resources that cannot be read";
    return ask;
  }
  for (const Gres& g : *gres) {
    if (g.name == "gpu") {
      if (!g.type.empty() && !ask.type.empty() && g.type != ask.type)
        ask.fault = "several GPU types";
      if (!g.type.empty()) ask.type = g.type;
      ask.gpus += g.count;
    } else if (g.name == "shard" || g.name == "mps") {
      add_parts(g, machines, ask);
    } else if (g.name == "cpu") {
      ask.cpus = g.count;
    } else if (g.count > 0) {
      notes.add("jobs with generic resources that are not counted",
                std::to_string(job.id) + " " + g.name);
    }
  }
  if (ask.gpus > 0 && ask.milli > 0) ask.fault = "whole GPUs and parts of one at once";
  if (ask.milli == kGpuMilli) {
    ask.milli = 0;
    ask.gpus = 1;
  }
  if (ask.milli > kGpuMilli) ask.fault = "parts of several GPUs";
  return ask;
}

/// Amount that comes with every GPU: "gres:gpu:3" or "gres/gpu:3".
std::int64_t per_gpu(const std::string& list) {
  std::string commas = list;  // these two lists are separated by semicolons
  std::ranges::replace(commas, ';', ',');
  for (const Gres& g : parse_gres(commas).value_or(std::vector<Gres>{})) {
    if (g.name == "gpu") return g.count;
  }
  return 0;
}

class GangBuilder {
 public:
  GangBuilder(const SlurmJob& job, const ImportedMachines& machines, const ImportedMachine* whole,
              std::optional<bool> memory_counts, Notes& notes)
      : job_(job),
        machines_(machines),
        whole_(whole),
        memory_counts_(memory_counts),
        notes_(notes) {}

  GangRequest build() {
    if (whole_ != nullptr) return take_whole();
    const GpuRequest by_task = ask(job_.per_task);
    const GpuRequest by_node = ask(job_.per_node);
    const GpuRequest by_socket = ask(job_.per_socket);
    const GpuRequest by_job = ask(job_.per_job);
    if (!gang_.left.empty()) return std::move(gang_);
    if (by_task.cpus > 0) cpus_per_task_ = by_task.cpus;
    if (by_task.any()) {
      by_tasks(by_task.gpus, by_task.milli);
    } else if (by_node.any()) {
      by_nodes(by_node, by_job);
    } else if (by_socket.any()) {
      note("jobs that ask for GPUs by socket: which socket is not planned");
      add(nodes_, by_socket.gpus * std::max<std::int64_t>(1, job_.sockets_per_node),
          by_socket.milli, cpus_by_node(nodes_));
    } else if (by_job.any()) {
      dealt_out(by_job);
    } else if (job_.max_nodes > 0 || job_.memory_per_node > 0) {
      add(nodes_, 0, 0, cpus_by_node(nodes_));
    } else {
      by_tasks(0, 0);
    }
    if (job_.max_nodes > 0) spread_over_nodes();
    return std::move(gang_);
  }

 private:
  /// The fewest nodes allowed on each of which an equal part of so many tasks with so many GPUs each
  /// fits some empty machine; the fewest allowed if none holds them.
  [[nodiscard]] std::int64_t nodes_for(std::int64_t tasks, std::int64_t gpus) const {
    for (std::int64_t nodes = nodes_; nodes <= std::min(job_.max_nodes, tasks); ++nodes) {
      const std::int64_t each = divided_up(tasks, nodes);
      const bool limited = job_.tasks_per_node > 0 && each > job_.tasks_per_node;
      const bool held = std::ranges::any_of(machines_.list, [&](const ImportedMachine& machine) {
        return each * gpus <= machine.gpus && each * cpus_per_task_ * 1000 <= machine.cpu_milli;
      });
      if (held && !limited) return nodes;
    }
    return nodes_;
  }

  void note(const char* what) { notes_.add(what, std::to_string(job_.id)); }

  GpuRequest ask(const std::string& list) {
    GpuRequest found = read_request(list, job_, machines_, notes_);
    if (gang_.left.empty() && !found.fault.empty()) gang_.left = "asks for " + found.fault;
    if (!found.type.empty()) {
      if (!gang_.gpu_type.empty() && gang_.gpu_type != found.type) {
        gang_.left = "asks for several GPU types";
      }
      gang_.gpu_type = found.type;
    }
    return found;
  }

  [[nodiscard]] std::int64_t cpus_by_node(std::int64_t units) const {
    return std::max(job_.min_cpus_per_node, divided_up(cpus_, units));
  }

  /// Adds a group of tasks, with the CPUs and memory that come with the GPUs of a unit.
  void add(std::int64_t units, std::int64_t gpus, std::int64_t milli, std::int64_t cpus) {
    if (units < 1 || units > kMaxCount || gpus > kMaxCount) {
      gang_.left = "is larger than Berth's files allow";
      return;
    }
    cpus = std::max(cpus, per_gpu(job_.cpus_per_tres) * gpus);
    GangRequest::TaskRequest group;
    group.count = static_cast<std::int32_t>(units);
    group.shape.gpus = static_cast<std::int32_t>(gpus);
    group.shape.gpu_milli = static_cast<std::int32_t>(milli);
    group.shape.needs[model::kCpu] = std::min(cpus * 1000, kMaxAmount);
    group.shape.needs[model::kMemory] = std::min(memory(units, gpus, cpus), kMaxAmount);
    group.label = gang_.groups.empty() ? "task" : "task-" + std::to_string(gang_.groups.size());
    gang_.groups.push_back(std::move(group));
  }

  [[nodiscard]] std::int64_t memory(std::int64_t units, std::int64_t gpus,
                                    std::int64_t cpus) const {
    if (!memory_counts_.value_or(true)) return 0;
    const std::int64_t by_gpu = per_gpu(job_.memory_per_tres) * gpus;
    if (by_gpu > 0) return by_gpu;
    if (job_.memory_per_cpu > 0) return job_.memory_per_cpu * cpus;
    if (job_.memory_per_node > 0) {  // task by task, memory is divided evenly over the nodes
      const std::int64_t parts = std::max(parts_, units);
      return parts == nodes_ ? job_.memory_per_node
                             : divided_up(job_.memory_per_node * nodes_, parts);
    }
    if (!memory_counts_) return 0;
    return divided_up(tres_amount(job_.requested, "mem").value_or(0), std::max(parts_, units));
  }

  void by_tasks(std::int64_t gpus, std::int64_t milli) {
    if (job_.max_nodes > 0 && milli == 0) return by_equal_nodes(gpus);
    if (job_.tasks_per_node > 0) {
      gang_.max_tasks_per_machine =
          static_cast<std::int32_t>(std::min(job_.tasks_per_node, kMaxCount));
    }
    if (job_.memory_per_node > 0) {
      note("jobs with memory by node and GPUs by task: the memory is spread evenly");
    }
    add(tasks_, gpus, milli, cpus_per_task_);
  }

  /// Tasks on a limited number of nodes: a part of them on each node is one task of the plan, which
  /// cannot be on more nodes than the job allows.
  void by_equal_nodes(std::int64_t gpus) {
    const std::int64_t nodes = std::min(nodes_for(tasks_, gpus), tasks_);
    const std::int64_t each = tasks_ / nodes, larger = tasks_ % nodes;
    nodes_ = std::max(nodes_, nodes);
    parts_ = nodes;
    add(nodes - larger, each * gpus, 0, each * cpus_per_task_);
    if (larger > 0) add(larger, (each + 1) * gpus, 0, (each + 1) * cpus_per_task_);
  }

  void by_nodes(const GpuRequest& node, const GpuRequest& whole_job) {
    std::int64_t units = nodes_;
    if (whole_job.gpus > 0 && node.gpus > 0) units = divided_up(whole_job.gpus, node.gpus);
    add(units, node.gpus, node.milli, cpus_by_node(units));
  }

  /// `--gpus N`: divides N evenly over the nodes if their number is given, else over the tasks; a
  /// remainder makes some parts larger by one. More tasks than GPUs: one part for each GPU.
  void dealt_out(const GpuRequest& all) {
    if (all.milli > 0) return add(1, 0, all.milli, cpus_);
    const std::int64_t wide = job_.max_nodes > 0 ? nodes_ : tasks_;
    const std::int64_t parts = std::clamp<std::int64_t>(wide, 1, all.gpus);
    const std::int64_t each = all.gpus / parts;
    const std::int64_t larger = all.gpus % parts;
    const std::int64_t cpus = divided_up(cpus_, parts);
    parts_ = parts;
    add(parts - larger, each, 0, cpus);
    if (larger > 0) add(larger, each + 1, 0, cpus);
  }

  /// Takes whole machines, as many as requested.
  GangRequest take_whole() {
    gang_.gpu_type = whole_->gpu_type;
    gang_.exclusive = true;
    GangRequest::TaskRequest group;
    group.label = "task";
    group.count = static_cast<std::int32_t>(std::min(nodes_, kMaxCount));
    group.shape = {
        .needs = {whole_->cpu_milli, whole_->memory_mib}, .gpus = whole_->gpus, .gpu_milli = 0};
    gang_.groups.push_back(std::move(group));
    if (job_.max_nodes > 0) spread_over_nodes();
    return std::move(gang_);
  }

  /// `--nodes N`: one machine for each of N tasks, else at least N machines.
  void spread_over_nodes() {
    const std::int64_t tasks = gang_.tasks();
    if (tasks < nodes_ && gang_.left.empty()) gang_.left = "asks for more nodes than it has parts";
    gang_.one_machine = job_.max_nodes == 1 && tasks > 1;
    if (tasks > job_.max_nodes && !gang_.one_machine && gang_.left.empty()) {
      gang_.left = "has more parts than nodes it allows";
    }
    if (nodes_ < 2 || tasks < nodes_) return;
    if (tasks == nodes_) gang_.max_tasks_per_machine = 1;
    if (tasks > nodes_) gang_.min_machines = static_cast<std::int32_t>(nodes_);
  }

  const SlurmJob& job_;
  const ImportedMachines& machines_;
  const ImportedMachine* whole_;
  std::optional<bool> memory_counts_;
  Notes& notes_;
  std::int64_t nodes_ = std::max<std::int64_t>(1, requested_nodes(job_));
  std::int64_t tasks_ = std::max<std::int64_t>(1, job_.tasks);
  std::int64_t cpus_ = std::max<std::int64_t>(1, job_.cpus);
  std::int64_t cpus_per_task_ = divided_up(cpus_, tasks_);
  std::int64_t parts_ = 0;  ///< tasks of all groups, if there are several; 0: of the only one
  GangRequest gang_;
};

}  // namespace

bool GangRequest::uses_gpu() const {
  return std::ranges::any_of(groups, [](const TaskRequest& g) { return g.shape.uses_gpu(); });
}

std::int64_t GangRequest::tasks() const {
  std::int64_t total = 0;
  for (const TaskRequest& group : groups) total += group.count;
  return total;
}

std::int64_t requested_nodes(const SlurmJob& job) {
  return job.max_nodes > 0 ? std::min(job.min_nodes, job.max_nodes) : job.min_nodes;
}

GangRequest gang_of(const SlurmJob& job, const ImportedMachines& machines,
                    const ImportedMachine* whole, std::optional<bool> memory_counts, Notes& notes) {
  GangRequest gang = GangBuilder(job, machines, whole, memory_counts, notes).build();
  if (job.max_nodes > requested_nodes(job)) {
    notes.add("jobs with a range of nodes: planned with the fewest", std::to_string(job.id));
  }
  return gang;
}

}  // namespace berth::io::slurm
