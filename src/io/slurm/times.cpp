// SPDX-License-Identifier: Apache-2.0
#include "slurm/times.hpp"

#include "numbers.hpp"
#include "slurm/hostlist.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>

namespace berth::io::slurm {
namespace {

/// Seconds that a job may run, or kNotGiven.
std::int64_t limit_of(const SlurmJob& job) {
  const bool limited = job.minutes.set && !job.minutes.infinite && job.minutes.value > 0;
  return limited ? std::min(job.minutes.value, kMaxSeconds / 60) * 60 : model::kNotGiven;
}

/// The part of the limit that a job is expected to use, rounded up.
std::int64_t expected_seconds(std::int64_t limit, const SlurmImportOptions& options) {
  if (limit == model::kNotGiven) return limit;
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(limit) * options.limit_used)), 1,
      limit);
}

bool has_waiting_tasks(const SlurmJob& job) {
  return !holds_nodes(job) && (job.state == "PENDING" || job.state.starts_with("REQUEUE") ||
                               job.state == "SPECIAL_EXIT");
}

}  // namespace

SlurmDependency dependency_of(const std::string& text) {
  SlurmDependency found;
  if (text.find('?') != std::string::npos) found.expressible = false;  // one of several suffices
  for (const std::string_view part : split_list(text)) {
    const std::size_t colon = part.find(':');
    const std::string_view type = part.substr(0, colon);
    if (colon == std::string_view::npos || (type != "afterok" && type != "afterany")) {
      found.expressible = false;
      continue;
    }
    std::string_view ids = part.substr(colon + 1);
    while (!ids.empty()) {
      const std::string_view one = ids.substr(0, ids.find(':'));
      ids.remove_prefix(std::min(one.size() + 1, ids.size()));
      if (one.find("(failed)") != std::string_view::npos) found.expressible = false;
      std::string_view id = one.substr(0, one.find('('));
      if (id.ends_with("_*")) id.remove_suffix(2);
      if (id.empty() || id.find_first_not_of("0123456789_") != std::string_view::npos) {
        found.expressible = false;  // such as "17+30": minutes after it
      }
      found.after.emplace_back(id);
    }
  }
  return found;
}

void set_times(const SlurmJob& job, const SlurmImportOptions& options, JobLine& line) {
  model::TimeRules& rules = line.time.rules;
  line.arrival = std::clamp<std::int64_t>(job.submitted, 0, kMaxAmount);
  rules.limit = limit_of(job);
  if (options.limit_used < 1.0) rules.duration = expected_seconds(rules.limit, options);
  if (job.eligible > options.now) rules.not_before = std::min(job.eligible, kMaxAmount);
}

void set_times(const RunningSlurmJob& running, const std::vector<ReservedTime>& reserved,
               const SlurmImportOptions& options, JobLine& line, Notes& notes) {
  /// Seconds that a job past its limit may still take: Slurm looks once a minute
  constexpr std::int64_t kPastLimit = 60;
  const SlurmJob& job = *running.job;
  const std::int64_t since =
      job.started > 0 && job.started <= options.now ? job.started : options.now;
  std::int64_t limit = limit_of(job);
  std::int64_t seconds = expected_seconds(limit, options);
  if (limit != model::kNotGiven && since + seconds <= options.now) {  // it uses more than expected
    limit = std::max(limit, options.now - since + kPastLimit);
    seconds = limit;
  }
  for (const ReservedTime& time : reserved) {
    const std::int64_t from = time.reservation->start;
    const bool own = job.reservation == time.reservation->name;
    const bool meets = std::ranges::any_of(running.parts, [&](const MachineShare& part) {
      return std::ranges::binary_search(time.machines, part.machine);
    });
    const bool ends = seconds != model::kNotGiven && since + seconds <= from;
    if (own || !meets || ends || from <= options.now) continue;
    notes.add("running jobs that may pass the begin of a reservation: taken to end there",
              job_name(job));
    seconds = from - since;
  }
  line.time.since = std::min(since, kMaxAmount);
  if (limit != model::kNotGiven) line.time.rules.limit = std::min(limit, kMaxSeconds);
  if (seconds != limit) line.time.rules.duration = std::min(seconds, kMaxSeconds);
}

