// SPDX-License-Identifier: Apache-2.0
// Worked cases of the papers' speed models, computed by hand.
#include "tiny.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "berth/speed/layered_overlap.hpp"
#include "berth/speed/loss_curve.hpp"
#include "berth/speed/parameter_server.hpp"
#include "berth/speed/ring_contention.hpp"
#include "berth/speed/static_duration.hpp"
#include "berth/speed/statistical_efficiency.hpp"

namespace berth::speed {
namespace {

/// Two racks of two machines with 4 GPUs; three jobs.
struct Cluster : test::Tiny {
  Cluster() {
    const ClassId c = machine_class("v", type("V100"), 4, 0, 0);
    pod();
    for (int r = 0; r < 2; ++r) {
      rack();
      for (int m = 0; m < 2; ++m) machine(c);
    }
    for (int j = 0; j < 3; ++j) job({{.gpus = 4}});
  }
};

using Tasks = std::vector<MachineTasks>;

std::vector<Rate> rates_of(const Model& model, const std::vector<Tasks>& placements,
                           std::int64_t batch = 0, double work = 0.0) {
  std::vector<RunningJob> running;
  for (std::size_t j = 0; j < placements.size(); ++j) {
    running.push_back({.job = JobId(j),
                       .gpu_type = GpuTypeId(0),
                       .machines = placements[j],
                       .batch = batch,
                       .work = work});
  }
  std::vector<Rate> rates(running.size());
  model.rates(running, rates);
  return rates;
}

MachineTasks on(int machine, int workers, int servers = 0) {
  return {.machine = MachineId(machine), .workers = workers, .gpus = workers, .servers = servers};
}

// tau = 0.25, g = 1, gamma = 1, F = 4: q(i) = 0.25 + 2/(4 x 8) = 0.3125, q(e) = 0.25 + 2/4 = 0.75.
TEST(ParameterServers, have_their_internal_bandwidth_on_one_machine_only) {
  const Cluster cluster;
  const StaticDuration others(cluster.instance.workload);
  const ParameterServerJob job{.seconds_per_sample = 0.25,
                               .gradient_gbit = 1.0,
                               .batch = 4.0,
                               .internal_gbps = 8.0,
                               .external_gbps = 1.0,
                               .reference = 2.0};
  EXPECT_EQ(job.seconds(8.0), 0.3125);
  EXPECT_EQ(job.seconds(1.0), 0.75);
  const std::vector<ParameterServerJob> jobs{job, job, {}};
  const ParameterServerModel model(jobs, others);
  const auto rates = rates_of(model, {{on(0, 2, 2)}, {on(0, 2), on(1, 1, 3)}, {on(2, 1, 1)}});
  EXPECT_DOUBLE_EQ(rates[0].per_second, 2.0 / 0.3125 / 2.0);
  EXPECT_DOUBLE_EQ(rates[1].per_second, 3.0 / 0.75 / 2.0);
  EXPECT_EQ(rates[2].per_second, 1.0);  // no such job
  EXPECT_DOUBLE_EQ(rates_of(model, {{on(0, 1, 1)}}, 8)[0].per_second, 1.0 / 0.28125 / 2.0);
}

// b = (2,2,2,2), r = (1,2,3,4), f = (1,1,1,1).
std::vector<Layer> four_layers() {
  return {{2.0, 1.0, 1.0}, {2.0, 2.0, 1.0}, {2.0, 3.0, 1.0}, {2.0, 4.0, 1.0}};
}

TEST(LayeredOverlap, wait_free) {
  const WaitFree result = wait_free(four_layers());
  EXPECT_EQ(result.push, (std::vector<double>{11.0, 9.0, 6.0, 2.0}));
  EXPECT_EQ(result.pull, (std::vector<double>{15.0, 13.0, 10.0, 6.0}));
  EXPECT_DOUBLE_EQ(result.seconds, 20.0);
  EXPECT_DOUBLE_EQ(result.backward_factor, 0.25);
  EXPECT_DOUBLE_EQ(result.transfer_factor, 0.7);
  EXPECT_DOUBLE_EQ(sequential_seconds(four_layers()), 32.0);
}

TEST(LayeredOverlap, priority) {
  EXPECT_DOUBLE_EQ(priority_seconds(four_layers(), 0.5), 13.5);
  const std::vector<Layer> two{{3.0, 2.0, 4.0}, {1.0, 5.0, 1.0}};
  EXPECT_DOUBLE_EQ(priority_seconds(two, 0.1), 11.1);
  EXPECT_EQ(priority_seconds({}, 0.5), 0.0);
}

TEST(LayeredOverlap, overlaps_never_cost_time) {
  std::uint64_t state = 7;
  const auto draw = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 40) / 16777216.0;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Layer> layers(1 + static_cast<std::size_t>(12.0 * draw()));
    for (Layer& layer : layers) layer = {draw(), draw(), draw()};
    const double free = wait_free(layers).seconds;
    EXPECT_LE(priority_seconds(layers, 0.0), free * (1.0 + 1e-12));
    EXPECT_LE(free, sequential_seconds(layers) * (1.0 + 1e-12));
  }
}

