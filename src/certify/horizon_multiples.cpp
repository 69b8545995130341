// SPDX-License-Identifier: Apache-2.0
#include "horizon_multiples.hpp"

#include "horizon_sizes.hpp"

#include <algorithm>
#include <string>

#include "berth/base/error.hpp"

namespace berth::certify {
namespace {

void expect_multiple(bool holds, const char* why) {
  if (!holds) throw InputError({}, std::string("multiples of the horizon: ") + why);
}

horizon::Gpus rounded_down(horizon::Gpus gpus, horizon::Gpus unit) { return gpus - gpus % unit; }

}  // namespace

GangMultiples::GangMultiples(const horizon::Problem& problem,
                             std::span<const horizon::MultipleOfGpus> multiples)
    : problem_(problem), multiples_(multiples) {
  for (const horizon::MultipleOfGpus& one : multiples) {
    expect_multiple(one.curve < problem.curves, "one of no price curve");
    expect_multiple(one.gpus > 0, "one has no GPUs");
  }
  expect_multiple(multiples.empty() || pay_for_gpus(problem), "given beside factors of shapes");
}

horizon::Gpus GangMultiples::counted(std::size_t m, std::size_t curve,
                                     const horizon::Option& option) const {
  const horizon::MultipleOfGpus& one = multiples_[m];
  return one.curve == curve ? rounded_down(option.gpus, one.gpus) : 0;
}

std::vector<horizon::CapacityStep> GangMultiples::capacity(std::size_t m, PoolId pool) const {
  const horizon::MultipleOfGpus& one = multiples_[m];
  if (problem_.pools[pool.index()].curve.index() != one.curve) return {};
  std::vector<horizon::CapacityStep> steps = free_gpus(problem_, pool);
  for (auto& step : steps)
    step.gpus = rounded_down(std::max<horizon::Gpus>(0, step.gpus), one.gpus);
  return steps;
}

}  // namespace berth::certify