std::vector<ReservedTime> reserved_times(const Snapshot& snapshot, std::int64_t now,
                                         ImportedMachines& machines, Notes& notes) {
  std::vector<ReservedTime> times;
  std::vector<bool> closed(machines.list.size(), false), in_window(machines.list.size(), false);
  for (const Reservation& r : snapshot.reservations) {
    if (r.end <= now || r.end <= r.start) continue;
    ReservedTime time{.reservation = &r, .machines = {}};
    std::vector<bool> strangers(machines.list.size(), false);
    for (const SlurmJob& job : snapshot.jobs) {
      if (r.start > now || !holds_nodes(job) || job.reservation == r.name) continue;
      for (const std::string& node : job.nodes) {
        const auto found = machines.index.find(node);
        if (found != machines.index.end()) strangers[found->second] = true;
      }
    }
    for (const std::string& name : r.nodes) {
      const auto found = machines.index.find(name);
      if (found == machines.index.end()) continue;
      if (strangers[found->second]) {
        notes.add("machines reserved now on which jobs of others run: reserved without end", name);
        closed[found->second] = true;
      } else {
        time.machines.push_back(found->second);
        in_window[found->second] = in_window[found->second] || r.start <= now;
      }
    }
    std::ranges::sort(time.machines);
    time.machines.erase(std::unique(time.machines.begin(), time.machines.end()),
                        time.machines.end());
    if (!time.machines.empty()) times.push_back(std::move(time));
  }
  for (std::size_t m = 0; m < machines.list.size(); ++m) {
    Use& use = machines.list[m].use;
    if (use == Use::drained) continue;
    const bool named = !machines.list[m].node->reservation.empty();
    if (use == Use::reserved && in_window[m]) use = Use::up;
    if (closed[m] || (named && !in_window[m])) use = Use::reserved;
  }
  return times;
}

std::vector<model::Window> windows_of(const std::vector<ReservedTime>& times,
                                      const Snapshot& snapshot) {
  std::vector<model::Window> windows;
  for (const ReservedTime& time : times) {
    const Reservation& r = *time.reservation;
    model::Window window{
        .machines = {},
        .from = std::clamp<std::int64_t>(r.start, 0, kMaxAmount - 1),
        .to = std::clamp<std::int64_t>(r.end, 1, kMaxAmount),
        .kind = r.maintenance ? model::WindowKind::maintenance : model::WindowKind::reservation};
    for (const std::size_t machine : time.machines) {
      const auto m = static_cast<std::int32_t>(machine);
      if (!window.machines.empty() && window.machines.back().end == m) {
        ++window.machines.back().end;
      } else {
        window.machines.push_back({m, m + 1});
      }
    }
    for (const SlurmJob& job : snapshot.jobs) {
      if (holds_nodes(job) && job.reservation == r.name) window.jobs.push_back(job_name(job));
    }
    if (!window.jobs.empty()) window.kind = model::WindowKind::reservation;
    std::ranges::sort(window.jobs);
    windows.push_back(std::move(window));
  }
  return windows;
}

JobsBefore::JobsBefore(const Snapshot& snapshot, std::vector<PendingJob>& waiting,
                       const std::vector<RunningSlurmJob>& running, Notes& left) {
  for (std::size_t before = waiting.size() + 1; before != waiting.size();) {
    before = waiting.size();
    list_names(snapshot, waiting, running);
    std::erase_if(waiting, [&](const PendingJob& w) {
      if (are_planned(w.job)) return false;
      left.add("waits for a job that is not planned", w.name);
      return true;
    });
  }
}

void JobsBefore::list_names(const Snapshot& snapshot, const std::vector<PendingJob>& waiting,
                            const std::vector<RunningSlurmJob>& running) {
  names_.clear();
  std::unordered_map<std::int64_t, std::size_t> planned;  // tasks by id of the record
  const auto add = [&](const SlurmJob& job, const std::string& name) {
    names_[name] = {name};
    if (job.array_id > 0) names_[std::to_string(job.array_id)].push_back(name);
  };
  for (const RunningSlurmJob& job : running) add(*job.job, job_name(*job.job));
  for (const PendingJob& w : waiting) {
    add(w.job, w.name);
    ++planned[w.job.id];
  }
  for (const SlurmJob& job : snapshot.jobs) {
    if (!has_waiting_tasks(job)) continue;
    const std::size_t tasks =
        job.array_tasks.empty() ? 1 : std::max<std::size_t>(array_tasks(job.array_tasks).size(), 1);
    if (planned[job.id] >= tasks) continue;
    if (job.array_id > 0) names_[std::to_string(job.array_id)].clear();
  }
}

bool JobsBefore::are_planned(const SlurmJob& job) const {
  return std::ranges::all_of(dependency_of(job.dependency).after, [&](const std::string& id) {
    const auto found = names_.find(id);
    return found != names_.end() && !found->second.empty();
  });
}

std::vector<std::string_view> JobsBefore::of(const SlurmJob& job) const {
  std::vector<std::string_view> names;
  for (const std::string& id : dependency_of(job.dependency).after) {
    const auto found = names_.find(id);
    if (found != names_.end())
      names.insert(names.end(), found->second.begin(), found->second.end());
  }
  return names;
}

}  // namespace berth::io::slurm