// E = 10 iterations: the theta form 10 w + 5 p + 20 + 80 w/p + 200/w at (3, 7) is 185.952381.
TEST(LayeredOverlap, speed_by_workers_and_servers) {
  const OverlapJob job{.batch = 200.0,
                       .forward = 0.1,
                       .backward = 2.0,
                       .model_gbit = 40.0,
                       .server_gbps = 10.0,
                       .worker_overhead = 1.0,
                       .server_overhead = 0.5};
  EXPECT_NEAR(10.0 / iterations_per_second(job, 3.0, 7.0), 185.952381, 1e-6);
  EXPECT_NEAR(10.0 / iterations_per_second(job, 12.0, 12.0), 296.666667, 1e-6);
  OverlapJob asynchronous = job;
  asynchronous.batch = 20.0;
  asynchronous.sending_workers = 0.5;
  // theta' = (10, 5, 40, 40): 10 + 5 p/w + 40/w + 40/p
  EXPECT_NEAR(10.0 / iterations_per_second(asynchronous, 12.0, 10.0), 21.5, 1e-9);
  EXPECT_NEAR(10.0 / iterations_per_second(asynchronous, 12.0, 12.0), 21.666667, 1e-6);
}

RingOptions ring_options() {
  return {.internal_gbps = 1e4,
          .external_gbps = 1000.0,
          .degradation = 0.2,
          .seconds_per_machine = 0.0005};
}
/// m = 10, C = 1e5, Delta f M = 0.004, Delta b = 0.006; the reference is one sample a second.
RingJob ring_job() {
  return {.gradient_gbit = 10.0,
          .forward_per_sample = 0.004,
          .backward = 0.006,
          .batch = 1.0,
          .reduce_gbps = 1e5,
          .reference = 1.0};
}

/// Seconds of an iteration of rings of so many workers.
std::vector<double> ring_seconds(const std::vector<Tasks>& placements,
                                 const RingOptions& options = ring_options(),
                                 const Cluster& cluster = {}) {
  const StaticDuration others(cluster.instance.workload);
  const std::vector<RingJob> jobs(3, ring_job());
  const RingModel model(cluster.instance.cluster, jobs, options, others);
  const auto rates = rates_of(model, placements);
  std::vector<double> seconds;
  for (std::size_t j = 0; j < placements.size(); ++j) {
    double workers = 0.0;
    for (const MachineTasks& tasks : placements[j]) workers += tasks.workers;
    seconds.push_back(workers / rates[j].per_second);
  }
  return seconds;
}

TEST(Rings, share_links) {
  const Tasks split{on(0, 2), on(1, 2)};
  EXPECT_NEAR(ring_seconds({{on(0, 4)}})[0], 0.012075, 1e-12);
  EXPECT_NEAR(ring_seconds({split})[0], 0.026075, 1e-12);
  EXPECT_NEAR(ring_seconds({split, split})[0], 0.044075, 1e-12);
  EXPECT_NEAR(ring_seconds({split, split, split})[2], 0.062075, 1e-12);
  const auto beside = ring_seconds({{on(0, 4)}, split});
  EXPECT_NEAR(beside[0], 0.012075, 1e-12);
  EXPECT_NEAR(beside[1], 0.026075, 1e-12);
  EXPECT_NEAR(ring_seconds({{on(0, 1)}})[0], 0.0105, 1e-12);
}

