// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "job_merge.hpp"
#include "machine_classes.hpp"
#include "slurm/dependencies.hpp"
#include "slurm/import_state.hpp"
#include "slurm/licenses.hpp"
#include "slurm/pending_jobs.hpp"
#include "slurm/priority_classes.hpp"
#include "slurm/running.hpp"
#include "slurm/times.hpp"
#include "slurm/type_lists.hpp"
#include "words.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>

namespace berth::io {

using slurm::GangRequest;
using slurm::ImportedMachine;
using slurm::ImportedMachines;
using slurm::NodeConstraints;
using slurm::Notes;
using slurm::PendingJob;
using slurm::SlurmJob;
using slurm::Snapshot;

namespace {

model::MachineState state_of(slurm::Use use) {
  if (use == slurm::Use::drained) return model::MachineState::drained;
  return use == slurm::Use::reserved ? model::MachineState::reserved : model::MachineState::up;
}

void add_queues(const Snapshot& snapshot, const SlurmImportOptions& options,
                model::Cluster& cluster) {
  const auto add = [&](const std::string& name) {
    const bool known =
        std::ranges::find(cluster.queues, name, &model::Queue::name) != cluster.queues.end();
    if (!known && slurm::is_selected(options, name)) cluster.queues.push_back({.name = name});
  };
  for (const slurm::Partition& p : snapshot.partitions) add(p.name);
  for (const slurm::SlurmNode& node : snapshot.nodes) std::ranges::for_each(node.partitions, add);
}

model::Cluster build_cluster(const Snapshot& snapshot, const SlurmImportOptions& options,
                             const ImportedMachines& machines, const slurm::TypeNames& types) {
  model::Cluster cluster;
  MachineClasses classes(cluster);
  for (const auto& rack : machines.racks) {
    if (cluster.pods.empty() || cluster.pods.back().name != rack.pod)
      cluster.pods.push_back({.name = rack.pod});
    cluster.racks.push_back({.name = rack.name, .pod = PodId(cluster.pods.size() - 1)});
  }
  for (std::size_t m = 0; m < machines.list.size(); ++m) {
    const ImportedMachine& machine = machines.list[m];
    const bool full = machine.gpus > 0 && !classes.gpu_type(types.names[m]).valid();
    if (full) {
      throw InputError({.file = "", .line = 0, .field = "node " + machine.node->name},
                       "a 65th GPU type: " + in_quotes(types.names[m]), "at most 64 in a cluster");
    }
    model::MachineClass amounts;
    amounts.gpus = machine.gpus;
    amounts.capacity[model::kCpu] = machine.cpu_milli;
    amounts.capacity[model::kMemory] = machine.memory_mib;
    cluster.machine_names.add(machine.node->name);
    cluster.machine_class.push_back(classes.of(types.names[m], amounts));
    cluster.machine_rack.emplace_back(std::size_t{machine.rack});
    cluster.machine_state.push_back(state_of(machine.use));
  }
  add_queues(snapshot, options, cluster);
  return cluster;
}

/// The first partition of the job that is a queue of the cluster; empty when none is.
std::string_view queue_of(const SlurmJob& job, const model::Cluster& cluster) {
  for (const std::string& name : job.partitions) {
    if (std::ranges::find(cluster.queues, name, &model::Queue::name) != cluster.queues.end()) {
      return name;
    }
  }
  return {};
}

/// A job's priority within the range of Berth's files: Slurm's priorities are unsigned.
std::int32_t fitted(std::int64_t priority, std::int64_t largest) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (largest > most) priority -= most;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(priority, -most, most));
}

class Importer {
 public:
  Importer(const SlurmSources& sources, const SlurmImportOptions& options)
      : sources_(sources), options_(options), snapshot_(slurm::read_snapshot(sources)) {}

