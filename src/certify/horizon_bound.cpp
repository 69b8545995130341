// SPDX-License-Identifier: Apache-2.0
#include "horizon_prices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "berth/base/error.hpp"
#include "berth/base/infinity.hpp"
#include "berth/certify/horizon.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using horizon::Option;
using horizon::Problem;
using horizon::Seconds;

/// More than any doubled cost: the least cost of a job that cannot run.
constexpr Int128 kNone = static_cast<Int128>(1) << 126;

/// Twice the integral of price x GPUs of all pools, without what outages close.
Int128 doubled_capacity_cost(const Problem& problem, const std::vector<IntegerCurve>& curves) {
  Int128 sum = 0;
  for (const auto& machine : problem.machines) {
    const IntegerCurve& curve = curves[problem.pools[machine.pool.index()].curve.index()];
    sum += machine.gpus * curve.intervals().back().doubled_integral;
  }
  std::map<MachineId, std::vector<const horizon::Outage*>> by_machine;
  for (const auto& outage : problem.outages) by_machine[outage.machine].push_back(&outage);
  for (const auto& [machine, outages] : by_machine) {
    const auto& pool = problem.pools[problem.machines[machine.index()].pool.index()];
    const IntegerCurve& curve = curves[pool.curve.index()];
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

/// Twice the least cost of a job over its options and their curves; kNone when it cannot run.
Int128 doubled_least(const Problem& problem, const horizon::Job& job,
                     const std::vector<IntegerCurve>& curves) {
  Int128 least = job.required ? kNone : 0;
  for (const Option& option : problem.options_of(job)) {
    std::int32_t done = -1;
    for (const PoolId pool : problem.pools_of(option)) {
      const horizon::CurveId curve = problem.pools[pool.index()].curve;
      if (curve.value() == done) continue;  // pools of a curve are neighbours: one evaluation
      done = curve.value();
      least =
          std::min(least, doubled_least_cost(curves[curve.index()], problem, job, option, kNone));
    }
  }
  return least;
}

/// Cost of a placed job, rounded up.
Int128 placed_cost(const Problem& problem, const horizon::Job& job,
                   const horizon::JobStart& start) {
  const Option& option = problem.options_of(job)[static_cast<std::size_t>(start.option)];
  const auto pieces = problem.cost_of(option);
  const Seconds completion = start.start + option.duration;
  std::size_t i = pieces.size() - 1;
  while (i > 0 && pieces[i].after >= completion) --i;
  const IntegerCost cost = integer_cost(pieces[i], Rounding::up);
  return cost.cost + cost.slope * (completion - cost.after);
}

/// x 2^-bits as a double not above (below) the exact number.
double to_double(Int128 x, int bits, Rounding rounding) {
  double result = std::ldexp(static_cast<double>(x), -bits);
  const auto beyond = [&] {
    const auto back = static_cast<Int128>(std::ldexp(result, bits));
    return rounding == Rounding::down ? back > x : back < x;
  };
  while (beyond())
    result = std::nextafter(result, rounding == Rounding::down ? -kInfinity : kInfinity);
  return result;
}

std::vector<IntegerCurve> integer_curves(const Problem& problem,
                                         const horizon::PriceCertificate& certificate) {
  if (!certificate.nodes.empty() && certificate.nodes.front() != problem.now) {
    throw InputError({}, "the prices of the horizon do not begin now");
  }
  std::vector<IntegerCurve> curves;
  for (std::size_t c = 0; c < problem.curves; ++c) curves.emplace_back(certificate, c);
  return curves;
}

}  // namespace

HorizonProof prove_horizon(const Problem& problem, const horizon::Plan& plan,
                           const horizon::PriceCertificate& certificate) {
  if (plan.starts.size() != problem.jobs.size()) {
    throw InputError({}, "the horizon plan does not have one entry a job");
  }
  const std::vector<IntegerCurve> curves = integer_curves(problem, certificate);
  std::vector<Int128> least(problem.jobs.size(), 0);
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    if (problem.jobs[j].required && !plan.starts[j].placed()) return;  // counts on neither side
    least[j] = doubled_least(problem, problem.jobs[j], curves);
  });
  HorizonProof proof;
  Int128 objective = 0, bound = -doubled_capacity_cost(problem, curves);
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (plan.starts[j].placed()) {
      objective += placed_cost(problem, problem.jobs[j], plan.starts[j]);
    } else if (problem.jobs[j].required) {
      proof.required_missing.emplace_back(j);
    }
    bound += least[j];
  }
  proof.objective = to_double(objective, horizon::kPriceFractionBits, Rounding::up);
  proof.bound = to_double(bound, horizon::kPriceFractionBits + 1, Rounding::down);
  const double larger = std::max(std::abs(proof.objective), std::abs(proof.bound));
  proof.gap = (proof.objective - proof.bound) / std::max(larger, 1e-12);
  return proof;
}

bool refutes_makespan(const Problem& problem, Seconds end,
                      const horizon::PriceCertificate& certificate) {
  const std::vector<IntegerCurve> curves = integer_curves(problem, certificate);
  Problem rents = problem;  // costs 0, every job to complete by `end`
  rents.cost_pieces.assign(1, {.after = problem.now, .cost = 0.0, .slope = 0.0});
  for (auto& option : rents.options) option.cost = {0, 1};
  Int128 excess = -doubled_capacity_cost(problem, curves);
  for (auto& job : rents.jobs) {
    job.deadline = std::min(job.deadline, end);
    job.required = true;
    const Int128 least = doubled_least(rents, job, curves);
    if (least == kNone) return true;
    excess += least;
  }
  return excess > 0;
}

}  // namespace berth::certify