TEST(Rings, load_uplinks_of_racks) {
  Cluster cluster;
  cluster.instance.cluster.racks[0].uplink_gbps = 500.0;
  const Tasks across{on(0, 2), on(2, 2)};
  const Tasks inside{on(0, 2), on(1, 2)};
  // 15/500 in place of 15/1000
  EXPECT_NEAR(ring_seconds({across}, ring_options(), cluster)[0], 0.041075, 1e-12);
  EXPECT_NEAR(ring_seconds({inside}, ring_options(), cluster)[0], 0.026075, 1e-12);
  cluster.instance.cluster.classes[0].capacity[model::kNic] = 100'000;  // Mbit/s
  EXPECT_NEAR(ring_seconds({inside}, ring_options(), cluster)[0], 0.161075, 1e-12);
}

// Two equal rings on the same links: T = c + x (k + alpha (k - 1)) with k = 1 + duty,
// duty = 1 - c / T, x = 0.015, c = 0.011075, alpha = 0.2.
TEST(Rings, in_the_fixed_point_count_for_the_time_they_communicate) {
  RingOptions options = ring_options();
  options.sharing = LinkSharing::duty;
  const Tasks split{on(0, 2), on(1, 2)};
  EXPECT_NEAR(ring_seconds({split}, options)[0], 0.026075, 1e-12);
  const auto seconds = ring_seconds({split, split}, options);
  const double t = seconds[0];
  EXPECT_EQ(seconds[1], t);
  const double duty = 1.0 - 0.011075 / t;
  EXPECT_NEAR(t, 0.011075 + 0.015 * (1.0 + duty + 0.2 * duty), 1e-10);
  EXPECT_GT(t, 0.026075);
  EXPECT_LT(t, 0.044075);
}

TEST(Rings, have_rates_that_do_not_depend_on_the_order) {
  const Cluster cluster;
  const StaticDuration others(cluster.instance.workload);
  std::vector<RingJob> jobs(3, ring_job());
  jobs[1].gradient_gbit = 3.0;
  jobs[2].gradient_gbit = 0.7;
  RingOptions options = ring_options();
  options.sharing = LinkSharing::duty;
  const RingModel model(cluster.instance.cluster, jobs, options, others);
  const Tasks a{on(0, 2), on(1, 1)}, b{on(0, 1), on(2, 2)}, c{on(1, 1), on(2, 1)};
  const auto run = [&](const std::vector<std::pair<int, Tasks>>& order) {
    std::vector<RunningJob> running;
    for (const auto& [job, tasks] : order) {
      running.push_back({.job = JobId(job), .gpu_type = GpuTypeId(0), .machines = tasks});
    }
    std::vector<Rate> rates(running.size());
    model.rates(running, rates);
    std::vector<double> by_job(3);
    for (std::size_t i = 0; i < order.size(); ++i) {
      by_job[static_cast<std::size_t>(order[i].first)] = rates[i].per_second;
    }
    return by_job;
  };
  EXPECT_EQ(run({{0, a}, {1, b}, {2, c}}), run({{2, c}, {0, a}, {1, b}}));
}

TEST(StatisticalEfficiency, of_batches) {
  EXPECT_DOUBLE_EQ(noise_scale(100.0, 3.0, 1.0), 300.0);
  EXPECT_DOUBLE_EQ(statistical_efficiency(300.0, 100.0, 100.0), 1.0);
  // gain (var + sqr) / (var / s + sqr) = 16/7 at scale s = 4, by sample 4/7
  EXPECT_DOUBLE_EQ(statistical_efficiency(300.0, 100.0, 400.0), 4.0 / 7.0);
}

