// SPDX-License-Identifier: Apache-2.0
#include "rule_reasons.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace berth::pipeline {

using model::Level;

namespace {

constexpr std::array<std::string_view, 3> kDomains{"machine", "rack", "pod"};

}  // namespace

std::string rules_forbid(const model::InstanceView& instance, const DomainCapacity& capacity,
                         std::uint64_t usable, const model::Job& job) {
  const model::WorkloadView& workload = instance.workload;
  const model::PlacementRules& rules = workload.rules_of(job);
  if (job.rules == 0 || workload.groups_of(job).size() > 1) return {};
  const model::TaskGroup& group = workload.groups_of(job).front();
  const model::Shape& shape = workload.shape(group.shape);
  for (const Level level : {Level::machine, Level::rack, Level::pod}) {
    const auto l = static_cast<std::size_t>(level);
    DomainCapacity::Spread most;
    for (std::size_t t = 0; t < instance.cluster.gpu_types.size(); ++t) {
      if (shape.uses_gpu() && ((usable >> t) & 1) == 0) continue;
      const GpuTypeId type = shape.uses_gpu() ? GpuTypeId(t) : GpuTypeId{};
      const auto here = capacity.spread(shape, type, level, rules.max_tasks);
      most.tasks = std::max(most.tasks, here.tasks);
      most.domains = std::max(most.domains, here.domains);
    }
    if (most.tasks < group.count) {
      return fmt::format("max_tasks_per: an empty cluster holds {} of {} tasks '{}' within it",
                         most.tasks, group.count, workload.tables().labels[group.label]);
    }
    if (most.domains < rules.min_domains[l]) {
      return fmt::format("min_domains: {} {}s asked, {} hold a task of the job",
                         rules.min_domains[l], kDomains[l], most.domains);
    }
  }
  return {};
}

std::string rule_keys(const model::WorkloadView& workload, const model::Job& job) {
  const model::PlacementRules& rules = workload.rules_of(job);
  const model::PlacementRules none;
  std::vector<std::string_view> keys;
  if (rules.max_tasks != none.max_tasks) keys.emplace_back("max_tasks_per");
  if (rules.min_domains != none.min_domains) keys.emplace_back("min_domains");
  if (rules.exclusive) keys.emplace_back("exclusive");
  if (!rules.not_with.empty()) keys.emplace_back("not_with");
  if (rules.concern_others && !rules.labels.empty()) keys.emplace_back("not_with of other jobs");
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace berth::pipeline
