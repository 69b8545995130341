// SPDX-License-Identifier: Apache-2.0
#include "horizon_rents.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "berth/base/error.hpp"

namespace berth::certify {
namespace {

using horizon::kRentUnit;
using horizon::Option;
using horizon::Problem;
using horizon::Seconds;

/// Sums of rents stay below it.
constexpr Int128 kLargestSum = static_cast<Int128>(1) << 122;
constexpr Int128 kDoubled = 2 * Int128{kRentUnit};  ///< twice, in units of rents
constexpr const char* kTooLarge = "rents are beyond 128 bits";

void expect_rent(bool holds, const char* why) {
  if (!holds) throw InputError({}, std::string("prices of the horizon: ") + why);
}

}  // namespace

HorizonRents::HorizonRents(const Problem& problem, const horizon::PriceCertificate& certificate,
                           std::span<const std::uint8_t> counts)
    : problem_(problem),
      costs_(problem, certificate.shares, counts),
      sizes_(problem, certificate.sizes),
      multiples_(problem, certificate.multiples) {
  if (!certificate.nodes.empty() && certificate.nodes.front() != problem.now) {
    throw InputError({}, "the prices of the horizon do not begin now");
  }
  horizon::PriceCertificate all = certificate;  // quotas without prices cost nothing
  const std::size_t count = problem.curves * all.intervals();
  if (multiples_.size() == 0 && all.starts.size() == count && all.slopes.size() == count) {
    all.starts.resize(count + problem.quotas.size() * all.intervals(), 0);
    all.slopes.resize(all.starts.size(), 0);
  }
  for (std::size_t c = 0; c < problem.curves + problem.quotas.size() + multiples_.size(); ++c) {
    curves_.emplace_back(all, c);
  }
  add_budgets(certificate);
  expect_small();
}

/// A budget has one price on the intervals that end before it does.
void HorizonRents::add_budgets(const horizon::PriceCertificate& certificate) {
  budget_prices_.assign(certificate.budgets.begin(), certificate.budgets.end());
  budget_prices_.resize(problem_.budgets.size(), 0);
  horizon::PriceCertificate one{.nodes = certificate.nodes, .starts = {}, .slopes = {}};
  one.slopes.assign(one.intervals(), 0);
  for (std::size_t b = 0; b < budget_prices_.size(); ++b) {
    const Int128 price = b < problem_.budgets.size() ? budget_prices_[b] : -1;
    expect_rent(price >= 0, "a price is negative, or of no budget");
    expect_rent(price == 0 || problem_.budgets[b] <= kLargestSum / kDoubled / price, kTooLarge);
    one.starts.assign(one.intervals(), 0);
    for (std::size_t k = 0; k < one.intervals(); ++k) {
      if (one.nodes[k + 1] <= problem_.budgets_end)
        one.starts[k] = static_cast<std::int64_t>(price);
    }
    budgets_.emplace_back(one, 0);
  }
}

void HorizonRents::expect_small() const {
  Int128 rents = 0, longest = 1;
  for (const auto& job : problem_.jobs) {
    for (const Option& option : problem_.options_of(job)) {
      const auto limits = static_cast<Int128>(option.quotas.size() + option.budgets.size());
      rents += option.rent + limits * horizon::rent_of_gpus(option.gpus, option.share_milli);
    }
  }
  for (const auto& machine : problem_.machines) rents += kRentUnit * machine.gpus;
  for (const auto& pool : problem_.pools) {
    for (const auto& step : pool.worth) rents += std::max<Int128>(0, step.gpus);
  }
  for (const auto* of : {&curves_, &budgets_}) {
    for (const IntegerCurve& curve : *of) {
      longest = std::max(longest, curve.intervals().back().doubled_integral);
    }
  }
  if (sizes_.any()) rents *= GangSizes::kMostGpus;
  rents *= static_cast<Int128>(multiples_.size()) + 1;
  expect_rent(rents <= kLargestSum / longest, kTooLarge);
}

Int128 HorizonRents::of_steps(const IntegerCurve& curve,
                              const std::vector<horizon::CapacityStep>& steps) const {
  const Int128 end = curve.intervals().back().doubled_integral;
  Int128 sum = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const bool last = s + 1 == steps.size();
    const Int128 until = last ? end : curve.doubled_integral(steps[s + 1].from);
    sum += std::max<Int128>(0, steps[s].gpus) * (until - curve.doubled_integral(steps[s].from));
  }
  return sum;
}

