// SPDX-License-Identifier: Apache-2.0
#include "slurm/pending_jobs.hpp"

#include "numbers.hpp"
#include "slurm/dependencies.hpp"
#include "slurm/hostlist.hpp"
#include "slurm/running.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace berth::io::slurm {
namespace {

bool within_limits(const SlurmJob& job, const Partition& partition) {
  if (partition.max_nodes && requested_nodes(job) > *partition.max_nodes) return false;
  if (!partition.max_minutes) return true;
  if (!job.minutes.set) return true;  // the partition's default limit applies
  return !job.minutes.infinite && job.minutes.value <= *partition.max_minutes;
}

/// Keeps the partitions in which the job may start; returns why there are none, or an empty text.
std::string narrow_partitions(SlurmJob& job, const NodeConstraints& constraints,
                              const SlurmImportOptions& options, bool known) {
  std::erase_if(job.partitions, [&](const std::string& p) { return !is_selected(options, p); });
  if (job.partitions.empty()) return "is in a partition that is not planned";
  if (!known) return {};
  std::erase_if(job.partitions, [&](const std::string& p) {
    const Partition* const found = constraints.partition(p);
    return found == nullptr || !found->starts;
  });
  if (job.partitions.empty()) return "its partition starts no jobs";
  std::erase_if(job.partitions, [&](const std::string& p) {
    return !within_limits(job, *constraints.partition(p));
  });
  return job.partitions.empty() ? "passes the limits of its partition" : "";
}

/// What Slurm's own reason says about jobs that room alone does not start; empty: nothing.
std::string why_slurm_waits(const std::string& reason) {
  constexpr auto limits = std::to_array<std::string_view>(
      {"Assoc", "QOS", "MaxJobs", "MaxSubmit", "MaxCpuPerAccount", "Accounting", "InvalidAccount",
       "InvalidQOS", "AccountNotAllowed"});
  constexpr auto never = std::to_array<std::string_view>(
      {"BadConstraints", "DependencyNeverSatisfied", "DeadLine", "ReservationDeleted"});
  const auto begins = [&](std::string_view word) { return reason.starts_with(word); };
  if (std::ranges::any_of(limits, begins)) return "waits for a limit of its association or QOS";
  if (std::ranges::any_of(never, begins)) return "cannot start, says Slurm: " + reason;
  return {};
}

std::string why_not_now(const SlurmJob& job, const SlurmImportOptions& options) {
  if (job.state != "PENDING") return "is being requeued";
  if (job.het_id > 0) return "is part of a heterogeneous job";
  if (!job.dependency.empty() && !options.times) return "waits for another job";
  if (!dependency_of(job.dependency).expressible) {
    return "waits for another job in a way that files cannot say";
  }
  if (!job.given_up) {
    if (std::string reason = why_slurm_waits(job.reason); !reason.empty()) return reason;
  }
  if (job.eligible > options.now && !options.times) return "begins later";
  if (job.held && !options.held) return "is held";
  if (!job.reservation.empty()) return "has a reservation";
  return {};
}

void note_what_is_not_counted(const SlurmJob& job, Notes& notes) {
  const std::string id = std::to_string(job.id);
  if (!job.burst_buffer.empty()) notes.add("jobs with burst buffers, which are not counted", id);
  if (!job.network.empty()) notes.add("jobs with network wishes, which are not counted", id);
  if (job.core_spec) notes.add("jobs with cores set aside, which are not counted", id);
  if (job.contiguous)
    notes.add("jobs on contiguous nodes: which lie side by side is not known", id);
  if (job.switches > 1) notes.add("jobs over at most so many switches: planned without", id);
}

/// The most frequent kind of machine that the job may have whole. Its amounts become the job's
/// request, which any machine with that much room satisfies.
const ImportedMachine* commonest(const ImportedMachines& machines, const std::vector<bool>* set,
                                 const std::string& gpu_type, const SlurmJob& job, Notes& notes) {
  std::map<std::tuple<std::string, std::int32_t, std::int64_t, std::int64_t>, std::int64_t> kinds;
  const ImportedMachine* best = nullptr;
  std::int64_t most = 0;
  for (std::size_t m = 0; m < machines.list.size(); ++m) {
    const ImportedMachine& machine = machines.list[m];
    if (machine.use != Use::up || (set != nullptr && !(*set)[m])) continue;
    if (!gpu_type.empty() && machine.gpu_type != gpu_type) continue;
    const std::int64_t count =
        ++kinds[{machine.gpu_type, machine.gpus, machine.cpu_milli, machine.memory_mib}];
    if (count > most) {
      most = count;
      best = &machine;
    }
  }
  if (kinds.size() > 1) {
    notes.add("jobs with whole nodes where nodes differ: planned on the commonest kind",
              std::to_string(job.id));
  }
  return best;
}

class Collector {
 public:
  Collector(const Snapshot& snapshot, const ImportedMachines& machines,
            NodeConstraints& constraints, const SlurmImportOptions& options, Notes& notes,
            Notes& left)
      : snapshot_(snapshot),
        machines_(machines),
        constraints_(constraints),
        options_(options),
        notes_(notes),
        left_(left),
        memory_counts_(snapshot.config.memory) {
    for (const SlurmJob& job : snapshot.jobs) {
      if (is_split_off(job) && waits(job)) ++split_off_array_[job.array_id];
      if (!holds_nodes(job)) continue;
      if (job.array_id > 0) ++running_of_array_[job.array_id];
      // the allocation of a running job shows what Slurm allocates
      if (!memory_counts_ && !job.allocated.empty()) {
        memory_counts_ = tres_amount(job.allocated, "mem").has_value();
      }
    }
  }

