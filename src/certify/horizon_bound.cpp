// SPDX-License-Identifier: Apache-2.0
#include "horizon_prices.hpp"
#include "horizon_rents.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/error.hpp"
#include "berth/base/infinity.hpp"
#include "berth/certify/horizon.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using horizon::Option;
using horizon::Problem;
using horizon::Seconds;

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

}  // namespace

HorizonProof prove_horizon(const Problem& problem, const horizon::Plan& plan,
                           const horizon::PriceCertificate& certificate) {
  if (plan.starts.size() != problem.jobs.size()) {
    throw InputError({}, "the horizon plan does not have one entry a job");
  }
  std::vector<std::uint8_t> counts(problem.jobs.size(), 1);
  for (std::size_t j = 0; j < counts.size(); ++j) {
    if (problem.jobs[j].required && !plan.starts[j].placed()) counts[j] = 0;
  }
  const HorizonRents rents(problem, certificate, counts);
  std::vector<Int128> least(problem.jobs.size(), 0);
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    if (counts[j] == 0) return;  // on neither side
    least[j] = rents.doubled_least(problem.jobs[j]);
  });
  HorizonProof proof;
  Int128 objective = 0, bound = -rents.doubled_capacity_cost();
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    if (plan.starts[j].placed()) {
      objective += placed_cost(problem, problem.jobs[j], plan.starts[j]);
    } else if (problem.jobs[j].required) {
      proof.required_missing.emplace_back(j);
    }
    bound += least[j];
  }
  proof.objective = to_double(objective, horizon::kPriceFractionBits, Rounding::up);
  proof.bound = to_double(bound, kDoubledRentBits, Rounding::down);
  const double larger = std::max(std::abs(proof.objective), std::abs(proof.bound));
  proof.gap = (proof.objective - proof.bound) / std::max(larger, 1e-12);
  return proof;
}

bool refutes_makespan(const Problem& problem, Seconds end,
                      const horizon::PriceCertificate& certificate) {
  Problem until = problem;  // costs 0, every job to complete by `end`
  until.cost_pieces.assign(1, {.after = problem.now, .cost = 0.0, .slope = 0.0});
  for (auto& option : until.options) option.cost = {0, 1};
  for (auto& job : until.jobs) {
    job.deadline = std::min(job.deadline, end);
    job.required = true;
  }
  const HorizonRents rents(until, certificate);
  Int128 excess = -rents.doubled_capacity_cost();
  for (const auto& job : until.jobs) {
    const Int128 least = rents.doubled_least(job);
    if (least == kNoStart) return true;
    excess += least;
  }
  return excess > 0;
}

}  // namespace berth::certify