  SlurmImport run() {
    check_partitions();
    ImportedMachines machines = slurm::arrange(snapshot_, sources_, options_, notes_);
    if (options_.times) {
      reserved_ = slurm::reserved_times(snapshot_, options_.now, machines, notes_);
    } else {
      slurm::reserve(snapshot_, options_.now, machines, notes_);
    }
    NodeConstraints constraints(machines, snapshot_.partitions);
    note_partitions();
    std::vector<PendingJob> waiting =
        slurm::pending_jobs(snapshot_, machines, constraints, options_, notes_, left_);
    if (!options_.cpu_as_gpu.empty()) count_cpus_as_gpus(waiting);
    const slurm::TypeNames types = names(waiting, constraints, machines);
    SlurmImport result;
    result.instance.cluster = build_cluster(snapshot_, options_, machines, types);
    result.instance.cluster.windows = slurm::windows_of(reserved_, snapshot_);
    std::vector<slurm::NodeRoom> room;
    const auto running = slurm::place_running(snapshot_, machines, options_, room, notes_);
    result.running = std::ssize(running);
    add_licenses(running, result.instance.cluster);
    slurm::TypeLists lists(machines, constraints, types);
    leave_without_types(waiting, lists);
    if (options_.times) before_.emplace(snapshot_, waiting, running, left_);
    result.instance.workload = jobs(waiting, lists, machines, running, result.instance.cluster);
    if (options_.priority_classes > 0) result.classes = classes_of(result.instance.workload);
    result.state = slurm::state_text(result.instance, planned_,
                                     slurm::pinned_jobs(snapshot_, options_), options_);
    result.notes = notes_.take();
    result.left = left_.take();
    return result;
  }

 private:
  void check_partitions() const {
    std::vector<std::string> known;
    for (const slurm::SlurmNode& n : snapshot_.nodes)
      known.insert(known.end(), n.partitions.begin(), n.partitions.end());
    for (const slurm::Partition& p : snapshot_.partitions) known.push_back(p.name);
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (const std::string& p : options_.partitions) {
      if (std::ranges::binary_search(known, p)) continue;
      throw InputError({.file = "", .line = 0, .field = "partition"},
                       "no partition is called " + in_quotes(p), known_words(p, known));
    }
  }

  void note_partitions() {
    for (const slurm::Partition& p : snapshot_.partitions) {
      if (!slurm::is_selected(options_, p.name)) continue;
      if (p.shared)
        notes_.add("partitions that hand out resources more than once: planned once", p.name);
      if (p.max_cpus_per_node)
        notes_.add("partitions with MaxCPUsPerNode, which is not counted", p.name);
    }
  }

  static std::int64_t classes_of(const model::Workload& workload) {
    std::set<std::int32_t> different;
    for (const model::Job& job : workload.jobs) {
      if (!workload.pinned(job)) different.insert(job.priority);
    }
    return std::ssize(different);
  }

  /// What is free now and what the running jobs of the plan hold. A license of which Slurm told no
  /// number is not counted.
  void add_licenses(const std::vector<slurm::RunningSlurmJob>& running,
                    model::Cluster& cluster) const {
    std::map<std::string, std::int64_t> all;
    for (const slurm::SlurmLicense& license : snapshot_.licenses) {
      all[license.name] += std::max<std::int64_t>(0, license.free);
    }
    for (const slurm::RunningSlurmJob& job : running) {
      const auto held = slurm::parse_licenses(job.job->licenses);
      for (const auto& [name, count] : held.value_or(slurm::LicenseCounts{})) {
        if (all.contains(name)) all[name] += count;
      }
    }
    for (const auto& [name, count] : all) {
      cluster.licenses.push_back({.name = name, .count = std::min(count, kMaxAmount)});
    }
  }

  /// @param counts  of the job; they outlive the line
  void set_licenses(const SlurmJob& job, const slurm::LicenseCounts& counts,
                    const model::Cluster& cluster, JobLine& line) {
    bool counted = job.licenses.empty() == counts.empty();
    for (const auto& [name, count] : counts) {
      const auto known = std::ranges::find(cluster.licenses, name, &model::License::name);
      const bool sound = known != cluster.licenses.end() && count <= kMaxCount;
      counted = counted && sound;
      if (sound) line.rules.licenses.emplace_back(name, count);
    }
    if (!counted) notes_.add("jobs with licenses, which are not counted", slurm::job_name(job));
  }