  std::vector<PendingJob> collect() {
    for (const SlurmJob& job : snapshot_.jobs) {
      if (waits(job)) consider(job);
    }
    return std::move(found_);
  }

 private:
  static bool waits(const SlurmJob& job) {
    return !holds_nodes(job) && (job.state == "PENDING" || job.state.starts_with("REQUEUE") ||
                                 job.state == "SPECIAL_EXIT");
  }

  /// A task of an array with a record of its own: one that Slurm or `scontrol update` has touched.
  static bool is_split_off(const SlurmJob& job) {
    return job.array_id > 0 && job.array_task.set && job.array_tasks.empty();
  }

  void leave(const SlurmJob& job, const std::string& reason) {
    left_.add(reason, std::to_string(job.id));
  }

  void consider(const SlurmJob& job) {
    PendingJob waiting{
        .job = job, .request = request_of(job), .name = {}, .gang = {}, .constraint = -1};
    std::string reason = why_not_now(job, options_);
    if (reason.empty()) {
      reason =
          narrow_partitions(waiting.job, constraints_, options_, !snapshot_.partitions.empty());
    }
    if (reason.empty()) {
      const NodeConstraints::NodeConstraint constraint = constraints_.of(waiting.job);
      waiting.constraint = constraint.set;
      reason = constraint.fault;
    }
    if (reason.empty()) {
      set_gang(waiting);
      reason = waiting.gang.left;
    }
    if (reason.empty() && waiting.constraint >= 0 &&
        !constraints_.alternatives(waiting.constraint).empty() && !waiting.gang.uses_gpu() &&
        waiting.gang.tasks() > 1) {
      reason = "needs one feature on all its nodes, and no GPU type tells them apart";
    }
    if (!reason.empty()) return leave(job, reason);
    if (job.pin) notes_.add("jobs that an earlier apply pinned: planned anew", job_name(job));
    note_what_is_not_counted(job, notes_);
    const bool asks = job.memory_per_node > 0 || job.memory_per_cpu > 0;
    if (!memory_counts_ && !asks) {
      notes_.add("jobs that ask for no memory: taken as needing none (scontrol show config tells)",
                 std::to_string(job.id));
    }
    if (!memory_counts_.value_or(true) && asks) {
      notes_.add("jobs that ask for memory, which this Slurm does not hand out",
                 std::to_string(job.id));
    }
    add_tasks(std::move(waiting));
  }

  void set_gang(PendingJob& waiting) {
    const SlurmJob& job = waiting.job;
    const bool whole = job.exclusive || snapshot_.config.whole_nodes ||
                       std::ranges::any_of(job.partitions, [&](const std::string& p) {
                         const Partition* const found = constraints_.partition(p);
                         return found != nullptr && found->exclusive;
                       });
    Notes unheard;
    waiting.gang = gang_of(job, machines_, nullptr, memory_counts_, whole ? unheard : notes_);
    if (!whole || !waiting.gang.left.empty()) return;
    const std::vector<bool>* const set =
        waiting.constraint < 0 ? nullptr : &constraints_.set(waiting.constraint);
    const ImportedMachine* const machine =
        commonest(machines_, set, waiting.gang.gpu_type, job, notes_);
    if (machine == nullptr) {
      waiting.gang.left = "fits none of the nodes planned";
    } else {
      waiting.gang = gang_of(job, machines_, machine, memory_counts_, notes_);
    }
  }

