// SPDX-License-Identifier: Apache-2.0
// The whole pattern solver, and the exact pricing of one machine.
#include "berth/solver/pack.hpp"

#include "kernels.hpp"
#include "patterns/pricing.hpp"

#include <benchmark/benchmark.h>

#include "berth/planner_model/room.hpp"

namespace berth::bench {
namespace {

void pack(benchmark::State& state) {
  const Subject& s = single_tasks(state.range(0));
  solver::PackStats last;
  for (auto _ : state) {
    solver::Occupancy occupancy(s.value, s.machines);
    last = solver::pack(occupancy, s.jobs).stats;
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(s.jobs));
  state.SetBytesProcessed(state.iterations() * s.workload_bytes);
  state.counters["columns"] = last.columns;
  state.counters["rounds"] = last.rounds;
}

/// One empty machine of 8 GPUs against all job types at half their value; items are pricings.
void pricing(benchmark::State& state) {
  const Subject& s = single_tasks(100);
  const planner_model::Room room(s.instance.cluster);
  solver::PackingProblem problem;
  problem.bins = solver::bin_types(s.instance.cluster, room, s.machines, 64);
  solver::add_job_types(problem, s.value, s.jobs, 300);
  std::vector<double> price;
  std::vector<std::int64_t> caps;
  for (const solver::JobType& t : problem.types) {
    price.push_back(0.5 * t.value[problem.bins.front().slot]);
    caps.push_back(std::ssize(t.jobs));
  }
  const auto items = solver::pricing_items(problem, 0, price, caps);
  for (auto _ : state) {
    benchmark::DoNotOptimize(solver::price_machine(problem, 0, items, 0, {}));
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["job_types"] = static_cast<double>(items.size());
}

}  // namespace

void register_pack() {
  benchmark::RegisterBenchmark("pricing/one_machine", pricing)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("pack/machines", pack)
      ->Arg(100)
      ->Arg(1000)
      ->Arg(10'000)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace berth::bench
