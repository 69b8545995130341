// SPDX-License-Identifier: Apache-2.0
// usage: berth_counts KERNEL. Runs it once, on one thread, inside a function named counted_*, which
// is where callgrind looks.
#include "instance_builder.hpp"
#include "single_tasks.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include "berth/certify/bound.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/solver/market.hpp"
#include "berth/solver/pack.hpp"
#include "berth/solver/petsc_session.hpp"

extern "C" {

// Prices move a little from one evaluation to the next, as a minimiser's do.
[[gnu::noinline]] double counted_dual(berth::solver::Market& market, std::span<double> prices,
                                      std::span<double> gradient) {
  constexpr int kEvaluations = 8;
  double sum = 0.0;
  for (const double eps : {0.1, 0.01, 0.001}) {
    for (int i = 0; i < kEvaluations; ++i) {
      for (double& p : prices) p *= 1.0 + 0.01 * eps;
      sum += market.dual(prices, eps, gradient);
    }
  }
  return sum;
}

// The relaxation of the pattern LP alone: with all of it proved reached, nothing is rounded. A dive
// is no kernel to count: one more bin in the instance changes its path, and instructions twofold.
[[gnu::noinline]] double counted_columns(berth::solver::Occupancy& occupancy,
                                         std::span<const berth::JobId> jobs) {
  return berth::solver::pack(occupancy, jobs, {}, {}, berth::kInfinity).bound;
}

[[gnu::noinline]] double counted_bound(const berth::model::Instance& instance,
                                       const berth::model::Certificate& certificate) {
  return berth::certify::upper_bound(instance, berth::model::Objective::value, certificate, {})
      .value;
}

}  // extern "C"

namespace berth {
namespace {

std::vector<double> some_prices(const solver::Market& market) {
  std::vector<double> prices;
  for (std::size_t p = 0; p < market.shape().upper.size(); ++p) {
    prices.push_back(market.shape().upper[p] * (0.1 + 0.3 * random_unit({23, p})));
  }
  return prices;
}

double dual() {
  const test::InstanceBuilder plan = test::mixed_instance(1, 2000);
  const auto value = plan.value();
  const auto pools = plan.pools();
  solver::Market market(value, pools, plan.jobs, solver::full_supply(plan.instance.cluster, pools));
  std::vector<double> gradient(pools.size());
  std::vector<double> prices = some_prices(market);
  return counted_dual(market, prices, gradient);
}

double bound() {
  constexpr int kScale = 20;
  const test::InstanceBuilder plan = test::mixed_instance(1, 2000);
  const auto value = plan.value();
  const auto pools = plan.pools();
  solver::Market market(value, pools, plan.jobs, solver::full_supply(plan.instance.cluster, pools));
  const auto prices = some_prices(market);
  model::Certificate certificate;
  certificate.scale_log2 = kScale;
  certificate.level = pools.level;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const planner_model::Pool& pool = pools.pools[p];
    certificate.pools.push_back({.pod = pool.pod,
                                 .rack = pool.rack,
                                 .machine_class = pool.machine_class,
                                 .gpu_milli = std::llround(std::ldexp(prices[p], kScale) / 1000)});
  }
  return counted_bound(plan.instance, certificate);
}

double columns() {
  const model::Instance instance = bench::single_task_instance(100);
  const planner_model::Valuation value(instance, model::Objective::value);
  std::vector<MachineId> machines;
  std::vector<JobId> jobs;
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) jobs.emplace_back(j);
  solver::Occupancy occupancy(value, machines);
  return counted_columns(occupancy, jobs);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  const std::string kernel = argc > 1 ? argv[1] : "";
  const berth::solver::PetscSession petsc;
  const berth::parallel::ThreadLimit one(1);
  double result = 0.0;
  if (kernel == "dual")
    result = berth::dual();
  else if (kernel == "columns")
    result = berth::columns();
  else if (kernel == "bound")
    result = berth::bound();
  else
    return 2;
  std::printf("%s %.6f\n", kernel.c_str(), result);
  return 0;
}
