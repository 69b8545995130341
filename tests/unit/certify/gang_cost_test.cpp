// SPDX-License-Identifier: Apache-2.0
// The cheapest room is looked for in order of prices and the search ends early. Here every rack,
// every pod and every machine is looked at.
#include "gang_cost.hpp"

#include "exact.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::certify {
namespace {

using model::Level;

constexpr int kRacks = 40;

/// Racks of one to three machines of one or two of four classes in pods of eight.
test::Tiny random_cluster(test::Dice& dice) {
  test::Tiny tiny;
  const GpuTypeId a = tiny.type("A"), b = tiny.type("B");
  const ClassId classes[] = {
      tiny.machine_class("a8", a, 8, 64'000, 1024), tiny.machine_class("a4", a, 4, 16'000, 512),
      tiny.machine_class("b4", b, 4, 32'000, 256), tiny.machine_class("cpu", {}, 0, 64'000, 2048)};
  for (int r = 0; r < kRacks; ++r) {
    if (r % 8 == 0) tiny.pod();
    tiny.rack();
    const std::int64_t machines = 1 + dice.below(3);
    for (std::int64_t m = 0; m < machines; ++m) tiny.machine(classes[dice.below(4)]);
  }
  return tiny;
}

model::Certificate random_prices(test::Dice& dice, const model::Cluster& cluster) {
  model::Certificate c;
  c.level = dice.chance(50) ? Level::rack : Level::pod;
  const bool gpus_only = dice.chance(50), few = dice.chance(30);
  const bool racks = c.level == Level::rack;
  for (std::size_t p = 0; p < (racks ? cluster.racks.size() : cluster.pods.size()); ++p) {
    for (std::size_t k = 0; k < cluster.classes.size(); ++k) {
      const auto price = [&](std::int64_t most) { return few ? dice.below(3) : dice.below(most); };
      c.pools.push_back({racks ? cluster.racks[p].pod : PodId(p),
                         racks ? RackId(p) : RackId{},
                         ClassId(k),
                         price(1000),
                         {gpus_only ? 0 : price(40), gpus_only ? 0 : price(400)}});
    }
  }
  return c;
}

/// Prices of tasks by shape and GPU type; half of the draws have no others.
void add_shape_prices(test::Dice& dice, const model::Instance& instance,
                      model::Certificate& prices) {
  if (dice.chance(50)) prices.pools.clear();
  for (std::size_t s = 0; s < instance.workload.shapes.size(); ++s) {
    for (int type = -1; type < 2; ++type) {
      if (dice.chance(80)) prices.shapes.push_back({ShapeId(s), GpuTypeId(type), dice.below(5000)});
    }
  }
}

void random_jobs(test::Dice& dice, test::Tiny& tiny) {
  for (int j = 0; j < 20; ++j) {
    const bool share = dice.chance(20);
    std::vector<test::TinyTask> tasks{
        {.count = static_cast<std::int32_t>(dice.one_of({1, 2, 3, 8, 40, 200})),
         .gpus = share ? 0 : static_cast<std::int32_t>(dice.one_of({1, 2, 4, 8})),
         .gpu_milli = share ? 300 : 0,
         .cpu_milli = dice.one_of({0, 1000, 4000}),
         .memory_mib = dice.one_of({0, 16, 64})}};
    if (dice.chance(20)) tasks.push_back({.count = 3, .cpu_milli = 8000, .label = "server"});
    tiny.job(tasks);
  }
}

/// Tasks of the shape that one empty machine holds.
std::int64_t room(const model::Shape& s, const model::MachineClass& c) {
  std::int64_t n = 1000;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (s.needs[r] > 0) n = std::min(n, c.capacity[r] / s.needs[r]);
  }
  if (s.gpus > 0) n = std::min<std::int64_t>(n, c.gpus / s.gpus);
  if (s.gpu_milli > 0) n = std::min<std::int64_t>(n, c.gpus * (1000 / s.gpu_milli));
  return n;
}

/// Task by task on the machines, cheapest first; tasks without GPUs on any.
Int128 machine_by_machine(const model::Instance& instance, const PriceTable& price_table,
                          const model::Job& job, GpuTypeId type) {
  Int128 cost = 0;
  for (const model::TaskGroup& group : instance.workload.groups_of(job)) {
    const model::Shape& shape = instance.workload.shape(group.shape);
    std::vector<Int128> places;
    for (std::size_t m = 0; m < instance.cluster.machines(); ++m) {
      const model::MachineClass& c = instance.cluster.class_of(MachineId(m));
      if (shape.uses_gpu() && c.gpu_type != type) continue;
      const Int128 price = price_table.task(price_table.at(MachineId(m)), group.shape);
      places.insert(places.end(), static_cast<std::size_t>(room(shape, c)), price);
    }
    std::ranges::sort(places);
    if (std::ssize(places) < group.count) return kImpossible;
    for (std::int32_t t = 0; t < group.count; ++t) cost += places[static_cast<std::size_t>(t)];
  }
  return cost;
}

TEST(GangCost, is_the_least_over_all_racks_pods_and_machines) {
  int possible = 0, dear = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    test::Tiny tiny = random_cluster(dice);
    random_jobs(dice, tiny);
    const model::Instance& instance = tiny.instance;
    model::Certificate prices = random_prices(dice, instance.cluster);
    if (seed % 3 == 0) add_shape_prices(dice, instance, prices);
    const PriceTable price_table(instance, prices);
    for (const model::Job& job : instance.workload.jobs) {
      GangCost cost(instance, price_table, job), other(instance, price_table, job);
      for (const GpuTypeId type : {GpuTypeId(0), GpuTypeId(1)}) {
        Int128 machine = kImpossible, rack = kImpossible, pod = kImpossible;
        for (int r = 0; r < kRacks; ++r) {
          machine = std::min(machine, other.in_rack(type, Level::machine, RackId(r)));
          rack = std::min(rack, other.in_rack(type, Level::rack, RackId(r)));
        }
        for (std::size_t p = 0; p < instance.cluster.pods.size(); ++p) {
          pod = std::min(pod, other.in_pod(type, Level::pod, PodId(p)));
        }
        EXPECT_TRUE(cost.anywhere(type, Level::machine) == machine);
        EXPECT_TRUE(cost.anywhere(type, Level::rack) == rack);
        EXPECT_TRUE(cost.anywhere(type, Level::pod) == pod);
        const Int128 all = machine_by_machine(instance, price_table, job, type);
        EXPECT_TRUE(cost.anywhere(type, Level::cluster) == all);
        possible += pod < kImpossible ? 1 : 0;
        dear += pod < rack && all < pod && all > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(possible, 1000);  // of 60 x 20 x 2
  EXPECT_GT(dear, 100);       // wider is cheaper
}

}  // namespace
}  // namespace berth::certify
