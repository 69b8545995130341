// SPDX-License-Identifier: Apache-2.0
// Elastic jobs on machines of four GPUs, for tests of policies that choose GPUs and batches.
#pragma once

#include "tiny.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "berth/papers/paper_policies.hpp"
#include "berth/papers/training_monitor.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::test {

struct ElasticRow {
  std::int64_t arrival = 0;
  std::int64_t duration = 100;  ///< seconds on `requested` GPUs
  std::int32_t requested = 1;
  double sync = 0.0;  ///< seconds of an iteration on more than one GPU
};

struct ElasticWorld {
  static constexpr double kPerSample = 0.01;  ///< seconds
  static constexpr std::int64_t kBatch = 16;  ///< of one GPU
  static constexpr std::int64_t kRestart = 10, kResize = 1;

  explicit ElasticWorld(const std::vector<ElasticRow>& rows, int machines = 2) {
    const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 0, 0);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < machines; ++m) tiny.machine(of);
    auto& workload = tiny.instance.workload;
    std::vector<model::Configuration> sizes;
    for (std::int32_t gpus = 1; gpus <= 4 * machines; ++gpus) sizes.push_back({.counts = {gpus}});
    workload.configurations.push_back(sizes);
    for (const ElasticRow& row : rows) add(row);
    profiles.jobs.assign(rows.size(), {.kind = speed::ProfileKind::goodput});
  }

  void add(const ElasticRow& row) {
    auto& workload = tiny.instance.workload;
    const JobId id = tiny.job({{.count = row.requested, .gpus = 1}});
    model::TimeRules rules;
    rules.duration = row.duration;
    rules.configurations = 1;
    tiny[id].time = static_cast<std::uint32_t>(workload.time_rules.size());
    tiny[id].arrival = row.arrival;
    workload.time_rules.push_back(rules);
    speed::ElasticBatchJob job;
    job.time.compute_per_sample = kPerSample;
    job.time.sync_local_fixed = job.time.sync_fixed = row.sync;
    job.smallest_batch = kBatch;
    job.batch = static_cast<double>(kBatch * row.requested);
    job.noise = {{.work = 0.0, .noise_scale = 1e12}};
    job.reference = job.batch / job.time.seconds(job.batch, row.requested, (row.requested + 3) / 4);
    profiles.goodputs.push_back(job);
  }

  [[nodiscard]] papers::PaperWorld world(std::uint64_t seed = 1) const {
    return {tiny.instance, profiles, seed};
  }
  /// Epochs of so many seconds on one GPU.
  [[nodiscard]] std::vector<papers::TrainingJob> training(double epoch) const {
    return std::vector<papers::TrainingJob>(
        profiles.goodputs.size(),
        {.epoch_samples = epoch / kPerSample, .base_batch = kBatch, .rate_ratio = 4.0});
  }
  sim::Run run(policy::Policy& policy) {
    const sim::WorldSpeeds speeds(tiny.instance, profiles, 0.0);
    sim::ReplayOptions options;
    options.restart_cost = kRestart * sim::kSecond;
    options.move_cost = options.resize_cost = kResize * sim::kSecond;
    const sim::Trace trace = sim::make_trace(tiny.instance, options, &speeds);
    const sim::World of{.speeds = &speeds};
    return sim::simulate(tiny.instance.cluster, trace, policy, {}, of);
  }

  Tiny tiny;
  speed::Profiles profiles;
};

}  // namespace berth::test
