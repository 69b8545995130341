// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/sjf_bco/sjf_bco.hpp"

#include "ring_case.hpp"
#include "ring_world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "berth/papers/sjf_bco/berth_batch.hpp"

namespace berth::papers {
namespace {

/// Ends of jobs that all start at time 0 on these GPUs.
std::vector<std::int64_t> ends(const RingBatch& batch, const std::vector<Gpus>& gpus) {
  BatchClock clock(batch);
  for (std::size_t j = 0; j < gpus.size(); ++j) clock.start(j, gpus[j]);
  while (clock.advance()) {
  }
  std::vector<std::int64_t> made;
  for (const RingRun& run : clock.schedule().runs) made.push_back(run.end);
  return made;
}

std::vector<std::int64_t> per_slot(const RingBatch& batch,
                                   const std::vector<std::vector<speed::MachineTasks>>& on) {
  std::vector<speed::RunningJob> running;
  for (std::size_t j = 0; j < on.size(); ++j)
    running.push_back({.job = JobId(j), .gpu_type = GpuTypeId(0), .machines = on[j]});
  return iterations_per_slot(*batch.speeds, running);
}

TEST(RingBatch, IterationsAreThoseOfTheModelsTable) {
  const RingCase rings({4, 4}, {4, 4, 4}, 1000);
  const std::vector<speed::MachineTasks> split = {{MachineId(0), 2, 2, 0}, {MachineId(1), 2, 2, 0}};
  const std::vector<speed::MachineTasks> whole = {{MachineId(0), 4, 4, 0}};
  using Rates = std::vector<std::int64_t>;
  EXPECT_EQ(per_slot(rings.batch, {whole}), (Rates{82}));
  EXPECT_EQ(per_slot(rings.batch, {split}), (Rates{38}));
  EXPECT_EQ(per_slot(rings.batch, {split, split}), (Rates{22, 22}));
  EXPECT_EQ(per_slot(rings.batch, {split, split, split}), (Rates{16, 16, 16}));
  EXPECT_EQ(per_slot(rings.batch, {whole, split}), (Rates{82, 38}));
  EXPECT_EQ(per_slot(RingCase({4}, {1}, 1).batch, {{{MachineId(0), 1, 1, 0}}}), (Rates{95}));
}

TEST(RingBatch, EndsOfTheMicroCases) {
  using Ends = std::vector<std::int64_t>;
  const RingCase three({2, 2}, {1, 1, 2}, 1000);
  EXPECT_EQ(ends(three.batch, {{0}, {1}, {2, 3}}), (Ends{11, 11, 12}));
  EXPECT_EQ(ends(three.batch, {{0}, {2}, {1, 3}}), (Ends{11, 11, 22}));
  const RingCase two({2, 2}, {2, 2}, 1000);
  EXPECT_EQ(ends(two.batch, {{0, 2}, {1, 3}}), (Ends{34, 34}));
  EXPECT_EQ(ends(two.batch, {{0, 1}, {2, 3}}), (Ends{12, 12}));
}

TEST(RingBatch, IterationsLongerThanASlotAreRejected) {
  const RingCase slow({2, 2}, {4}, 10, 1.0);
  EXPECT_THROW(ends(slow.batch, {{0, 1, 2, 3}}), std::invalid_argument);
}

/// Checks a complete schedule by a replay of its own, slot by slot.
void expect_valid(const RingBatch& batch, const RingSchedule& schedule) {
  ASSERT_TRUE(schedule.complete);
  std::vector<std::int64_t> left;
  for (const RingBatchJob& job : batch.jobs) left.push_back(job.iterations);
  std::int64_t last = 0;
  for (std::int64_t slot = 0; slot < schedule.makespan; ++slot) {
    std::vector<speed::RunningJob> running;
    std::vector<std::int32_t> used(batch.servers.size());
    for (std::size_t j = 0; j < batch.jobs.size(); ++j) {
      const RingRun& run = schedule.runs[j];
      if (slot < run.start || slot >= run.end) continue;
      running.push_back({.job = JobId(j), .gpu_type = GpuTypeId(0), .machines = run.machines});
      std::int32_t gpus = 0;
      for (const speed::MachineTasks& on : run.machines) {
        used[on.machine.index()] += on.gpus;
        gpus += on.gpus;
      }
      EXPECT_EQ(gpus, batch.jobs[j].gpus);
    }
    for (std::size_t s = 0; s < used.size(); ++s) EXPECT_LE(used[s], batch.servers[s]);
    const std::vector<std::int64_t> made = iterations_per_slot(*batch.speeds, running);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::size_t job = running[i].job.index();
      EXPECT_GT(left[job], 0);  // not one slot too many
      left[job] -= made[i];
    }
  }
  for (std::size_t j = 0; j < batch.jobs.size(); ++j) {
    EXPECT_LE(left[j], 0);
    last = std::max(last, schedule.runs[j].end);
  }
  EXPECT_EQ(last, schedule.makespan);
}

TEST(SjfBco, SchedulesAreValidAndWithinTheLimit) {
  for (const auto setting : {bench::RingSetting::capped, bench::RingSetting::weak}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const auto world = bench::draw_rings(setting, 6, 5, seed);
      const RingSchedule made = sjf_bco(world->batch, {});
      expect_valid(world->batch, made);
      expect_valid(world->batch, berth_batch(world->batch, {.rounds = 20}));
      EXPECT_GE(made.makespan, makespan_bound(world->batch));
      for (const std::int32_t kappa : {1, 4, 32}) {
        const RingSchedule at =
            run_at_limit(BatchClock(world->batch), smallest_first(world->batch), 700.0, kappa, {});
        EXPECT_LE(at.most_accumulated, 700.0);
      }
    }
  }
}

