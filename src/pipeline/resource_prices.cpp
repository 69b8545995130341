// SPDX-License-Identifier: Apache-2.0
#include "resource_prices.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/certify/bound.hpp"
#include "berth/planner_model/pools.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;

constexpr int kDoublings = 24;  ///< most doublings of the first price; untuned guard
/// Steps of the golden section: leave less than a thousandth of the bracket. Chosen, not tuned.
constexpr int kSections = 14;
/// First trial price, as a share of the price at which the resource alone is worth the bound.
/// Chosen, not tuned.
constexpr double kStart = 0x1p-10;
constexpr double kGolden = 0.6180339887498949;  ///< (sqrt(5) - 1) / 2

bool limited(const model::MachineClass& c, std::size_t resource) {
  return c.capacity[resource] != model::kNoLimit && c.capacity[resource] > 0;
}

/// True when some task needs the resource and some class has a limit of it. False for resources
/// that are not optional: the plan's certificate already has their prices.
bool matters(const model::InstanceView& instance, std::size_t resource) {
  return model::kResourceTable[resource].optional() &&
         std::ranges::any_of(instance.workload.tables().shapes,
                             [&](const model::Shape& s) { return s.needs[resource] > 0; }) &&
         std::ranges::any_of(instance.cluster.classes,
                             [&](const model::MachineClass& c) { return limited(c, resource); });
}

/// One number of the certificate, at one position or several; all other numbers are constant.
class OnePrice {
 public:
  OnePrice(const model::InstanceView& instance, model::Objective objective,
           const Certificate& certificate, std::vector<std::int64_t*> places)
      : instance_(instance),
        objective_(objective),
        certificate_(&certificate),
        places_(std::move(places)) {}

  void set(std::int64_t price) {
    for (std::int64_t* place : places_) *place = price;
  }
  /// The bound at this price, before rounding and before the minimum with other bounds.
  Int128 at(std::int64_t price) {
    set(price);
    if (!certify::unusable(instance_, objective_, *certificate_).empty()) return kTooLarge;
    const certify::Bound b = certify::upper_bound(instance_, objective_, *certificate_, {});
    return b.machines + b.jobs + b.shared;
  }

 private:
  static constexpr Int128 kTooLarge = Int128{1} << 126;  ///< above every bound: price not usable

  model::InstanceView instance_;
  model::Objective objective_;
  const Certificate* certificate_;
  std::vector<std::int64_t*> places_;
};

/// The best price found by a golden section search of [low, high].
std::int64_t section(OnePrice& price, std::int64_t low, std::int64_t high, const StopToken& stop) {
  const auto inner = [&](double share) {
    return low + static_cast<std::int64_t>(share * static_cast<double>(high - low));
  };
  std::int64_t left = inner(1.0 - kGolden), right = inner(kGolden);
  Int128 at_left = price.at(left), at_right = price.at(right);
  for (int i = 0; i < kSections && high - low > 2 && !stop.requested(); ++i) {
    if (at_left <= at_right) {
      high = right, right = left, at_right = at_left;
      at_left = price.at(left = inner(1.0 - kGolden));
    } else {
      low = left, left = right, at_left = at_right;
      at_right = price.at(right = inner(kGolden));
    }
  }
  return at_left <= at_right ? left : right;
}

/// Sets the price to the best one found.
/// @param amount  units of the resource in all machines that have this price
void improve(OnePrice& price, double amount, const StopToken& stop) {
  const Int128 without = price.at(0);
  const auto start = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(kStart * static_cast<double>(without) / amount));
  std::int64_t high = start;
  Int128 least = without;
  for (int i = 0; i < kDoublings && !stop.requested(); ++i) {
    const Int128 now = price.at(high);
    if (now > least) break;
    least = now;
    high *= 2;
  }
  const std::int64_t best = section(price, high == start ? 0 : high / 4, high, stop);
  price.set(price.at(best) < without ? best : 0);
}

/// Adds entries for all pools and all classes with a limit of the resource.
void list_all(const model::Cluster& cluster, std::size_t resource, Certificate& certificate) {
  for (const planner_model::Pool& pool :
       planner_model::make_pools(cluster, certificate.level).pools) {
    if (!limited(cluster.classes[pool.machine_class.index()], resource)) continue;
    const bool listed = std::ranges::any_of(certificate.pools, [&](const auto& p) {
      return p.pod == pool.pod && p.rack == pool.rack && p.machine_class == pool.machine_class;
    });
    if (listed) continue;
    certificate.pools.push_back(
        {.pod = pool.pod, .rack = pool.rack, .machine_class = pool.machine_class});
  }
  for (std::size_t c = 0; c < cluster.classes.size(); ++c) {
    if (!limited(cluster.classes[c], resource)) continue;
    const bool listed = std::ranges::any_of(
        certificate.multipliers, [&](const auto& m) { return m.machine_class == ClassId(c); });
    if (!listed) certificate.multipliers.push_back({.machine_class = ClassId(c)});
  }
}

void drop_empty(Certificate& certificate) {
  std::erase_if(certificate.pools,
                [](const auto& p) { return p.gpu_milli == 0 && p.unit_price.none(); });
  std::erase_if(certificate.multipliers, [](const auto& m) { return m.unit_price.none(); });
}

/// Positions of the prices of the class's resource: those that tasks pay, then the multipliers
/// within the bound of one machine.
std::array<std::vector<std::int64_t*>, 2> places(Certificate& certificate, ClassId c,
                                                 std::size_t resource) {
  std::array<std::vector<std::int64_t*>, 2> found;
  for (auto& p : certificate.pools) {
    if (p.machine_class == c) found[0].push_back(&p.unit_price[resource]);
  }
  for (auto& m : certificate.multipliers) {
    if (m.machine_class == c) found[1].push_back(&m.unit_price[resource]);
  }
  return found;
}

/// Sets the best prices of one resource, class by class; does not change other prices.
void price_resource(const model::InstanceView& instance, model::Objective objective,
                    std::size_t resource, Certificate& certificate, const StopToken& stop) {
  const model::Cluster& cluster = instance.cluster;
  list_all(cluster, resource, certificate);
  for (std::size_t c = 0; c < cluster.classes.size() && !stop.requested(); ++c) {
    const auto machines = std::ranges::count(cluster.machine_class, ClassId(c));
    if (machines == 0 || !limited(cluster.classes[c], resource)) continue;
    const double amount =
        static_cast<double>(machines) * static_cast<double>(cluster.classes[c].capacity[resource]);
    for (auto& some : places(certificate, ClassId(c), resource)) {
      OnePrice price(instance, objective, certificate, std::move(some));
      improve(price, amount, stop);
    }
  }
}

}  // namespace

bool resources_matter(const model::InstanceView& instance) {
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (matters(instance, r)) return true;
  }
  return false;
}

Proof price_resources(const model::InstanceView& instance, model::Objective objective, Proof proof,
                      const StopToken& stop) {
  if (!resources_matter(instance)) return proof;
  Certificate certificate = without_search(proof.certificate);
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (matters(instance, r)) price_resource(instance, objective, r, certificate, stop);
  }
  drop_empty(certificate);
  return tightest(instance, objective, {std::move(proof.certificate), std::move(certificate)});
}

}  // namespace berth::pipeline
