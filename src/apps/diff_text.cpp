// SPDX-License-Identifier: Apache-2.0
#include "diff_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/base/wrapped.hpp"
#include "berth/certify/figures.hpp"
#include "berth/report/plan_difference.hpp"

namespace berth::apps {
namespace {

/// Machines of a job in a plan of other files, when the instance does not have that place.
const model::RawPlacement* place_elsewhere(const Compared& compared, JobId job) {
  if (compared.other == nullptr) return nullptr;
  const auto& changed = compared.other->changed;
  const auto at = std::ranges::lower_bound(changed, job, {},
                                           &std::pair<JobId, report::PlanByNames::Raw>::first);
  return at != changed.end() && at->first == job ? at->second : nullptr;
}

const model::JobPlacement* find(const model::Placement& placement, JobId job) {
  const auto at = std::ranges::lower_bound(placement, job, {}, &model::JobPlacement::job);
  return at != placement.end() && at->job == job ? &*at : nullptr;
}

/// What the job brings where it is placed, with the cost of stopping it that is saved; 0 where it
/// is not placed. Penalties of soft quotas are in the objectives only.
double value(const Compared& compared, const model::JobPlacement* placed) {
  const auto& workload = compared.instance.workload;
  if (placed == nullptr || workload.pinned(workload.job(placed->job))) return 0.0;
  const model::Placement alone{*placed};
  const certify::PlacementSums sums =
      certify::placement_sums(compared.instance, compared.objective, alone);
  return std::ldexp(static_cast<double>(sums.gain), -certify::ObjectiveValue::kScaleLog2);
}

std::string job_line(const Compared& compared, JobId job) {
  const model::JobPlacement* const before = find(compared.before, job);
  const model::JobPlacement* const after = find(compared.after, job);
  const auto& workload = compared.instance.workload;
  constexpr std::size_t kPlaces = 24;
  const auto where = [&](const model::JobPlacement* placed) {
    return placed == nullptr ? std::string("-")
                             : report::places(compared.instance.cluster, *placed, kPlaces);
  };
  const model::RawPlacement* const elsewhere = place_elsewhere(compared, job);
  return fmt::format(
      "  {:<20} {:>5.6g} GPUs {:>+10.6g}  {} -> {}\n", printable(workload.job_names[job.index()]),
      static_cast<double>(workload.gpu_milli(workload.job(job))) / 1000.0,
      value(compared, after) - value(compared, before),
      elsewhere == nullptr ? where(before) : report::places(*elsewhere, kPlaces), where(after));
}

/// One kind of change: its number of jobs and GPUs, what it brings, and its jobs.
std::string change_text(const Compared& compared, std::string_view name,
                        const std::vector<JobId>& jobs, bool list) {
  double gpus = 0.0, gain = 0.0;
  std::string lines;
  for (const JobId job : jobs) {
    const auto& workload = compared.instance.workload;
    gpus += static_cast<double>(workload.gpu_milli(workload.job(job))) / 1000.0;
    gain +=
        value(compared, find(compared.after, job)) - value(compared, find(compared.before, job));
    if (list) lines += job_line(compared, job);
  }
  return fmt::format("{:<8} {:>8} jobs {:>10.8g} GPUs {:>+14.8g}\n", name, jobs.size(), gpus,
                     gain) +
         lines;
}

/// Changes of the jobs that both plans know.
report::PlanDifference changes_of(const Compared& compared) {
  report::PlanDifference changes = report::difference(compared.before, compared.after);
  if (compared.other == nullptr) return changes;
  for (const auto& [job, raw] : compared.other->changed) {
    const bool stays = std::erase(changes.placed, job) > 0;
    std::vector<JobId>& list = stays ? changes.moved : changes.stopped;
    list.insert(std::ranges::upper_bound(list, job), job);
  }
  return changes;
}

/// As many names as fit a line, and the number of the others.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kWidth = 44;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && text.size() + names[i].size() > kWidth) {
      return text + fmt::format(" and {} more", names.size() - i);
    }
    text += (i == 0 ? ": " : ", ") + names[i];
  }
  return text;
}

}  // namespace

std::string difference_text(const Compared& compared, bool all) {
  const report::PlanDifference changes = changes_of(compared);
  const auto objective = [&](const model::Placement& placement) {
    return certify::objective(compared.instance, compared.objective, placement).value;
  };
  const double before = objective(compared.before), after = objective(compared.after);
  const std::string head =
      compared.other == nullptr
          ? fmt::format("objective {:.10g} -> {:.10g} ({:+.6g})\n", before, after, after - before)
          : fmt::format("objective {:.10g}\n", after);
  return head + change_text(compared, "placed", changes.placed, true) +
         change_text(compared, "stopped", changes.stopped, true) +
         change_text(compared, "moved", changes.moved, true) +
         change_text(compared, "kept", changes.kept, all);
}

/// What the files of the plans do not share.
std::string files_text(const model::Instance& instance, const std::string& first,
                       const report::PlanByNames& other) {
  std::vector<std::string> gone, fresh, changed;
  std::int64_t milli = 0;
  for (const auto* const raw : other.gone) {
    gone.push_back(printable(raw->job));
    milli += report::gpu_milli(*raw);
  }
  const auto name = [&](JobId job) { return printable(instance.workload.job_names[job.index()]); };
  for (const JobId job : other.fresh) fresh.push_back(name(job));
  for (const auto& [job, raw] : other.changed) changed.push_back(name(job));
  return wrapped(fmt::format("{} is of other files: compared by names, valued by these files",
                             printable(first)),
                 2) +
         "\n" +
         wrapped(fmt::format("gone     {} placed jobs, {:.8g} GPUs{}", gone.size(),
                             static_cast<double>(milli) / 1000.0, listed(gone)),
                 2) +
         "\n" + wrapped(fmt::format("new      {} jobs{}", fresh.size(), listed(fresh)), 2) + "\n" +
         wrapped(fmt::format("changed  {} jobs with other tasks or machines{}", changed.size(),
                             listed(changed)),
                 2) +
         "\n";
}

}  // namespace berth::apps