TEST(SjfBco, NeverWorseThanFragmentAwarePackingAlone) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto world = bench::draw_rings(bench::RingSetting::weak, 6, 5, seed);
    const std::vector<std::size_t> order = smallest_first(world->batch);
    // The first limit of the bisection: its best threshold is one of all.
    const std::int64_t best = sjf_bco(world->batch, {}).makespan;
    const RingSchedule alone = run_at_limit(BatchClock(world->batch), order, 600.0, 32, {});
    ASSERT_TRUE(alone.complete);
    EXPECT_LE(best, alone.makespan);
  }
}

// A given threshold is the only one, also where the search would take another.
TEST(SjfBco, AGivenThresholdIsTheOnlyOne) {
  const auto world = bench::draw_rings(bench::RingSetting::weak, 6, 5, 1);
  const std::vector<std::size_t> order = smallest_first(world->batch);
  for (const std::int32_t kappa : {1, 4, 32}) {
    const LimitChoice found = best_limit(BatchClock(world->batch), order, {.kappa = kappa});
    EXPECT_EQ(found.kappa, kappa);
    const RingSchedule again =
        run_at_limit(BatchClock(world->batch), order, found.limit, kappa, {});
    EXPECT_EQ(found.schedule.makespan, again.makespan);
  }
}

TEST(SjfBco, AScheduleThatLacksJobsIsNotAccepted) {
  // The second job's estimate is beyond every limit.
  RingCase rings({2}, {1, 2}, 1000);
  rings.batch.jobs[1].estimate = 5000.0;
  const RingSchedule strict = sjf_bco(rings.batch, {});
  EXPECT_FALSE(strict.complete);
  EXPECT_EQ(strict.makespan, 0);
  EXPECT_EQ(strict.runs[0].start, -1);
  const RingSchedule printed = sjf_bco(rings.batch, {.accept_incomplete = true});
  EXPECT_FALSE(printed.complete);
  // Where a complete schedule exists, the printed rule prefers one with no job at all.
  rings.batch.jobs[1].estimate = 800.0;
  EXPECT_TRUE(sjf_bco(rings.batch, {}).complete);
  EXPECT_FALSE(sjf_bco(rings.batch, {.accept_incomplete = true}).complete);
}

TEST(SjfBco, OrdersOfGpusDiffer) {
  // Server 1 is in use, server 0 has more idle GPUs: only the text's rule packs.
  const RingCase rings({4, 4, 4}, {1, 1, 4, 1}, 1000);
  BatchClock clock(rings.batch);
  clock.start(0, Gpus{5});
  const auto gpus = [&](GpuOrder order) {
    return fragment_aware_gpus(clock, 1, 100.0, {.order = order});
  };
  EXPECT_EQ(gpus(GpuOrder::open_first), (Gpus{4}));
  EXPECT_EQ(gpus(GpuOrder::first_fit), (Gpus{0}));
  EXPECT_EQ(gpus(GpuOrder::literal), (Gpus{0}));
  EXPECT_EQ(least_busy_gpus(clock, 2, 100.0, {}), (Gpus{0, 1, 2, 3}));
  EXPECT_TRUE(least_busy_gpus(clock, 2, 9.0, {}).empty());  // beyond the limit
}

TEST(SjfBco, NoScheduleBeatsExhaustion) {
  double ratio = 0.0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RingCase rings({2, 2}, {1, 2, 1, 3, 2}, 1000);
    for (std::size_t j = 0; j < rings.batch.jobs.size(); ++j) {
      rings.batch.jobs[j].iterations += static_cast<std::int64_t>(seed * 397 + j * 731) % 1500;
      rings.batch.jobs[j].estimate = static_cast<double>(rings.batch.jobs[j].iterations) / 90.0;
    }
    const std::int64_t best = Exhaustive(rings.batch).best();
    EXPECT_LE(makespan_bound(rings.batch), best);
    EXPECT_GE(sjf_bco(rings.batch, {}).makespan, best);
    EXPECT_EQ(berth_batch(rings.batch, {}).makespan, best);
    ratio += static_cast<double>(sjf_bco(rings.batch, {}).makespan) / static_cast<double>(best) / 3;
  }
  EXPECT_LT(ratio, 2.0);
}

}  // namespace
}  // namespace berth::papers
