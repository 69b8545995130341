// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/gap_parts.hpp"

#include "contents.hpp"
#include "exact.hpp"
#include "job_best.hpp"
#include "machine_worth.hpp"
#include "tariff.hpp"
#include "tree.hpp"
#include "worth.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"

namespace berth::certify {
namespace {

using model::BoundBasis;
using model::GapParts;
using model::Instance;

/// Jobs of up to so many GPUs: the next power of two; 0 without GPUs.
std::int64_t size_class(const Instance& instance, const model::Job& job) {
  const std::int64_t milli = milli_of(instance.workload, job);
  if (milli == 0) return 0;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>((milli + 999) / 1000)));
}

/// Adds up regrets and idle capacity in the certificate's fixed point.
class Ledger {
 public:
  Ledger(const Instance& instance, int scale_log2)
      : instance_(&instance), scale_(scale_log2), idle_(instance.cluster.gpu_types.size() + 1, 0) {}

  void regret(std::size_t job, Int128 amount) {
    if (amount == 0) return;
    auto& entry = regret_[size_class(*instance_, instance_->workload.jobs[job])];
    ++entry.jobs;
    entry.amount += amount;
  }
  void idle(GpuTypeId type, Int128 amount) {
    idle_[type.valid() ? type.index() : idle_.size() - 1] += amount;
  }

  void quotas(Int128 amount) { quotas_ += amount; }
  void links(Int128 amount) { links_ += amount; }
  void leaves(Int128 amount) { leaves_ += amount; }

  [[nodiscard]] GapParts parts(BoundBasis basis, double whole) const {
    GapParts result{.basis = basis,
                    .regret = {},
                    .idle = {},
                    .quotas = real(quotas_),
                    .links = real(links_),
                    .leaves = real(leaves_),
                    .rounding = whole};
    result.rounding -= result.quotas + result.links + result.leaves;
    for (const auto& [gpus, entry] : regret_) {
      result.regret.push_back({gpus, entry.jobs, real(entry.amount)});
      result.rounding -= result.regret.back().amount;
    }
    const auto& types = instance_->cluster.gpu_types;
    for (std::size_t t = 0; t < idle_.size(); ++t) {
      if (idle_[t] == 0) continue;
      result.idle.push_back({t < types.size() ? std::string(types[t]) : "", real(idle_[t])});
      result.rounding -= result.idle.back().amount;
    }
    return result;
  }

 private:
  struct Entry {
    std::int64_t jobs = 0;
    Int128 amount = 0;
  };

  [[nodiscard]] double real(Int128 amount) const {
    return std::ldexp(static_cast<double>(amount), -scale_);
  }

  const Instance* instance_;
  int scale_;
  std::map<std::int64_t, Entry> regret_;
  Int128 quotas_ = 0, links_ = 0, leaves_ = 0;
  std::vector<Int128> idle_;  ///< by GPU type, machines without GPUs last
};

BoundBasis basis_of(const Bound& bound, model::Objective kind) {
  const Int128 by_prices = bound.machines + bound.shared + bound.jobs;
  const Int128 least = std::min(by_prices, bound.zero_price);
  if (kind == model::Objective::allocate && bound.capacity < least) return BoundBasis::capacity;
  return by_prices <= bound.zero_price ? BoundBasis::prices : BoundBasis::values;
}

/// What the tasks of a placed job pay; told by machine to `paid`.
template <class Paid>
Int128 cost_of(const Instance& instance, const Tariff& tariff, const model::JobPlacement& placed,
               const Paid& paid) {
  const auto groups = instance.workload.groups_of(instance.workload.jobs[placed.job.index()]);
  Int128 total = 0;
  for (const model::TaskPlacement& task : placed.tasks) {
    const Stock& stock = tariff.at(task.machine);
    const Int128 price = tariff.task(stock, groups[task.group].shape);
    paid(stock.type, price);
    total += price;
  }
  return total;
}

/// Beyond being stopped.
Int128 worth_of(const Instance& instance, model::Objective kind, const model::JobPlacement& placed,
                int scale) {
  const Reach r = reach(instance, placed);
  const JobWorth worth(instance, kind, instance.workload.jobs[placed.job.index()]);
  Int128 gain =
      fixed_up(worth.at(r.type, r.width, r.distance), scale) + fixed_down(worth.stop_cost(), scale);
  if (!stays(instance.workload, placed)) gain -= fixed_down(worth.move_cost(), scale);
  return gain;
}

/// What all machines could earn at the leaf, by GPU type. Returns the sum over devices.
Int128 add_machines(const Instance& instance, model::Objective kind,
                    const model::Certificate& certificate, const Spots& spots, const Leaf& leaf,
                    const Tariff& tariff, Ledger& ledger) {
  std::vector<bool> own_price(instance.workload.jobs.size(), false);
  for (const auto& j : certificate.jobs) own_price[j.job.index()] = true;
  const MachineWorth worth(instance, tariff, own_price);
  for (const Stock& pool : tariff.pools()) {
    const Int128 one = certificate.jobs.empty() ? worth(pool) : worth.beyond_devices(pool);
    ledger.idle(pool.type, one * pool.machines);
  }
  Int128 total = 0;
  if (certificate.jobs.empty()) return total;
  const auto most = most_contents(instance, kind, certificate, spots, leaf, tariff, worth);
  for (std::size_t t = 0; t < most.size(); ++t) ledger.idle(GpuTypeId(t), most[t]);
  for (const Int128 m : most) total += m;
  return total;
}

