// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/spread_count.hpp"

#include <algorithm>
#include <limits>

namespace berth::horizon {

SpreadCount::SpreadCount(const Problem& problem, const Option& option) : problem_(problem) {
  if (option.spread < 0) return;
  spread_ = &problem.spreads[static_cast<std::size_t>(option.spread)];
  for (const TaskGroup& group : problem.tasks_of(option)) left_ += group.tasks;
}

std::array<std::int32_t, 3> SpreadCount::domains_of(MachineId machine) const {
  const Machine& of = problem_.machines[machine.index()];
  return {machine.value(), of.rack.value(), of.pod.value()};
}

Gpus SpreadCount::most_on(MachineId machine) const {
  if (spread_ == nullptr) return std::numeric_limits<Gpus>::max();
  const auto domains = domains_of(machine);
  Gpus most = left_;
  for (std::size_t level = 0; level < tasks_.size(); ++level) {
    const auto found = tasks_[level].find(domains[level]);
    const bool known = found != tasks_[level].end();
    most = std::min<Gpus>(most, spread_->most[level] - (known ? found->second : 0));
    const Gpus used = std::ssize(tasks_[level]) + (known ? 0 : 1);
    most = std::min(most, left_ - std::max<Gpus>(0, spread_->least[level] - used));
  }
  return std::max<Gpus>(0, most);
}

void SpreadCount::add(MachineId machine, Gpus tasks) {
  if (spread_ == nullptr || tasks == 0) return;
  const auto domains = domains_of(machine);
  for (std::size_t level = 0; level < tasks_.size(); ++level) {
    tasks_[level][domains[level]] += tasks;
  }
  left_ -= tasks;
}

bool SpreadCount::complete() const {
  if (spread_ == nullptr) return true;
  for (std::size_t level = 0; level < tasks_.size(); ++level) {
    if (std::ssize(tasks_[level]) < spread_->least[level]) return false;
  }
  return left_ == 0;
}

}  // namespace berth::horizon
