// SPDX-License-Identifier: Apache-2.0
#include "local_search/eviction_cost_bounds.hpp"

#include <algorithm>
#include <limits>

namespace berth::solver::local_search {

using model::Level;

EvictionCostBounds::EvictionCostBounds(const Occupancy& occupancy, std::span<const Level> levels) {
  for (const GpuTypeId type : occupancy.index().types()) {
    for (const Level level : levels) {
      for (const Domain& domain : occupancy.index().domains(type, level)) {
        curves_.emplace(&domain, curve_of(occupancy, domain));
      }
    }
  }
}

EvictionCostBounds::EvictionCurve EvictionCostBounds::curve_of(const Occupancy& occupancy,
                                                               const Domain& domain) {
  EvictionCurve curve;
  std::vector<std::pair<double, std::int64_t>> jobs;  // value per thousandth, thousandths here
  for (const MachineId m : domain.machines) {
    curve.idle += occupancy.room().shared(m).milli();  // also what an exclusive job keeps
    for (const Occupant& r : occupancy.occupants(m)) {
      // Evicting a job of negative value costs 0.
      if (r.evictable && r.milli > 0) jobs.emplace_back(std::max(0.0, r.density), r.milli);
    }
  }
  std::ranges::sort(jobs);
  std::int64_t milli = 0;
  double cost = 0.0;
  for (const auto& [density, more] : jobs) {
    curve.milli.push_back(milli += more);
    curve.cost.push_back(cost += density * static_cast<double>(more));
  }
  return curve;
}

double EvictionCostBounds::least(const Domain& domain, std::int64_t milli) const {
  const auto found = curves_.find(&domain);
  if (found == curves_.end()) return 0.0;  // machines of any type: for jobs without GPUs
  const EvictionCurve& curve = found->second;
  const std::int64_t need = milli - curve.idle;
  if (need <= 0) return 0.0;
  const auto at = std::ranges::lower_bound(curve.milli, need);
  if (at == curve.milli.end()) return std::numeric_limits<double>::infinity();
  const auto i = static_cast<std::size_t>(at - curve.milli.begin());
  const std::int64_t before = i == 0 ? 0 : curve.milli[i - 1];
  const double paid = i == 0 ? 0.0 : curve.cost[i - 1];
  const auto part =
      static_cast<double>(need - before) / static_cast<double>(curve.milli[i] - before);
  return paid + part * (curve.cost[i] - paid);
}

void KeptCostBounds::choose(const List& list) {
  const auto& [type, level, milli] = list;
  const std::span<const Domain> domains = index_.domains(type, level);
  std::vector<double>& costs = known_[list];
  if (costs.empty()) {
    for (const Domain& domain : domains) costs.push_back(bounds_.least(domain, milli));
  }
  list_ = list, first_ = domains.data(), costs_ = &costs;
}

}  // namespace berth::solver::local_search
