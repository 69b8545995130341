// SPDX-License-Identifier: Apache-2.0
#include "nic_prices.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/certify/bound.hpp"
#include "berth/model/pools.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;

constexpr int kDoublings = 24;
constexpr int kSections = 14;       ///< leave less than a thousandth of the bracket
constexpr double kStart = 0x1p-10;  ///< of the price at which the NICs alone are worth the bound
constexpr double kGolden = 0.6180339887498949;

bool limited(const model::MachineClass& c) {
  return c.nic_mbps != model::kNoLimit && c.nic_mbps > 0;
}

/// One number of the certificate, in one place or several; the rest of it stays as it is.
class OnePrice {
 public:
  OnePrice(const model::Instance& instance, model::Objective objective,
           const Certificate& certificate, std::vector<std::int64_t*> places)
      : instance_(&instance),
        objective_(objective),
        certificate_(&certificate),
        places_(std::move(places)) {}

  void set(std::int64_t price) {
    for (std::int64_t* place : places_) *place = price;
  }
  /// The bound at this price, before it is rounded or compared with others.
  Int128 at(std::int64_t price) {
    set(price);
    if (!certify::unusable(*instance_, objective_, *certificate_).empty()) return kTooLarge;
    const certify::Bound b = certify::upper_bound(*instance_, objective_, *certificate_, {});
    return b.machines + b.jobs + b.shared;
  }

 private:
  static constexpr Int128 kTooLarge = Int128{1} << 126;

  const model::Instance* instance_;
  model::Objective objective_;
  const Certificate* certificate_;
  std::vector<std::int64_t*> places_;
};

/// The best price found by a golden section of [low, high].
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

/// Sets the price to the best one. @param nic  Mbit/s that it is for
void improve(OnePrice& price, double nic, const StopToken& stop) {
  const Int128 without = price.at(0);
  const auto start = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(kStart * static_cast<double>(without) / nic));
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

/// Entries for all pools and all classes of which the NIC has a limit.
void list_all(const model::Cluster& cluster, Certificate& certificate) {
  for (const model::Pool& pool : model::make_pools(cluster, certificate.level).pools) {
    if (!limited(cluster.classes[pool.machine_class.index()])) continue;
    const bool listed = std::ranges::any_of(certificate.pools, [&](const auto& p) {
      return p.pod == pool.pod && p.rack == pool.rack && p.machine_class == pool.machine_class;
    });
    if (listed) continue;
    certificate.pools.push_back(
        {.pod = pool.pod, .rack = pool.rack, .machine_class = pool.machine_class});
  }
  for (std::size_t c = 0; c < cluster.classes.size(); ++c) {
    if (!limited(cluster.classes[c])) continue;
    const bool listed = std::ranges::any_of(
        certificate.multipliers, [&](const auto& m) { return m.machine_class == ClassId(c); });
    if (!listed) certificate.multipliers.push_back({.machine_class = ClassId(c)});
  }
}

void drop_empty(Certificate& certificate) {
  std::erase_if(certificate.pools, [](const auto& p) {
    return p.gpu_milli == 0 && p.cpu_milli == 0 && p.memory_mib == 0 && p.nic_mbps == 0;
  });
  std::erase_if(certificate.multipliers, [](const auto& m) {
    return m.cpu_milli == 0 && m.memory_mib == 0 && m.nic_mbps == 0;
  });
}

/// Where the class's NICs have a price: what tasks pay, then what machines charge beyond that.
std::array<std::vector<std::int64_t*>, 2> places(Certificate& certificate, ClassId c) {
  std::array<std::vector<std::int64_t*>, 2> found;
  for (auto& p : certificate.pools) {
    if (p.machine_class == c) found[0].push_back(&p.nic_mbps);
  }
  for (auto& m : certificate.multipliers) {
    if (m.machine_class == c) found[1].push_back(&m.nic_mbps);
  }
  return found;
}

}  // namespace

bool nics_matter(const model::Instance& instance) {
  const bool asked = std::ranges::any_of(instance.workload.shapes,
                                         [](const model::Shape& s) { return s.nic_mbps > 0; });
  return asked && std::ranges::any_of(instance.cluster.classes, limited);
}

Proof price_nics(const model::Instance& instance, model::Objective objective, Proof proof,
                 const StopToken& stop) {
  const model::Cluster& cluster = instance.cluster;
  if (!nics_matter(instance)) return proof;
  Certificate certificate = proof.certificate;
  list_all(cluster, certificate);
  for (std::size_t c = 0; c < cluster.classes.size() && !stop.requested(); ++c) {
    const auto machines = std::ranges::count(cluster.machine_class, ClassId(c));
    if (machines == 0 || !limited(cluster.classes[c])) continue;
    const double nic =
        static_cast<double>(machines) * static_cast<double>(cluster.classes[c].nic_mbps);
    for (auto& some : places(certificate, ClassId(c))) {
      OnePrice price(instance, objective, certificate, std::move(some));
      improve(price, nic, stop);
    }
  }
  drop_empty(certificate);
  return tightest(instance, objective, {std::move(proof.certificate), std::move(certificate)});
}

}  // namespace berth::pipeline