/// GPUs of machines in pools without a worth, less what outages close.
Int128 HorizonRents::of_machines() const {
  const auto by_gpus = [&](const horizon::Machine& machine) {
    const horizon::Pool& pool = problem_.pools[machine.pool.index()];
    return pool.worth.empty() && !sizes_.given(pool.curve.index());
  };
  Int128 sum = 0;
  for (const auto& machine : problem_.machines) {
    if (!by_gpus(machine)) continue;
    const IntegerCurve& curve = curves_[problem_.pools[machine.pool.index()].curve.index()];
    sum += machine.gpus * curve.intervals().back().doubled_integral;
  }
  std::map<MachineId, std::vector<const horizon::Outage*>> by_machine;
  for (const auto& outage : problem_.outages) by_machine[outage.machine].push_back(&outage);
  for (const auto& [machine, outages] : by_machine) {
    if (!by_gpus(problem_.machines[machine.index()])) continue;
    const auto& pool = problem_.pools[problem_.machines[machine.index()].pool.index()];
    const IntegerCurve& curve = curves_[pool.curve.index()];
    std::vector<Seconds> times;
    for (const auto* o : outages) times.insert(times.end(), {o->from, o->to});
    std::ranges::sort(times);
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      std::uint64_t closed = 0;
      for (const auto* o : outages) {
        if (o->from <= times[i] && times[i + 1] <= o->to) closed |= o->devices;
      }
      sum -= std::popcount(closed) *
             (curve.doubled_integral(times[i + 1]) - curve.doubled_integral(times[i]));
    }
  }
  return sum;
}

/// Pools of curves with sizes, at the best fill of what outages leave.
Int128 HorizonRents::of_sizes() const {
  Int128 sum = 0;
  for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
    const std::size_t curve = problem_.pools[p].curve.index();
    if (!sizes_.given(curve)) continue;
    std::vector<horizon::CapacityStep> steps = free_gpus(problem_, PoolId(p));
    for (auto& step : steps) step.gpus = sizes_.worth(curve, step.gpus);
    sum += of_steps(curves_[curve], steps);
  }
  return sum;
}

Int128 HorizonRents::of_multiples() const {
  Int128 sum = 0;
  for (std::size_t m = 0; m < multiples_.size(); ++m) {
    for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
      sum += kRentUnit * of_steps(curve_of_multiple(m), multiples_.capacity(m, PoolId(p)));
    }
  }
  return sum;
}

Int128 HorizonRents::doubled_capacity_cost() const {
  Int128 sum = kRentUnit * of_machines();
  for (const auto& pool : problem_.pools) {
    if (!sizes_.given(pool.curve.index())) {
      sum += of_steps(curves_[pool.curve.index()], pool.worth);
    }
  }
  sum += of_sizes() + of_multiples();
  for (std::size_t q = 0; q < problem_.quotas.size(); ++q) {
    sum += kRentUnit * of_steps(curves_[problem_.curves + q], problem_.quotas[q]);
  }
  for (std::size_t b = 0; b < budget_prices_.size(); ++b) {
    const auto budget = std::max<Int128>(0, problem_.budgets[b]);
    if (!budgets_[b].free()) sum += kDoubled * budget * budget_prices_[b];
  }
  return sum;
}

Int128 HorizonRents::doubled_least(const horizon::Job& job, std::size_t index,
                                   std::size_t curve) const {
  const Option& option = problem_.options[index];
  const StartRange starts{
      .earliest = std::max(job.release, problem_.now),
      .latest = job.deadline >= horizon::kNever ? horizon::kNever : job.deadline - option.duration,
      .duration = option.duration};
  const std::int64_t rent = sizes_.given(curve) ? sizes_.rent(curve, option.gpus) : option.rent;
  std::vector<IntegerCurve::Part> parts{{&curves_[curve], rent}};
  const auto add = [&](const IntegerCurve& limit) {
    if (!limit.free()) {
      parts.push_back({&limit, horizon::rent_of_gpus(option.gpus, option.share_milli)});
    }
  };
  for (const std::int32_t q : problem_.quotas_of(option)) {
    add(curves_[problem_.curves + static_cast<std::size_t>(q)]);
  }
  for (std::size_t m = 0; m < multiples_.size(); ++m) {
    const horizon::Gpus gpus = multiples_.counted(m, curve, option);
    const IntegerCurve& price = curve_of_multiple(m);
    if (gpus > 0 && !price.free()) parts.push_back({&price, Int128{kRentUnit} * gpus});
  }
  for (const std::int32_t b : problem_.budgets_of(option)) {
    add(budgets_[static_cast<std::size_t>(b)]);
  }
  const std::span<const IntegerCost> cost = costs_.of(index);
  if (parts.size() == 1) return doubled_least_cost(parts[0], cost, starts, kNoStart);
  const IntegerCurve sum = IntegerCurve::sum(parts);
  return doubled_least_cost({&sum, 1}, cost, starts, kNoStart);
}

Int128 HorizonRents::doubled_least(const horizon::Job& job) const {
  Int128 least = job.required ? kNoStart : 0;
  for (auto k = static_cast<std::size_t>(job.options.begin);
       k < static_cast<std::size_t>(job.options.end); ++k) {
    std::int32_t done = -1;
    for (const PoolId pool : problem_.pools_of(problem_.options[k])) {
      const horizon::CurveId curve = problem_.pools[pool.index()].curve;
      if (curve.value() == done) continue;  // pools of a curve are neighbours: one evaluation
      done = curve.value();
      least = std::min(least, doubled_least(job, k, curve.index()));
    }
  }
  return least;
}

}  // namespace berth::certify