TEST(StatisticalEfficiency, changes_the_rate_as_work_is_done) {
  const Cluster cluster;
  const StaticDuration others(cluster.instance.workload);
  const ElasticBatchJob job{.time = {.compute_per_sample = 0.01,
                                     .sync_local_fixed = 0.3,
                                     .sync_fixed = 0.5,
                                     .sync_per_gpu = 0.25},
                            .smallest_batch = 100.0,
                            .batch = 400.0,
                            .noise = {{0.0, 300.0}, {50.0, 900.0}},
                            .reference = 100.0};
  EXPECT_DOUBLE_EQ(job.time.seconds(400.0, 1, 1), 4.0);
  EXPECT_DOUBLE_EQ(job.time.seconds(400.0, 2, 1), 2.3);
  EXPECT_DOUBLE_EQ(job.time.seconds(400.0, 4, 2), 2.0);  // 1 + 0.5 + 2 x 0.25
  const std::vector<ElasticBatchJob> jobs{job};
  const ElasticBatchModel model(jobs, others);
  const Rate first = rates_of(model, {{on(0, 2), on(1, 2)}}, 0, 49.0)[0];
  EXPECT_DOUBLE_EQ(first.per_second, 400.0 / 2.0 * (4.0 / 7.0) / 100.0);
  EXPECT_EQ(first.until_work, 50.0);
  const Rate second = rates_of(model, {{on(0, 2), on(1, 2)}}, 0, 50.0)[0];
  EXPECT_DOUBLE_EQ(second.per_second, 400.0 / 2.0 * (1000.0 / 1300.0) / 100.0);
  EXPECT_EQ(second.until_work, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(rates_of(model, {{on(0, 1)}}, 100, 0.0)[0].per_second, 1.0);
}

TEST(StatisticalEfficiency, batches_of_ones) {
  EXPECT_EQ(ones_batch(4, 64, 0.1, 1.6).per_gpu, 64);
  EXPECT_DOUBLE_EQ(ones_batch(4, 64, 0.1, 1.6).learning_rate, 0.4);
  EXPECT_EQ(ones_batch(32, 64, 0.1, 1.6).per_gpu, 32);  // 64 x 16 / 32
  EXPECT_EQ(ones_batch(32, 64, 0.1, 1.6).learning_rate, 1.6);
}

TEST(LossCurve, falls_to_its_limit) {
  const LossCurve sublinear{
      .family = LossFamily::sublinear, .a = 1.0, .b = 0.0, .c = 1.0, .d = 2.0};
  EXPECT_EQ(sublinear.loss(0.0), 3.0);
  EXPECT_EQ(sublinear.loss(3.0), 2.1);
  EXPECT_NEAR(sublinear.normalised(3.0), 0.1, 1e-15);
  EXPECT_NEAR(sublinear.iterations_until(0.1), 3.0, 1e-11);
  EXPECT_NEAR(sublinear.gain(0.0, 3.0), 0.9, 1e-15);
  const LossCurve linear{.family = LossFamily::linear, .a = 0.5, .b = 1.0, .c = 0.25, .d = 0.0};
  EXPECT_EQ(linear.loss(0.0), 2.25);
  EXPECT_EQ(linear.normalised(2.0), 0.25);
  EXPECT_NEAR(linear.iterations_until(0.25), 2.0, 1e-11);
  const LossCurve flat{.a = 0.0, .b = 0.0, .c = 1.0, .d = 1.0};
  EXPECT_EQ(flat.normalised(5.0), 0.0);
}

TEST(Sigmoid, has_the_worked_values) {
  EXPECT_EQ(sigmoid_of_time(100.0, 0.0, 5.0, 3.0), 50.0);
  EXPECT_EQ(sigmoid_of_time(100.0, 0.5, 10.0, 10.0), 50.0);
  EXPECT_NEAR(sigmoid_of_time(100.0, 4.0, 10.0, 9.5), 88.079708, 1e-6);
  EXPECT_NEAR(sigmoid_of_time(100.0, 4.0, 10.0, 10.5), 11.920292, 1e-6);
  EXPECT_NEAR(sigmoid_of_work(100.0, 4.0, 10.0, 10.5), 88.079708, 1e-6);
  EXPECT_NEAR(sigmoid_of_time(1.0, 1.0, 0.0, 1e9), 0.0, 1e-300);
}

TEST(SpeedModels, refuse_bad_parameters) {
  const Cluster cluster;
  const StaticDuration others(cluster.instance.workload);
  const auto& c = cluster.instance.cluster;
  const std::vector<RingJob> no_time(1, {.gradient_gbit = 1.0, .reference = 1.0});
  EXPECT_THROW(RingModel(c, no_time, ring_options(), others), std::invalid_argument);
  RingOptions options = ring_options();
  options.external_gbps = 0.0;
  EXPECT_THROW(RingModel(c, {}, options, others), std::invalid_argument);
  const std::vector<ParameterServerJob> negative(1, {.seconds_per_sample = -1.0, .reference = 1.0});
  EXPECT_THROW(ParameterServerModel(negative, others), std::invalid_argument);
  std::vector<ElasticBatchJob> elastic(1);
  elastic[0].reference = 1.0;
  elastic[0].time.compute_fixed = 1.0;
  EXPECT_THROW(ElasticBatchModel(elastic, others), std::invalid_argument);  // no noise
  elastic[0].noise = {{0.0, 1.0}};
  elastic[0].time.overlap = 11.0;
  EXPECT_THROW(ElasticBatchModel(elastic, others), std::invalid_argument);
}

}  // namespace
}  // namespace berth::speed
