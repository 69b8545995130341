// SPDX-License-Identifier: Apache-2.0
#include "berth/model/domain_task_counts.hpp"

#include <algorithm>

namespace berth::model {

DomainTaskCounts::DomainTaskCounts(const Cluster& cluster, const PlacementRules& rules,
                                   std::int64_t tasks)
    : cluster_(&cluster),
      rules_(&rules),
      bind_(std::ranges::any_of(most_tasks_in(rules, tasks),
                                [&](std::int64_t most) { return most < tasks; })),
      left_(tasks) {}

DomainTaskCounts::Domains DomainTaskCounts::domains_of(MachineId machine) const {
  return {machine.value(), cluster_->machine_rack[machine.index()].value(),
          cluster_->pod_of(machine).value()};
}

bool DomainTaskCounts::allow(MachineId machine) const {
  if (!bind_) return true;
  const Domains domains = domains_of(machine);
  for (std::size_t l = 0; l < kDomainLevels; ++l) {
    const auto here = placed_[l].find(domains[l]);
    if (here == placed_[l].end()) continue;  // a further domain: all rules can be kept as before
    const std::int64_t missing = rules_->min_domains[l] - std::ssize(placed_[l]);
    if (here->second >= rules_->max_tasks[l] || left_ - 1 < missing) return false;
  }
  return true;
}

std::int64_t DomainTaskCounts::allowed(MachineId machine, std::int64_t limit) {
  std::int64_t tasks = 0;
  for (; tasks < limit && allow(machine); ++tasks) take(machine);
  for (std::int64_t t = 0; t < tasks; ++t) give_back(machine);
  return tasks;
}

void DomainTaskCounts::take(MachineId machine) {
  if (!bind_) return;
  --left_;
  const Domains domains = domains_of(machine);
  for (std::size_t l = 0; l < kDomainLevels; ++l) ++placed_[l][domains[l]];
}

void DomainTaskCounts::give_back(MachineId machine) {
  if (!bind_) return;
  ++left_;
  const Domains domains = domains_of(machine);
  for (std::size_t l = 0; l < kDomainLevels; ++l) {
    const auto here = placed_[l].find(domains[l]);
    if (--here->second == 0) placed_[l].erase(here);
  }
}

std::array<std::int64_t, kLevels - 1> most_tasks_in(const PlacementRules& rules,
                                                    std::int64_t tasks) {
  std::array<std::int64_t, kLevels - 1> most{};
  for (std::size_t l = 0; l < most.size(); ++l) {
    most[l] = std::min<std::int64_t>(rules.max_tasks[l], tasks - rules.min_domains[l] + 1);
  }
  return most;
}

}  // namespace berth::model
