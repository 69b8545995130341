// SPDX-License-Identifier: Apache-2.0
#include "objective.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "berth/solver/shard_bidding.hpp"
#include "berth/solver/shard_limits.hpp"

namespace berth::coordinator {
namespace {

using solver::Shard;

struct ShardValue {
  ShardId shard;
  double value = 0.0;
};

/// Value of the jobs over several shards less all stop costs, which values of placed jobs contain.
double value_of(const planner_model::Valuation& valuation, const model::Placement& placement) {
  double total = -valuation.stop_costs();
  for (const model::JobPlacement& p : placement) total += valuation.unpriced_value(p);
  return total;
}

}  // namespace

double objective_of(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                    std::span<const Shard> mine, const model::Placement& spanning) {
  std::vector<ShardValue> values;
  for (const Shard& shard : mine)
    values.push_back({shard.id(), shard.value() - solver::own_penalties(shard)});
  values = comm.all_gather_varying<ShardValue>(values);
  std::ranges::sort(values, {}, &ShardValue::shard);
  double total = value_of(valuation, spanning);
  for (const ShardValue& v : values) total += v.value;
  return total;
}

void update_prices(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                   std::span<Shard> mine) {
  const std::size_t types = valuation.instance().cluster.gpu_types.size();
  std::vector<double> price(types, std::numeric_limits<double>::infinity());
  const auto lower = [&](std::span<const double> other) {
    for (std::size_t t = 0; t < types; ++t) price[t] = std::min(price[t], other[t]);
  };
  for (const Shard& shard : mine) lower(solver::marginal_prices(shard));
  const std::vector<double> all = comm.all_gather_varying<double>(price);
  for (std::size_t at = 0; at + types <= all.size() && types > 0; at += types) {
    lower(std::span(all).subspan(at, types));
  }
  for (Shard& shard : mine) shard.update_prices(price);
}

}  // namespace berth::coordinator