  static void count_cpus_as_gpus(std::vector<PendingJob>& waiting) {
    for (PendingJob& w : waiting) {
      w.gang.gpu_type.clear();
      for (GangRequest::TaskRequest& g : w.gang.groups) {
        g.shape.gpus =
            static_cast<std::int32_t>(std::min(g.shape.needs[model::kCpu] / 1000, kMaxCount));
        g.shape.gpu_milli = 0;
      }
    }
  }

  /// Drops the jobs whose set of machines GPU types cannot express.
  slurm::TypeNames names(std::vector<PendingJob>& waiting, const NodeConstraints& constraints,
                         const ImportedMachines& machines) {
    const std::vector<std::int32_t> order = slurm::sets_by_demand(waiting, constraints, machines);
    std::vector<const std::vector<bool>*> sets;
    for (const std::int32_t set : order) sets.push_back(&constraints.set(set));
    slurm::TypeNames types = slurm::name_types(machines, sets);
    const auto dropped = [&](std::int32_t set) {
      const auto at = std::ranges::find(order, set);
      return at != order.end() && types.dropped[static_cast<std::size_t>(at - order.begin())];
    };
    std::erase_if(waiting, [&](const PendingJob& w) {
      if (w.constraint < 0) return false;
      const bool gone = dropped(w.constraint) ||
                        std::ranges::any_of(constraints.alternatives(w.constraint), dropped);
      if (gone) left_.add("is tied to nodes that 64 GPU types cannot tell apart", w.name);
      return gone;
    });
    return types;
  }

  void leave_without_types(std::vector<PendingJob>& waiting, slurm::TypeLists& lists) {
    std::erase_if(waiting, [&](const PendingJob& w) {
      const slurm::TypeLists::List& types = lists.of(w);
      if (!types.why.empty()) left_.add(types.why, w.name);
      return !types.why.empty();
    });
  }