/// @param devices  what devices and prices of jobs add up to at the largest leaf
void by_prices(const Instance& instance, model::Objective kind, const model::Placement& placement,
               const model::Certificate& certificate, Int128 devices, Ledger& ledger) {
  const int scale = certificate.scale_log2;
  const Tariff tariff(instance, certificate);
  const Tree tree(instance, certificate, required_placed(instance, placement));
  const Leaf leaf = tree.leaf(tree.leaf_of(instance, placement));
  devices -= add_machines(instance, kind, certificate, tree.spots(), leaf, tariff, ledger);
  for (const auto& j : leaf.prices) devices -= j.price;
  if (!certificate.jobs.empty()) ledger.leaves(devices);  // of one leaf: 0
  ledger.quotas(tariff.tolls().worth(Quotas(instance, kind)));
  ledger.links(tariff.links().worth());
  const auto bests = job_bests(instance, kind, tariff, scale);
  std::vector<Int128> kept(bests.size(), 0);
  for (std::size_t j = 0; j < bests.size(); ++j)
    kept[j] = std::max<Int128>(0, bests[j].net.value_or(0));
  for (const auto& j : certificate.jobs) kept[j.job.index()] = 0;
  for (const auto& j : leaf.prices) kept[j.job.index()] = j.price;
  std::vector<bool> own_price(bests.size(), false);
  for (const auto& j : certificate.jobs) own_price[j.job.index()] = true;
  for (const model::JobPlacement& p : placement) {
    const std::size_t j = p.job.index();
    const Int128 quota = tariff.tolls().of(instance.workload.jobs[j]);
    const Int128 link = tariff.links().toll(instance.workload.jobs[j], p.tasks);
    ledger.quotas(-quota);
    ledger.links(-link);
    const Int128 worth = worth_of(instance, kind, p, scale) - quota - link;
    if (own_price[j]) {
      ledger.idle(reach(instance, p).type, kept[j] - worth);
      kept[j] = 0;
      continue;
    }
    if (instance.workload.jobs[j].required && bests[j].net) kept[j] = *bests[j].net;
    const auto paid = [&](GpuTypeId type, Int128 price) { ledger.idle(type, -price); };
    kept[j] -= worth - cost_of(instance, tariff, p, paid);
  }
  for (std::size_t j = 0; j < kept.size(); ++j) ledger.regret(j, kept[j]);
}

/// Nothing is scarce: what jobs miss of their best.
void by_values(const Instance& instance, model::Objective kind, const model::Placement& placement,
               const model::Certificate& certificate, Ledger& ledger) {
  const int scale = certificate.scale_log2;
  const auto bests = job_bests(instance, kind, Tariff(instance, certificate), scale);
  std::vector<Int128> missed(bests.size(), 0);
  for (std::size_t j = 0; j < bests.size(); ++j) {
    missed[j] = std::max<Int128>(0, bests[j].gross.value_or(0));
  }
  for (const model::JobPlacement& p : placement) {
    const auto& best = bests[p.job.index()];
    if (instance.workload.jobs[p.job.index()].required && best.gross)
      missed[p.job.index()] = *best.gross;
    missed[p.job.index()] -= worth_of(instance, kind, p, scale);
  }
  for (std::size_t j = 0; j < missed.size(); ++j) ledger.regret(j, missed[j]);
}

/// GPU thousandths that no task asked for.
void by_capacity(const Instance& instance, const model::Placement& placement, int scale,
                 Ledger& ledger) {
  const model::Cluster& cluster = instance.cluster;
  const auto class_of = [&](MachineId m) -> const model::MachineClass& {
    return cluster.classes[cluster.machine_class[m.index()].index()];
  };
  const Kinds kinds(cluster);
  for (std::size_t m = 0; m < cluster.machine_class.size(); ++m) {
    const Kind& kind = kinds[kinds.of(MachineId(m))];
    ledger.idle(kind.type, fixed_up(static_cast<double>(kind.free_milli()), scale));
  }
  for (const model::JobPlacement& p : placement) {
    const auto groups = instance.workload.groups_of(instance.workload.jobs[p.job.index()]);
    for (const model::TaskPlacement& task : p.tasks) {
      const model::Shape& s = instance.workload.shapes[groups[task.group].shape.index()];
      const auto milli = static_cast<double>(std::int64_t{1000} * s.gpus + s.gpu_milli);
      if (milli > 0.0) ledger.idle(class_of(task.machine).gpu_type, -fixed_up(milli, scale));
    }
  }
}

}  // namespace

GapParts gap_parts(const Instance& instance, model::Objective kind,
                   const model::Placement& placement, const model::Certificate& certificate,
                   const model::Figures& figures) {
  return gap_parts(instance, kind, placement, certificate, figures,
                   upper_bound(instance, kind, certificate, required_placed(instance, placement)));
}

GapParts gap_parts(const Instance& instance, model::Objective kind,
                   const model::Placement& placement, const model::Certificate& certificate,
                   const model::Figures& figures, const Bound& bound) {
  const BoundBasis basis = basis_of(bound, kind);
  Ledger ledger(instance, certificate.scale_log2);
  ledger.quotas(Quotas(instance, kind).lost(placement, certificate.scale_log2));
  switch (basis) {
    case BoundBasis::prices:
      by_prices(instance, kind, placement, certificate, bound.leaf, ledger);
      break;
    case BoundBasis::values:
      by_values(instance, kind, placement, certificate, ledger);
      break;
    case BoundBasis::capacity:
      by_capacity(instance, placement, certificate.scale_log2, ledger);
      break;
  }
  return ledger.parts(basis, figures.upper_bound - figures.objective);
}

}  // namespace berth::certify
