// SPDX-License-Identifier: Apache-2.0
#include "html.hpp"
#include "sections.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/report/plan_difference.hpp"

namespace berth::report {
namespace {

/// Tasks of moved jobs by the pods that they leave and enter. Which of the equal tasks of a group
/// goes where does not count, so tasks are paired in the order of their machines.
std::map<std::pair<PodId, PodId>, std::int64_t> moved_tasks(const model::Cluster& cluster,
                                                            const model::Placement& before,
                                                            const model::Placement& after,
                                                            const std::vector<JobId>& moved) {
  std::map<std::pair<PodId, PodId>, std::int64_t> result;
  const auto tasks_of = [](const model::Placement& placement, JobId job) {
    return std::ranges::lower_bound(placement, job, {}, &model::JobPlacement::job)->tasks;
  };
  for (const JobId job : moved) {
    auto from = tasks_of(before, job), to = tasks_of(after, job);
    const auto by_place = [](const auto& a, const auto& b) {
      return std::pair(a.group, a.machine) < std::pair(b.group, b.machine);
    };
    std::ranges::sort(from, by_place), std::ranges::sort(to, by_place);
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      if (from[i].machine == to[i].machine) continue;
      ++result[{cluster.pod_of(from[i].machine), cluster.pod_of(to[i].machine)}];
    }
  }
  return result;
}

std::string move_rows(const model::Cluster& cluster,
                      const std::map<std::pair<PodId, PodId>, std::int64_t>& tasks) {
  std::vector<std::pair<std::int64_t, std::pair<PodId, PodId>>> order;
  for (const auto& [pods, count] : tasks) order.emplace_back(-count, pods);
  std::ranges::sort(order);
  if (order.empty()) return {};
  constexpr std::size_t kMostRows = 60;
  HtmlTable table("Tasks that move, the most frequent ways first",
                  {"from pod", "to pod", "tasks", ""}, 2);
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const auto& [count, pods] = order[i];
    table.add({html_name(cluster.pods[pods.first.index()].name),
               html_name(cluster.pods[pods.second.index()].name), fmt::format("{}", -count),
               bar(static_cast<double>(count) / static_cast<double>(order.front().first))});
  }
  return table.text();
}

}  // namespace

std::string course_section(const PageContent& content) {
  const std::vector<model::RawRound>& rounds = content.file.rounds;
  if (rounds.size() < 2) return {};
  ChartLine objective{.name = "objective", .x = {}, .y = {}};
  ChartLine bound{.name = "bound", .x = {}, .y = {}};
  HtmlTable table("Rounds", {"round", "objective", "bound", "gap"});
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const auto number = static_cast<double>(r + 1);
    objective.x.push_back(number), objective.y.push_back(rounds[r].objective);
    bound.x.push_back(number), bound.y.push_back(rounds[r].upper_bound);
    table.add({fmt::format("{}", r + 1), fmt::format("{:.10g}", rounds[r].objective),
               fmt::format("{:.10g}", rounds[r].upper_bound),
               fmt::format("{:.6g}", rounds[r].upper_bound - rounds[r].objective)});
  }
  const std::vector<ChartLine> lines{bound, objective};
  return section("course", "How the plan was found",
                 chart("Objective and bound by round", "round", lines, false) +
                     "<details><summary>Table</summary>" + table.text() + "</details>\n");
}

std::string moves_section(const PageContent& content) {
  const model::InstanceView& instance = content.now.instance;
  const model::Placement before = running_placement(instance.workload.tables());
  if (before.empty()) return {};
  const PlanDifference changes = difference(before, content.now.placement);
  HtmlTable table("Jobs against what runs now", {"change", "jobs"});
  const auto row = [&](const char* name, const std::vector<JobId>& jobs) {
    table.add({html(name), figure(std::string("moves.") + name, std::ssize(jobs))});
  };
  row("placed", changes.placed);
  row("moved", changes.moved);
  row("stopped", changes.stopped);
  row("kept", changes.kept);
  return section("moves", "Moves",
                 table.text() + move_rows(instance.cluster,
                                          moved_tasks(instance.cluster, before,
                                                      content.now.placement, changes.moved)));
}

}  // namespace berth::report