  /// Adds the tasks of an array as jobs, at most as many as may start now.
  void add_tasks(PendingJob waiting) {
    const SlurmJob& job = waiting.job;
    if (job.array_id == 0 || is_split_off(job)) {
      if (job.array_limit > 0 &&
          running_of_array_[job.array_id] + split_off_seen_[job.array_id]++ >= job.array_limit) {
        return leave(job, "waits for other tasks of its array");
      }
      waiting.name = job_name(job);
      found_.push_back(std::move(waiting));
      return;
    }
    const std::vector<std::int64_t> tasks = array_tasks(job.array_tasks);
    if (tasks.empty()) {
      return leave(job, "is an array whose list of tasks is cut off (set SLURM_BITSTR_LEN=0)");
    }
    std::int64_t room = std::ssize(tasks);
    if (job.array_limit > 0)
      room = std::max<std::int64_t>(
          0, job.array_limit - running_of_array_[job.array_id] - split_off_array_[job.array_id]);
    for (const std::int64_t task : tasks) {
      if (room-- <= 0) {
        leave(job, "waits for other tasks of its array");
        continue;
      }
      found_.push_back(waiting);
      found_.back().job.array_task = {.set = true, .infinite = false, .value = task};
      found_.back().name = job_name(found_.back().job);
    }
  }

  const Snapshot& snapshot_;
  const ImportedMachines& machines_;
  NodeConstraints& constraints_;
  const SlurmImportOptions& options_;
  Notes& notes_;
  Notes& left_;
  std::optional<bool> memory_counts_;
  /// By array: tasks that run; tasks that wait with a record of their own, all and looked at.
  std::unordered_map<std::int64_t, std::int64_t> running_of_array_, split_off_array_,
      split_off_seen_;
  std::vector<PendingJob> found_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  if (!read_number(text, value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string job_name(const SlurmJob& job) {
  if (job.array_id == 0 || !job.array_task.set) return std::to_string(job.id);
  return std::to_string(job.array_id) + "_" + std::to_string(job.array_task.value);
}

std::vector<std::int64_t> array_tasks(const std::string& text) {
  std::vector<std::int64_t> tasks;
  std::string list = text.substr(0, text.find('%'));
  std::erase_if(list, [](char c) { return c == '[' || c == ']'; });
  for (const std::string_view part : split_list(list)) {
    const std::size_t colon = part.find(':');
    const std::string_view range = part.substr(0, colon);
    const std::size_t dash = range.find('-');
    const auto first = whole(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole(range.substr(dash + 1));
    const auto step = colon == std::string_view::npos ? 1 : whole(part.substr(colon + 1));
    if (!first || !last || !step || *step == 0 || *last - *first > kMaxCount) return {};
    for (std::int64_t task = *first; task <= *last; task += *step) tasks.push_back(task);
  }
  return tasks;
}

Request request_of(const SlurmJob& job) {
  const bool limited = job.minutes.set && !job.minutes.infinite;
  const auto n = [](std::int64_t number) { return std::to_string(number); };
  return {{"partition", joined(job.partitions)},
          {"nodes", job.max_nodes > 0 ? n(job.min_nodes) + "-" + n(job.max_nodes) : "any"},
          {"tasks", n(job.tasks)},
          {"cpus", n(job.cpus)},
          {"memory_per_node", n(job.memory_per_node)},
          {"memory_per_cpu", n(job.memory_per_cpu)},
          {"tres_per_job", job.per_job},
          {"tres_per_node", job.per_node},
          {"tres_per_socket", job.per_socket},
          {"tres_per_task", job.per_task},
          {"cpus_per_tres", job.cpus_per_tres},
          {"memory_per_tres", job.memory_per_tres},
          {"features", job.features},
          {"excluded_nodes", joined(job.excluded)},
          {"required_nodes", joined(job.required)},
          {"reservation", job.reservation},
          {"dependency", job.dependency},
          {"exclusive", job.exclusive ? "yes" : "no"},
          {"licenses", job.licenses},
          {"switches", job.switches > 0 ? n(job.switches) : ""},
          {"time_limit", limited ? n(job.minutes.value) : "none"}};
}

std::vector<PendingJob> pending_jobs(const Snapshot& snapshot, const ImportedMachines& machines,
                                     NodeConstraints& constraints,
                                     const SlurmImportOptions& options, Notes& notes, Notes& left) {
  return Collector(snapshot, machines, constraints, options, notes, left).collect();
}

}  // namespace berth::io::slurm
