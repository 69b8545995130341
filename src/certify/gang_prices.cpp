// SPDX-License-Identifier: Apache-2.0
#include "gang_prices.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace berth::certify {

using model::Level;

bool takes_whole_machines(const model::InstanceView& instance, ShapeId shape, GpuTypeId type) {
  const model::Shape& s = instance.workload.shape(shape);
  return s.gpus > 0 && std::ranges::all_of(instance.cluster.classes, [&](const auto& c) {
           return c.gpu_type != type || c.gpus <= s.gpus;
         });
}

GangPrices::GangPrices(const model::InstanceView& instance, const PriceTable& price_table,
                       const model::Certificate& certificate)
    : instance_(instance) {
  for (const model::Certificate::GangPrice& price : certificate.gangs) {
    std::optional<Int128> least;
    for (const PricedPool& pool : price_table.pools()) {
      if (pool.type != price.gpu_type) continue;
      const Int128 paid = price_table.limits_of_task(pool, price.shape);
      least = least ? std::min(*least, paid) : paid;
    }
    gangs_.push_back({price, least.value_or(0) * price.tasks});
  }
}

/// The job's gang, if it has a price and the job is worth more in a rack of the type than wider.
const GangPrices::Gang* GangPrices::find(const model::Job& job, const JobValue& worth,
                                         GpuTypeId type) const {
  if (gangs_.empty() || job.domain < Level::rack || job.home_rack.valid() || job.home_pod.valid()) {
    return nullptr;
  }
  const model::WorkloadView& workload = instance_.workload;
  const auto groups = workload.groups_of(job);
  if (groups.size() != 1 || workload.rules_of(job).exclusive) return nullptr;
  const auto at = std::ranges::find_if(gangs_, [&](const Gang& g) {
    return g.price.gpu_type == type && g.price.shape == groups.front().shape &&
           g.price.tasks == groups.front().count;
  });
  if (at == gangs_.end()) return nullptr;
  const double in_rack = worth.at(type, Level::rack, Level::machine);
  for (const Level wider : {Level::pod, Level::cluster}) {
    if (wider <= job.domain && worth.at(type, wider, Level::machine) >= in_rack) return nullptr;
  }
  return &*at;
}

std::optional<Int128> GangPrices::price(const model::Job& job, const JobValue& worth,
                                        GpuTypeId type) const {
  const Gang* gang = find(job, worth, type);
  if (gang == nullptr) return std::nullopt;
  return gang->price.price;
}

std::optional<Int128> GangPrices::least_cost(const model::Job& job, const JobValue& worth,
                                             GpuTypeId type) const {
  const Gang* gang = find(job, worth, type);
  if (gang == nullptr) return std::nullopt;
  return gang->price.price + gang->limits;
}

namespace {

using GangPrice = model::Certificate::GangPrice;

/// The largest sums of prices of gangs on machines of one type.
class GangSums {
 public:
  /// @param gangs  all; those of other types are left out
  GangSums(std::span<const GangPrice> gangs, GpuTypeId type, std::int64_t most_machines)
      : sums_(static_cast<std::size_t>(most_machines) + 1, 0) {
    for (std::size_t n = 1; n < sums_.size(); ++n) {
      sums_[n] = sums_[n - 1];
      for (const GangPrice& gang : gangs) {
        const auto tasks = static_cast<std::size_t>(gang.tasks);
        if (gang.gpu_type != type || tasks > n) continue;
        sums_[n] = std::max(sums_[n], sums_[n - tasks] + gang.price);
      }
    }
  }

  /// What gangs pay at most on some of these machines, less what their devices earn otherwise.
  [[nodiscard]] Int128 gain(std::vector<Int128> earned) const {
    std::ranges::sort(earned);
    Int128 gain = 0, lost = 0;
    for (std::size_t n = 0; n < earned.size(); ++n) {
      lost += earned[n];
      gain = std::max(gain, sums_[n + 1] - lost);
    }
    return gain;
  }

 private:
  std::vector<Int128> sums_;  ///< by number of machines; any number of gangs of each kind
};

/// What the free devices of single machines earn.
class DeviceEarnings {
 public:
  DeviceEarnings(const PriceTable& price_table, const MachineProfitBound& worth)
      : price_table_(price_table), worth_(worth) {}

  /// Of all machines of the rack and type that have so many devices, all of them free.
  /// @param stays  of the rack
  std::vector<Int128> of_rack(RackId rack, GpuTypeId type, std::int64_t devices,
                              std::span<const MachineGain> stays) {
    std::vector<Int128> earned;
    for (const PricedPool& pool : price_table_.in_rack(rack)) {
      const MachineVariant& variant = price_table_.variants()[pool.variant];
      if (pool.type != type || !variant.up || variant.whole != devices) continue;
      const Int128 alone = of_machine(pool);
      std::int64_t others = pool.machines;
      for (const MachineGain& stay : stays) {
        if (&price_table_.at(stay.machine) != &pool) continue;
        earned.push_back(alone + stay.amount);
        --others;
      }
      earned.insert(earned.end(), static_cast<std::size_t>(others), alone);
    }
    return earned;
  }

 private:
  Int128 of_machine(const PricedPool& pool) {
    const auto [at, fresh] = known_.try_emplace({pool.variant, pool.price}, 0);
    if (fresh) at->second = std::max<Int128>(0, worth_(pool) - worth_.beyond_devices(pool));
    return at->second;
  }

  const PriceTable& price_table_;
  const MachineProfitBound& worth_;
  std::map<std::pair<VariantId, UnitPrices>, Int128> known_;
};

std::int64_t most_machines_of_a_rack(const PriceTable& price_table) {
  std::int64_t most = 0;
  for (std::size_t r = 0; r < price_table.racks(); ++r) {
    std::int64_t machines = 0;
    for (const PricedPool& pool : price_table.in_rack(RackId(r))) machines += pool.machines;
    most = std::max(most, machines);
  }
  return most;
}

}  // namespace

std::vector<GangPrices::RackGain> GangPrices::gains(const PriceTable& price_table,
                                                    const MachineProfitBound& worth,
                                                    std::span<const MachineGain> stays) const {
  if (gangs_.empty()) return {};
  std::vector<GangPrice> prices;
  std::map<GpuTypeId, std::int64_t> devices;  // of a machine that holds gangs, by type
  for (const Gang& g : gangs_) {
    prices.push_back(g.price);
    devices[g.price.gpu_type] = instance_.workload.shape(g.price.shape).gpus;
  }
  const std::int64_t machines = most_machines_of_a_rack(price_table);
  std::vector<std::tuple<GpuTypeId, std::int64_t, GangSums>> types;
  for (const auto& [type, gpus] : devices) {
    types.emplace_back(type, gpus, GangSums(prices, type, machines));
  }
  DeviceEarnings earnings(price_table, worth);
  std::vector<RackGain> gains;
  for (std::size_t r = 0; r < price_table.racks(); ++r) {
    const auto elsewhere = [&](const MachineGain& stay) {
      return price_table.at(stay.machine).rack != RackId(r);
    };
    const auto next = std::ranges::find_if(stays, elsewhere);
    const auto here = stays.first(static_cast<std::size_t>(next - stays.begin()));
    stays = stays.subspan(here.size());
    for (const auto& [type, gpus, sums] : types) {
      const Int128 gain = sums.gain(earnings.of_rack(RackId(r), type, gpus, here));
      if (gain > 0) gains.push_back({type, gain});
    }
  }
  return gains;
}

}  // namespace berth::certify
