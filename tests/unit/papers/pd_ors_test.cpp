// SPDX-License-Identifier: Apache-2.0
#include "pd_ors_exhaustive.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/papers/pd_ors/admission.hpp"
#include "berth/papers/pd_ors/slot_offer.hpp"

namespace berth::papers::pd_ors {
namespace {

using testing::optimum;
using testing::Split;
using testing::tiny_instance;

PriceRange constant_prices(const SlotInstance& instance, double price) {
  return {std::vector<double>(instance.capacity.size(), price),
          std::vector<double>(instance.capacity.size(), price)};
}

/// Two machines of capacity 4, one job of 8 samples: the worked case of the notes.
SlotInstance worked_case(std::int32_t slots) {
  TrainingJob job;
  job.samples = 8.0;
  job.max_workers = 4;
  job.internal_cost = 0.3125;
  job.external_cost = 0.75;
  job.worker = job.server = {1.0};
  job.c1 = 20.0;
  return {.slots = slots, .resources = 1, .capacity = {4.0, 4.0}, .jobs = {job}};
}

TEST(PdOrsPrices, AreExponentialBetweenTheirBounds) {
  SlotInstance instance = worked_case(1);
  instance.jobs[0].worker = {1.0};
  SlotLedger ledger(instance, {{0.05, 0.05}, {5.0, 5.0}});
  const std::vector<double> expected = {0.05, 0.158114, 0.5, 1.581139, 5.0};
  for (std::size_t used = 0; used <= 4; ++used) {
    EXPECT_NEAR(ledger.price(0, 0), expected[used], 1e-6);
    EXPECT_DOUBLE_EQ(ledger.price(0, 1), 0.05);
    if (used < 4) ledger.commit(instance.jobs[0], {{0, {{0, 1, 0}}}});
  }
  EXPECT_THROW(ledger.commit(instance.jobs[0], {{0, {{0, 1, 0}}}}), BrokenContract);
}

TEST(PdOrsPrices, LowestPriceGivesHalfTheLeastUtility) {
  // T = 2, C = 10, ceil(E K q) = 4, alpha = beta = 1, u(T - a) = 8: mu = 2.5, L = 0.2.
  SlotInstance instance{.slots = 2, .resources = 1, .capacity = {10.0}};
  TrainingJob job;
  job.samples = 4.0;
  job.worker = job.server = {1.0};
  job.c1 = 16.0;  // c2 = 0: 8 at all times
  instance.jobs = {job};
  const PriceRange range = pd_ors_prices(instance);
  EXPECT_NEAR(range.lowest[0], 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(range.highest[0], 8.0);
  EXPECT_NEAR(SlotLedger(instance, range).rent(), 4.0, 1e-12);
}

TEST(PdOrsSlot, WorkedCaseOfOneSlot) {
  const SlotInstance instance = worked_case(4);
  const SlotLedger ledger(instance, constant_prices(instance, 1.0));
  const SlotMarket market = market_of(instance.jobs[0], ledger, 0);
  for (int v = 1; v <= 7; ++v) {
    const double expected = v <= 3 ? 2.0 : v <= 6 ? 4.0 : INFINITY;
    EXPECT_DOUBLE_EQ(ColocatedSlots().cheapest(market, v).cost, expected) << v;
  }
  EXPECT_FALSE(ExhaustiveSlots().cheapest(market, 7.0).possible());
}

TEST(PdOrsSchedule, WorkedCaseCompletesInTheSecondSlot) {
  const SlotInstance one = worked_case(1);
  const SlotLedger short_ledger(one, constant_prices(one, 1.0));
  EXPECT_EQ(best_schedule(one.jobs[0], short_ledger, ExhaustiveSlots(), {0, 8.0, 8}).payoff, 0.0);
  SlotInstance instance = worked_case(4);
  instance.jobs[0].c2 = 0.1;
  const SlotLedger ledger(instance, constant_prices(instance, 1.0));
  const ScheduleOffer offer =
      best_schedule(instance.jobs[0], ledger, ExhaustiveSlots(), {0, 8.0, 8});
  ASSERT_EQ(offer.schedule.size(), 2U);
  EXPECT_EQ(offer.schedule.back().slot, 1);
  EXPECT_DOUBLE_EQ(offer.cost, 6.0);
  EXPECT_DOUBLE_EQ(offer.payoff, instance.jobs[0].utility(1) - 6.0);
}

/// Best payoff of a job alone over all schedules at the ledger's prices.
double best_payoff(const TrainingJob& job, const SlotLedger& ledger, const Split& split) {
  double best = 0.0;
  for (const JobSchedule& schedule : testing::all_schedules(ledger.instance(), job, split))
    best = std::max(best, earned(job, schedule) - ledger.cost(job, schedule));
  return best;
}

TEST(PdOrsSchedule, EqualsTheBestOfAllSchedulesOfOneJob) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const SlotInstance instance = tiny_instance(seed, 3, 3, 3);
    const SlotLedger free(instance, constant_prices(instance, 0.7));
    for (const TrainingJob& job : instance.jobs) {
      const ScheduleQuery query{job.arrival, job.samples, static_cast<std::int32_t>(job.samples)};
      EXPECT_NEAR(best_schedule(job, free, ExhaustiveSlots(), query).payoff,
                  best_payoff(job, free, {}), 1e-9);
      EXPECT_NEAR(best_schedule(job, free, SeparateSlots(2), query).payoff,
                  best_payoff(job, free, {.workers_end = 2, .servers_begin = 2}), 1e-9);
      // Without the internal case a job cannot be better off.
      EXPECT_LE(best_schedule(job, free, SeparateSlots(2), query).payoff,
                best_schedule(job, free, ExhaustiveSlots(), query).payoff + 1e-9);
    }
  }
}

/// Price bounds, payoffs and prices of a run, recomputed.
void expect_invariants(const SlotInstance& instance, const PriceRange& range,
                       const SlotSolver& solver, const AdmissionRun& run) {
  SlotLedger ledger(instance, range);
  for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
    const TrainingJob& job = instance.jobs[j];
    const JobSchedule& schedule = run.schedules[j];
    EXPECT_EQ(schedule.empty(), run.payoffs[j] == 0.0);
    if (schedule.empty()) continue;
    EXPECT_GT(run.payoffs[j], 0.0);
    EXPECT_NEAR(run.payoffs[j], earned(job, schedule) - ledger.cost(job, schedule), 1e-9);
    const double before = ledger.rent();
    ledger.commit(job, schedule);
    EXPECT_GE(ledger.rent(), before);
  }
  for (std::int32_t t = 0; t < instance.slots; ++t) {
    for (std::size_t e = 0; e < instance.capacity.size(); ++e) {
      EXPECT_LE(ledger.price(t, e), range.highest[e] * (1.0 + 1e-9));
      EXPECT_GE(ledger.price(t, e), range.lowest[e] * (1.0 - 1e-9));
      EXPECT_NEAR(ledger.price(t, e),
                  range.lowest[e] * std::pow(range.highest[e] / range.lowest[e],
                                             ledger.committed(t, e) / instance.capacity[e]),
                  1e-9 * range.highest[e]);
    }
  }
  const AdmissionRun again = run_admission(instance, range, solver, 8);
  EXPECT_EQ(again.schedules, run.schedules);
}

