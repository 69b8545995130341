// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/outages.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/random.hpp"

namespace berth::sim {
namespace {

/// Exponential draw in whole seconds, at least 1.
std::int64_t seconds(double mean, std::uint64_t seed, std::size_t machine, std::uint64_t draw) {
  const double unit = 1.0 - random_unit({seed, static_cast<std::uint64_t>(machine), draw});
  constexpr double most = 3e9;  // about 100 years
  return static_cast<std::int64_t>(std::ceil(std::clamp(-mean * std::log(unit), 1.0, most)));
}

}  // namespace

std::vector<io::MachineFailure> draw_failures(const model::Cluster& cluster,
                                              const FailureRates& rates) {
  std::vector<io::MachineFailure> failures;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    std::uint64_t draw = 0;
    for (std::int64_t time = seconds(rates.mtbf, rates.seed, m, draw++); time <= rates.until;) {
      const std::int64_t up = time + seconds(rates.mttr, rates.seed, m, draw++);
      failures.push_back({MachineId(m), time, up});
      time = up + seconds(rates.mtbf, rates.seed, m, draw++);
    }
  }
  return failures;
}

std::vector<Closing> closings(const model::Cluster& cluster,
                              const std::vector<io::MachineFailure>& failures) {
  std::vector<Closing> closings;
  for (const io::MachineFailure& failure : failures) {
    closings.push_back({.machine = failure.machine,
                        .from = failure.from * kSecond,
                        .to = failure.to * kSecond,
                        .outage = policy::Outage::failure});
  }
  for (const model::Window& window : cluster.windows) {
    for (const model::MachineRange& range : window.machines) {
      for (std::int32_t m = range.first; m < range.end; ++m) {
        closings.push_back({.machine = MachineId(m),
                            .from = window.from * kSecond,
                            .to = window.to * kSecond,
                            .outage = policy::Outage::planned});
      }
    }
  }
  return closings;
}

}  // namespace berth::sim
