// SPDX-License-Identifier: Apache-2.0
#include "slurm/dependencies.hpp"

#include "slurm/hostlist.hpp"

#include <algorithm>

namespace berth::io::slurm {
namespace {

/// Adds "17", "17_3" or "17_*", with what Slurm says of it behind: "(unfulfilled)".
void add_id(std::string_view text, SlurmDependency& found) {
  if (text.find("(failed)") != std::string_view::npos) found.expressible = false;
  std::string_view id = text.substr(0, text.find('('));
  if (id.ends_with("_*")) id.remove_suffix(2);
  if (id.empty() || id.find_first_not_of("0123456789_") != std::string_view::npos) {
    found.expressible = false;  // such as "17+30": minutes after it
  }
  found.after.emplace_back(id);
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
    for (std::string_view ids = part.substr(colon + 1); !ids.empty();) {
      const std::string_view one = ids.substr(0, ids.find(':'));
      ids.remove_prefix(std::min(one.size() + 1, ids.size()));
      add_id(one, found);
    }
  }
  return found;
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