SlotInstance instance_of_eights(std::uint64_t seed) {
  SlotInstance instance = tiny_instance(seed, 3, 2, 4);
  for (TrainingJob& job : instance.jobs) job.samples = 8.0;
  return instance;
}

/// Over all seeds: how often the run misses the optimum, and how often payoffs without the rent of
/// the machines are no bound (the negative controls of the tests below).
struct Controls {
  int below_optimum = 0, no_bound_without_rent = 0;
  int dual_no_bound = 0;  ///< the D of the analysis, as machines hold three tasks only

  void add(const AdmissionRun& run, const SlotSolver& solver, double best) {
    EXPECT_LE(run.utility, best + 1e-9);
    EXPECT_GE(bound_at_last_prices(run, solver, 8), best - 1e-9);
    if (run.dual < best - 1e-9) ++dual_no_bound;
    if (run.utility < best - 1e-9) ++below_optimum;
    if (std::accumulate(run.payoffs.begin(), run.payoffs.end(), 0.0) < best - 1e-9)
      ++no_bound_without_rent;
  }
};

TEST(PdOrsAdmission, InvariantsAndDualBoundOnTinyInstances) {
  Controls controls;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SlotInstance instance = instance_of_eights(seed);
    const PriceRange range = pd_ors_prices(instance);
    const AdmissionRun run = run_admission(instance, range, ExhaustiveSlots(), 8);
    expect_invariants(instance, range, ExhaustiveSlots(), run);
    controls.add(run, ExhaustiveSlots(), optimum(instance));
  }
  EXPECT_GT(controls.below_optimum, 0);
  EXPECT_GT(controls.no_bound_without_rent, 10);
}

