// SPDX-License-Identifier: Apache-2.0
#include "slurm/times.hpp"

#include "slurm/pending_jobs.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

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

}  // namespace

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

namespace {

/// Nodes on which jobs run that are not in the reservation, if it has begun.
std::set<std::string_view> held_by_others(const Snapshot& snapshot, const Reservation& r,
                                          std::int64_t now) {
  std::set<std::string_view> nodes;
  if (r.start > now) return nodes;
  for (const SlurmJob& job : snapshot.jobs) {
    if (!holds_nodes(job) || job.reservation == r.name) continue;
    nodes.insert(job.nodes.begin(), job.nodes.end());
  }
  return nodes;
}

}  // namespace

std::vector<ReservedTime> reserved_times(const Snapshot& snapshot, std::int64_t now,
                                         ImportedMachines& machines, Notes& notes) {
  std::vector<ReservedTime> times;
  std::set<std::size_t> held,
      in_window;  // machines reserved now: on which others run, and the rest
  for (const Reservation& r : snapshot.reservations) {
    if (r.end <= now || r.end <= r.start) continue;
    const std::set<std::string_view> others = held_by_others(snapshot, r, now);
    std::set<std::size_t> reserved;
    for (const std::string& name : r.nodes) {
      const auto found = machines.index.find(name);
      if (found == machines.index.end()) continue;
      const bool is_held = others.contains(name);
      if (is_held)
        notes.add("machines reserved now on which jobs of others run: reserved without end", name);
      (is_held ? held : reserved).insert(found->second);
    }
    if (r.start <= now) in_window.insert(reserved.begin(), reserved.end());
    if (!reserved.empty()) times.push_back({&r, {reserved.begin(), reserved.end()}});
  }
  for (std::size_t m = 0; m < machines.list.size(); ++m) {
    ImportedMachine& machine = machines.list[m];
    if (machine.use == Use::drained) continue;
    const bool window = in_window.contains(m) && !held.contains(m);
    const bool named = !machine.node->reservation.empty();
    if (window) machine.use = Use::up;
    if (!window && (held.contains(m) || named)) machine.use = Use::reserved;
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

}  // namespace berth::io::slurm