  model::Workload jobs(const std::vector<PendingJob>& waiting, slurm::TypeLists& lists,
                       const ImportedMachines& machines,
                       const std::vector<slurm::RunningSlurmJob>& running,
                       model::Cluster& cluster) {
    SerialJobs jobs(cluster, sources_.jobs.name);
    for (const slurm::RunningSlurmJob& job : running) add_running(jobs, machines, cluster, job);
    std::int64_t largest = 1;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const PendingJob& w : waiting) {
      largest = std::max(largest, w.job.priority);
      first = std::min(first, w.job.submitted);
    }
    std::vector<std::int32_t> classes;
    if (options_.priority_classes > 0) {
      classes = slurm::priority_classes(waiting, snapshot_.partitions, options_.priority_classes);
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const PendingJob& w = waiting[i];
      const slurm::TypeLists::List& types = lists.of(w);
      JobLine line;
      line.id = w.name;
      line.arrival = std::clamp<std::int64_t>(w.job.submitted - first, 0, kMaxAmount);
      line.queue = queue_of(w.job, cluster);
      line.priority = classes.empty() ? fitted(w.job.priority, largest) : classes[i];
      if (options_.weigh_priority) {
        line.weight = static_cast<double>(w.job.priority) / static_cast<double>(largest);
      }
      line.gpu_types.assign(types.names.begin(), types.names.end());
      line.name = w.job.name;
      line.user = w.job.user;
      if (w.job.switches == 1) line.domain = model::Level::rack;
      if (w.gang.one_machine) line.domain = model::Level::machine;
      set_rules(w.gang, line.rules);
      const auto licenses = slurm::parse_licenses(w.job.licenses).value_or(slurm::LicenseCounts{});
      set_licenses(w.job, licenses, cluster, line);
      if (w.gang.tasks() > 1) {
        line.width_factor = {1.0, 1.0, options_.pod_factor, options_.cluster_factor};
      }
      for (const GangRequest::TaskRequest& g : w.gang.groups) {
        line.tasks.push_back({.label = g.label, .count = g.count, .shape = g.shape});
      }
      if (before_) {
        slurm::set_times(w.job, options_, line);
        line.time.after = before_->of(w.job);
      }
      jobs.add(line, 0);
      planned_.push_back(&w);
    }
    return jobs.finish();
  }

  static void set_rules(const GangRequest& gang, JobLine::RulesLine& rules) {
    constexpr auto kMachine = static_cast<std::size_t>(model::Level::machine);
    if (gang.max_tasks_per_machine > 0) rules.max_tasks[kMachine] = gang.max_tasks_per_machine;
    if (gang.min_machines > 0) rules.min_domains[kMachine] = gang.min_machines;
    rules.exclusive = gang.exclusive;
  }

  /// Adds running jobs; equal parts form one group of tasks.
  void add_running(SerialJobs& jobs, const ImportedMachines& machines,
                   const model::Cluster& cluster, const slurm::RunningSlurmJob& running) {
    const SlurmJob& job = *running.job;
    const std::string name = slurm::job_name(job);
    JobLine line;
    std::list<std::string> labels;  // a list, so that the texts keep their addresses
    std::vector<std::string_view> label_of;
    for (const slurm::MachineShare& part : running.parts) {
      auto same = std::ranges::find(line.tasks, part.shape, &JobLine::TaskLine::shape);
      if (same == line.tasks.end()) {
        labels.push_back(line.tasks.empty() ? "task" : "task-" + std::to_string(line.tasks.size()));
        line.tasks.push_back({.label = labels.back(), .count = 0, .shape = part.shape});
        same = line.tasks.end() - 1;
      }
      ++same->count;
      label_of.push_back(same->label);
    }
    for (std::size_t i = 0; i < running.parts.size(); ++i) {
      const slurm::MachineShare& part = running.parts[i];
      line.running.push_back({.label = label_of[i],
                              .machine = machines.list[part.machine].node->name,
                              .devices = part.devices});
    }
    line.id = name;
    line.name = job.name;
    line.user = job.user;
    line.pinned = true;
    const auto licenses = slurm::parse_licenses(job.licenses).value_or(slurm::LicenseCounts{});
    set_licenses(job, licenses, cluster, line);
    line.queue = queue_of(job, cluster);
    if (options_.times) slurm::set_times(running, reserved_, options_, line, notes_);
    jobs.add(line, 0);
  }

  const SlurmSources& sources_;
  const SlurmImportOptions& options_;
  Snapshot snapshot_;
  Notes notes_;
  Notes left_;
  std::vector<slurm::ReservedTime> reserved_;
  std::optional<slurm::JobsBefore> before_;  ///< with times only
  std::vector<const PendingJob*> planned_;
};

}  // namespace

void validate(const SlurmImportOptions& options) {
  const auto refuse = [](const char* field, const char* problem) {
    throw InputError({.file = "", .line = 0, .field = field}, problem);
  };
  const bool falling = options.pod_factor <= 1.0 && options.cluster_factor <= options.pod_factor &&
                       options.cluster_factor >= 0.0;
  if (!falling) refuse("spread", "must be two factors 1 >= POD >= CLUSTER >= 0");
  if (!(options.limit_used > 0.0 && options.limit_used <= 1.0)) {
    refuse("limit-used", "must be above 0 and at most 1");
  }
  if (options.limit_used < 1.0 && !options.times) refuse("limit-used", "needs --times");
  if (options.priority_classes < 0) refuse("priority-classes", "must not be negative");
  if (!options.cpu_as_gpu.empty() && !name_fault(options.cpu_as_gpu).empty()) {
    refuse("cpu-as-gpu", "is no name for a GPU type");
  }
}

SlurmImport import_slurm(const SlurmSources& sources, const SlurmImportOptions& options) {
  validate(options);
  return Importer(sources, options).run();
}

}  // namespace berth::io