TEST(OasisAdmission, InvariantsAndDualBoundOnTinyInstances) {
  Controls controls;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SlotInstance instance = instance_of_eights(seed);
    const PriceRange range = oasis_prices(instance, 1);
    const AdmissionRun run = run_admission(instance, range, SeparateSlots(1), 8);
    expect_invariants(instance, range, SeparateSlots(1), run);
    controls.add(run, SeparateSlots(1), optimum(instance, {.workers_end = 1, .servers_begin = 1}));
    for (const JobSchedule& schedule : run.schedules) {
      for (const SlotShare& share : schedule) {
        for (const MachineShare& m : share.machines)
          EXPECT_EQ(m.machine == 0 ? m.servers : m.workers, 0);
      }
    }
  }
  EXPECT_GT(controls.below_optimum, 0);
  EXPECT_GT(controls.no_bound_without_rent, 10);
  EXPECT_GT(controls.dual_no_bound, 0);
}

TEST(PdOrsJudge, RefusesWhatBreaksARule) {
  SlotInstance instance = worked_case(3);
  instance.jobs[0].arrival = 1;
  const auto judge = [&](const JobSchedule& schedule) {
    return total_utility(instance, std::span(&schedule, 1));
  };
  const double done = instance.jobs[0].utility(2);
  EXPECT_DOUBLE_EQ(judge({{1, {{0, 1, 1}}}, {2, {{0, 2, 2}}}}), done);
  EXPECT_EQ(judge({{1, {{0, 2, 2}}}}), 0.0);                                 // 6.4 of 8 samples
  EXPECT_EQ(judge({{1, {{0, 1, 1}}}, {2, {{0, 2, 1}, {1, 0, 1}}}}), 0.0);    // 3.2 + 2.7
  EXPECT_THROW((void)judge({{0, {{0, 2, 2}}}}), BrokenContract);             // before the arrival
  EXPECT_THROW((void)judge({{1, {{0, 2, 1}}}}), BrokenContract);             // too few servers
  EXPECT_THROW((void)judge({{1, {{0, 3, 3}}}}), BrokenContract);             // 6 of 4
  EXPECT_THROW((void)judge({{1, {{0, 2, 2}, {1, 3, 1}}}}), BrokenContract);  // 5 workers of 4
  EXPECT_THROW((void)judge({{2, {{0, 1, 1}}}, {1, {{0, 1, 1}}}}), BrokenContract);
}

TEST(PdOrsJudge, NamesTheJobThatIsOutOfRange) {
  SlotInstance instance = worked_case(3);
  EXPECT_NO_THROW(check_instance(instance));
  instance.jobs[0].external_cost = 0.1;
  try {
    check_instance(instance);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("jobs[0]"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::papers::pd_ors
