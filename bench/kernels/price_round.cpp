// SPDX-License-Identifier: Apache-2.0
// A round of prices of `berth simulate --policy berth`: classes of the jobs present, then prices.
#include "kernels.hpp"
#include "present_problem.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/policy/state.hpp"
#include "berth/solver/class_prices.hpp"

namespace berth::bench {
namespace {

constexpr std::int32_t kGpusEach = 8;

/// Two GPU types, GPUs for a quarter of the jobs.
model::Cluster cluster_for(std::int64_t jobs) {
  model::Cluster cluster;
  cluster.gpu_types = {"fast", "slow"};
  cluster.pods.emplace_back();
  cluster.racks.emplace_back().pod = PodId(0);
  for (int t = 0; t < 2; ++t) {
    model::MachineClass c;
    c.gpu_type = GpuTypeId(t);
    c.gpus = kGpusEach;
    cluster.classes.push_back(c);
  }
  const std::int64_t machines = jobs * 3 / 4 / kGpusEach;
  for (std::int64_t m = 0; m < machines; ++m) {
    cluster.machine_names.add("m" + std::to_string(m));
    cluster.machine_class.emplace_back(m % 4 == 3 ? 1 : 0);
    cluster.machine_rack.emplace_back(0);
  }
  return cluster;
}

struct Waiting {
  model::Cluster cluster;
  std::vector<policy::Demand> demands;
  std::vector<policy::Job> jobs;
  std::vector<JobId> present;
};

/// Jobs of 1 to 8 GPUs and some minutes to days; the slow type takes 1.2 to 2.5 times as long.
Waiting waiting_jobs(std::int64_t count) {
  Waiting made{.cluster = cluster_for(count), .demands = {}, .jobs = {}, .present = {}};
  for (std::uint64_t d = 0; d < 64; ++d) {
    policy::Demand demand;
    const std::int32_t gpus = 1 << random_below(4, {d, 0});
    demand.groups.push_back({.group = 0, .count = 1, .shape = {.needs = {}, .gpus = gpus}});
    demand.milli = 1000 * gpus;
    demand.types = {GpuTypeId(0), GpuTypeId(1)};
    demand.speeds = {1.0, 1.0 / (1.2 + 1.3 * random_unit({d, 1}))};
    made.demands.push_back(std::move(demand));
  }
  for (std::int64_t j = 0; j < count; ++j) {
    const auto key = static_cast<std::uint64_t>(j);
    policy::Job job;
    const double seconds = 60.0 * std::pow(4000.0, random_unit({key, 2}));
    job.estimate = std::llround(seconds) * policy::kSecond;
    job.demand = static_cast<std::uint32_t>(random_below(made.demands.size(), {key, 3}));
    made.jobs.push_back(job);
    made.present.emplace_back(static_cast<std::size_t>(j));
  }
  return made;
}

void price_round(benchmark::State& state, std::int64_t count) {
  const Waiting made = waiting_jobs(count);
  policy::State jobs(made.cluster, made.demands, made.jobs);
  for (const JobId job : made.present) jobs.arrive(job);
  int evaluations = 0;
  for (auto _ : state) {
    const sim::PresentClasses classes = sim::present_classes(jobs, made.present);
    evaluations = solver::price_classes(classes.classes, classes.pieces).evaluations;
  }
  state.counters["evaluations"] = evaluations;
  state.SetItemsProcessed(state.iterations() * count);
}

void present_classes(benchmark::State& state, std::int64_t count) {
  const Waiting made = waiting_jobs(count);
  policy::State jobs(made.cluster, made.demands, made.jobs);
  for (const JobId job : made.present) jobs.arrive(job);
  for (auto _ : state) benchmark::DoNotOptimize(sim::present_classes(jobs, made.present));
  state.SetItemsProcessed(state.iterations() * count);
}

}  // namespace

void register_price_round() {
  for (const std::int64_t jobs : {200, 1000, 10'000}) {
    const std::string size = "/" + std::to_string(jobs) + "jobs";
    benchmark::RegisterBenchmark(("present_classes" + size).c_str(),
                                 [=](benchmark::State& s) { present_classes(s, jobs); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("price_round" + size).c_str(),
                                 [=](benchmark::State& s) { price_round(s, jobs); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace berth::bench
