// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/market.hpp"

#include "assignment/assignment_dual.hpp"
#include "assignment/pool_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "berth/base/random.hpp"
#include "berth/planner_model/option_enumerator.hpp"
#include "berth/planner_model/task_profile.hpp"

namespace berth::solver {
namespace {

std::size_t most_gpus(const model::Cluster& cluster) {
  std::int32_t most = 0;
  for (const model::MachineClass& c : cluster.classes) most = std::max(most, c.gpus);
  return static_cast<std::size_t>(most);
}

void add_machine(Supply& supply, std::size_t pool, std::int64_t milli, std::size_t whole) {
  supply.milli[pool] += milli;
  for (std::size_t k = 1; k <= whole; ++k) {
    supply.tasks[k * supply.pools + pool] += static_cast<std::int64_t>(whole / k);
  }
}

Supply empty_supply(std::size_t pools, std::size_t most) {
  return {.pools = pools,
          .milli = std::vector<std::int64_t>(pools, 0),
          .tasks = std::vector<std::int64_t>((most + 1) * pools, 0)};
}

}  // namespace

Supply full_supply(const model::Cluster& cluster, const planner_model::Pools& pools) {
  Supply supply = empty_supply(pools.size(), most_gpus(cluster));
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const model::FreeMachine machine(cluster, MachineId(m));
    add_machine(supply, pools.pool_of(MachineId(m)).index(), machine.milli(),
                static_cast<std::size_t>(machine.whole_count()));
  }
  return supply;
}

Supply free_supply(const planner_model::Pools& pools, const planner_model::Room& room,
                   std::span<const MachineId> machines) {
  std::size_t most = 0;
  for (const MachineId m : machines) most = std::max(most, room.devices(m).size());
  Supply supply = empty_supply(pools.size(), most);
  for (const MachineId m : machines) {
    add_machine(supply, pools.pool_of(m).index(), room.free_milli(m),
                static_cast<std::size_t>(room.whole_count(m)));
  }
  return supply;
}

void ValueBands::add(double value, std::int64_t milli) {
  if (!(value > 0.0)) return;
  const int last = static_cast<int>(milli_.size()) - 1;
  const int band = std::clamp(std::ilogb(value) + 1 - kLeastExponent, 0, last);
  milli_[static_cast<std::size_t>(band)] += milli;
}

void ValueBands::add(const ValueBands& other) {
  for (std::size_t e = 0; e < milli_.size(); ++e) milli_[e] += other.milli_[e];
}

double ValueBands::marginal_value(std::int64_t capacity) const {
  const std::int64_t demand = std::accumulate(milli_.begin(), milli_.end(), std::int64_t{0});
  if (demand == 0) return 0.0;
  std::int64_t left = std::clamp(capacity, std::int64_t{0}, demand - demand / 4);
  std::size_t e = milli_.size() - 1;
  for (; e > 0 && milli_[e] <= left; --e) left -= milli_[e];
  while (milli_[e] == 0) ++e;
  return std::ldexp(1.0, static_cast<int>(e) + kLeastExponent);
}

MarketScale MarketScale::with(const MarketScale& other) const {
  ValueBands both = demand;
  both.add(other.demand);
  return {.milli = milli + other.milli,
          .options = std::max(options, other.options),
          .required = std::max(required, other.required),
          .largest_value = std::max(largest_value, other.largest_value),
          .demand = both};
}

std::uint64_t job_kind(const planner_model::Valuation& valuation, JobId id) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::uint64_t kind = planner_model::TaskProfile(workload, workload.job(id)).hash();
  const planner_model::OptionEnumerator options(valuation, id);
  for (const GpuTypeId type : options.types()) {
    kind = mix64(kind ^ static_cast<std::uint64_t>(type.value()));
    kind = mix64(kind ^ std::bit_cast<std::uint64_t>(options.best(type)));
  }
  return kind;
}

struct Market::IndexedDual {
  assignment::PoolIndex pool_index;
  assignment::AssignmentDual dual;

  IndexedDual(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
              std::span<const JobId> jobs, const Supply& supply,
              const planner_model::LimitGroups* limits)
      : pool_index(valuation.instance().cluster, pools),
        dual(valuation, pool_index, jobs, supply, limits) {}
};

Market::Market(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
               std::span<const JobId> jobs, const Supply& supply,
               const planner_model::LimitGroups* limits)
    : dual_(std::make_unique<IndexedDual>(valuation, pools, jobs, supply, limits)) {}
Market::~Market() = default;
Market::Market(Market&&) noexcept = default;

const MarketShape& Market::shape() const { return dual_->dual.shape(); }
std::size_t Market::blocks() const { return dual_->dual.blocks(); }
std::size_t Market::sums_size() const { return dual_->dual.sums_size(); }
MarketScale Market::scale() const { return dual_->dual.scale(); }
void Market::set_scale(const MarketScale& scale) { dual_->dual.set_scale(scale); }

void Market::evaluate(std::span<const double> prices, double eps, std::size_t first_block,
                      std::size_t last_block, std::span<std::int64_t> sums) {
  dual_->dual.evaluate(prices, eps, first_block, last_block, sums);
}

double Market::finish(std::span<const double> prices, std::span<const std::int64_t> sums,
                      std::span<double> gradient) const {
  return dual_->dual.finish(prices, sums, gradient);
}

double Market::dual(std::span<const double> prices, double eps, std::span<double> gradient) {
  return dual_->dual.value(prices, eps, gradient);
}

}  // namespace berth::solver
