// SPDX-License-Identifier: Apache-2.0
#include "ring_world.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "berth/base/random.hpp"

namespace berth::bench {
namespace {

/// Of jobs that are no rings: there are none.
class NoOthers final : public speed::Model {
 public:
  [[nodiscard]] bool coupled() const override { return false; }
  void rates(std::span<const speed::RunningJob> /*running*/,
             std::span<speed::Rate> /*rates*/) const override {}
};

/// Of the time of an iteration with RingSetting::capped.
double lost(double jobs_on_worst_link, double servers) {
  constexpr double kMost = 0.15;
  constexpr double kSaturated = 8.0;
  return kMost * std::min(1.0, (jobs_on_worst_link + servers) / kSaturated);
}

// RingSetting::weak
constexpr double kInServer = 1e12, kBetweenServers = 1.0, kSlotsPerServer = 0.0005;

/// RingSetting::capped.
class CappedContention final : public speed::Model {
 public:
  explicit CappedContention(const std::vector<speed::RingJob>& rings) : rings_(&rings) {}

  [[nodiscard]] bool coupled() const override { return true; }

  void shared(const speed::RunningJob& job, std::vector<std::uint64_t>& keys) const override {
    if (job.machines.size() < 2) return;
    for (const speed::MachineTasks& on : job.machines) keys.push_back(on.machine.index());
  }

  void rates(std::span<const speed::RunningJob> running,
             std::span<speed::Rate> rates) const override {
    std::vector<double> on_link;
    for (const speed::RunningJob& job : running) {
      if (job.machines.size() < 2) continue;
      for (const speed::MachineTasks& on : job.machines) {
        if (on_link.size() <= on.machine.index()) on_link.resize(on.machine.index() + 1);
        on_link[on.machine.index()] += 1.0;
      }
    }
    for (std::size_t i = 0; i < running.size(); ++i) {
      double worst = 0.0;
      if (running[i].machines.size() > 1) {
        for (const speed::MachineTasks& on : running[i].machines)
          worst = std::max(worst, on_link[on.machine.index()]);
      }
      const auto servers = static_cast<double>(running[i].machines.size());
      rates[i] = {.per_second =
                      (1.0 - lost(worst, servers)) / (*rings_)[running[i].job.index()].backward};
    }
  }

 private:
  const std::vector<speed::RingJob>* rings_;
};

/// GPUs of a job and how many such jobs the paper has.
constexpr std::pair<std::int32_t, std::size_t> kSizes[] = {{1, 80}, {2, 14}, {4, 26},
                                                           {8, 30}, {16, 8}, {32, 2}};

void add_job(RingWorld& world, std::int32_t gpus, std::uint64_t seed) {
  constexpr double kShortest = 50.0;  // slots
  constexpr double kTransfer = 0.05;  // of the computation
  constexpr double kFree = 1e12;      // bandwidth in a server, reduction
  const std::uint64_t id = world.rings.size();
  const double slots = 0.01 + 0.04 * random_unit({seed, 2, id});
  const double drawn = 1000.0 + 5000.0 * random_unit({seed, 3, id});
  const double iterations = std::ceil(std::max(drawn, kShortest / slots));
  const auto whole = static_cast<std::int64_t>(iterations);
  world.batch.jobs.push_back(
      {.gpus = gpus, .iterations = whole, .estimate = iterations / std::floor(1.0 / slots)});
  world.rings.push_back({.gradient_gbit = kTransfer * slots,
                         .backward = slots,
                         .batch = 1.0,
                         .reduce_gbps = kFree,
                         .reference = static_cast<double>(gpus)});
}

}  // namespace

double RingWorld::alone(std::size_t job, std::size_t servers) const {
  const speed::RingJob& ring = rings[job];
  const auto n = static_cast<double>(servers), w = static_cast<double>(batch.jobs[job].gpus);
  const double link = servers > 1 ? 1.0 : 0.0;  // jobs on it
  if (setting == RingSetting::capped) return ring.backward / (1.0 - lost(link, n));
  const double bandwidth = servers > 1 ? kBetweenServers : kInServer;
  return ring.backward + kSlotsPerServer * n +
         ring.gradient_gbit / w * (w - 1.0) * (2.0 / bandwidth + 1.0 / ring.reduce_gbps);
}

model::Cluster one_rack(const std::vector<std::int32_t>& servers) {
  model::Cluster cluster;
  cluster.gpu_types = {"gpu"};
  cluster.pods.push_back({.name = "pod"});
  cluster.racks.push_back({.name = "rack", .pod = PodId(0)});
  for (std::size_t s = 0; s < servers.size(); ++s) {
    cluster.classes.push_back(
        {.name = "class" + std::to_string(s), .gpu_type = GpuTypeId(0), .gpus = servers[s]});
    cluster.machine_class.push_back(ClassId(s));
    cluster.machine_rack.push_back(RackId(0));
  }
  return cluster;
}

std::unique_ptr<RingWorld> draw_rings(RingSetting setting, std::size_t servers, std::size_t thin,
                                      std::uint64_t seed) {
  auto world = std::make_unique<RingWorld>();
  world->setting = setting;
  for (std::size_t s = 0; s < servers; ++s)
    world->batch.servers.push_back(4 << random_below(4, {seed, 1, s}));
  std::vector<std::int32_t> sizes;
  for (const auto& [gpus, jobs] : kSizes) {
    if (gpus <= world->batch.gpus()) sizes.insert(sizes.end(), (jobs + thin - 1) / thin, gpus);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sizes.size(); ++i) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return random_bits({seed, 4, i}); });
  for (const std::size_t i : order) add_job(*world, sizes[i], seed);
  world->cluster = one_rack(world->batch.servers);
  if (setting == RingSetting::capped) {
    world->models.push_back(std::make_unique<CappedContention>(world->rings));
  } else {
    world->models.push_back(std::make_unique<NoOthers>());
    const speed::RingOptions options{.internal_gbps = kInServer,
                                     .external_gbps = kBetweenServers,
                                     .degradation = 0.2,
                                     .contention = 1.0,
                                     .seconds_per_machine = kSlotsPerServer};
    world->models.push_back(std::make_unique<speed::RingModel>(world->cluster, world->rings,
                                                               options, *world->models.front()));
  }
  world->batch.speeds = world->models.back().get();
  return world;
}

}  // namespace berth::bench
