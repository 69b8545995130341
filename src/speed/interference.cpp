// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/interference.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace berth::speed {
namespace {

constexpr std::uint64_t kMachineKey = std::uint64_t{3} << 32;  // beside those of links

bool has_gpus(const RunningJob& job) { return job.gpu_type.valid(); }

}  // namespace

Interference::Interference(double loss, const Model& others) : loss_(loss), others_(&others) {
  if (!(loss >= 0.0 && loss < 1.0)) {
    throw std::invalid_argument("interference is a loss from 0 to below 1");
  }
}

void Interference::shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const {
  others_->shared(job, keys);
  if (!has_gpus(job)) return;
  for (const MachineTasks& on : job.machines) {
    if (on.gpus > 0) keys.push_back(kMachineKey | static_cast<std::uint64_t>(on.machine.index()));
  }
}

void Interference::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  others_->rates(running, rates);
  std::vector<std::pair<MachineId, std::size_t>> users;
  for (std::size_t i = 0; i < running.size(); ++i) {
    for (const MachineTasks& on : running[i].machines) {
      if (on.gpus > 0) users.emplace_back(on.machine, i);
    }
  }
  std::ranges::sort(users);
  std::vector<char> slowed(running.size(), 0);
  for (std::size_t u = 0; u + 1 < users.size(); ++u) {
    if (users[u].first == users[u + 1].first)
      slowed[users[u].second] = slowed[users[u + 1].second] = 1;
  }
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (slowed[i] != 0) rates[i].per_second *= 1.0 - loss_;
  }
}

}  // namespace berth::speed
