// SPDX-License-Identifier: Apache-2.0
// What the judge proves about makespans (SJF-BCO), completions (ONES, SLAQ) and the utility of work
// (GADGET): against exhaustion, and against the bounds of the library.
#include "gadget_exhaustive.hpp"
#include "quality_exhaustive.hpp"
#include "ring_proof.hpp"

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/certify/flow.hpp"
#include "berth/certify/makespan.hpp"
#include "berth/certify/worker_slots.hpp"
#include "berth/papers/gadget/slot_rules.hpp"
#include "berth/papers/slot_proof.hpp"

namespace berth::bench {
namespace {

void expect_refused(const std::function<void()>& use, const std::string& field,
                    const std::string& words) {
  try {
    use();
    ADD_FAILURE() << field;
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().field, field) << error.what();
    EXPECT_NE(error.problem().find(words), std::string::npos) << error.what();
  }
}

// Two servers of two GPUs. 9 iterations at 2 a slot on one server, 1 on two: 5 slots, or 9.
TEST(MakespanProof, ByHand) {
  certify::RingGangs gangs{.servers = {2, 2},
                           .jobs = {{.gpus = 2, .iterations = 9, .slots = {0.45, 0.9}}}};
  EXPECT_EQ(certify::prove_makespan(gangs), 5);
  gangs.jobs[0].gpus = 3;  // on one server it does not fit
  EXPECT_EQ(certify::prove_makespan(gangs), 9);
  gangs.jobs.push_back({.gpus = 3, .iterations = 9, .slots = {0.45, 0.9}});
  EXPECT_EQ(certify::prove_makespan(gangs), 14);  // 54 GPU-slots of 4 GPUs
  gangs.jobs[1].slots = {0.9, 0.45};              // faster on two
  EXPECT_EQ(certify::prove_makespan(gangs), 11);
  EXPECT_EQ(certify::prove_makespan({.servers = {2}, .jobs = {}}), 0);
  gangs.jobs[1].gpus = 5;
  expect_refused([&] { (void)certify::prove_makespan(gangs); }, "gpus", "job number 2");
  gangs.jobs[1] = {.gpus = 1, .iterations = 0, .slots = {0.5}};
  expect_refused([&] { (void)certify::prove_makespan(gangs); }, "iterations", "1 to 2^40");
  gangs.jobs[1] = {.gpus = 1, .iterations = 1, .slots = {0.0}};
  expect_refused([&] { (void)certify::prove_makespan(gangs); }, "slots", "job number 2");
  gangs.jobs[1] = {.gpus = 1, .iterations = 1, .slots = {1.5}};
  expect_refused([&] { (void)certify::prove_makespan(gangs); }, "slots", "longer than a slot");
}

TEST(MakespanProof, IsTheBoundOfTheLibrary) {
  for (const RingSetting setting : {RingSetting::capped, RingSetting::weak}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto world = draw_rings(setting, 4 + seed, 2, seed);
      EXPECT_EQ(proved_makespan(*world), papers::makespan_bound(world->batch)) << seed;
    }
  }
}

std::vector<certify::MalleableJob> malleable(const std::vector<papers::FluidJob>& jobs,
                                             std::int32_t most) {
  std::vector<certify::MalleableJob> made;
  for (const papers::FluidJob& job : jobs) {
    certify::MalleableJob& added = made.emplace_back();
    added.release = job.release;
    for (const papers::FluidPiece& piece : job.pieces) added.work += piece.work;
    added.rate.resize(static_cast<std::size_t>(most));
    std::iota(added.rate.begin(), added.rate.end(), 1.0);
  }
  return made;
}

TEST(FlowProof, NoOrderOfStepsIsBetter) {
  const auto cores = static_cast<std::int32_t>(papers::testing::kCores);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto jobs = papers::testing::draw_fluid(seed);
    const auto best = papers::testing::ExhaustiveOrders(jobs).best();
    const double flow = certify::prove_total_flow(malleable(jobs, cores), cores);
    EXPECT_LE(flow, best.flow);
    EXPECT_NEAR(flow, best.flow, 1e-5);
    for (const std::int32_t most : {1, 2}) {
      EXPECT_NEAR(certify::prove_total_flow(malleable(jobs, most), cores),
                  papers::least_flow(jobs, cores, most), 1e-5);
    }
    std::vector<certify::EarningJob> earning;
    for (const papers::FluidJob& job : jobs) {
      earning.push_back({.release = job.release, .pieces = {}});
      for (const papers::FluidPiece& piece : job.pieces)
        earning.back().pieces.push_back({piece.work, piece.value});
    }
    const double unearned = certify::prove_total_unearned(earning, cores);
    EXPECT_LE(unearned, best.unearned);
    EXPECT_NEAR(unearned, papers::least_unearned(jobs, papers::testing::kCores), 1e-4);
  }
}

// 12 GPU-seconds at least, on one GPU; 8 s at least, on two: two jobs one after the other on two
// GPUs end after 6 and 12 s, and none before 8 s.
TEST(FlowProof, SpeedsOfSizesCount) {
  const certify::MalleableJob job{.release = 3.0, .work = 12.0, .rate = {1.0, 1.5}};
  EXPECT_NEAR(certify::prove_total_flow(std::vector{job}, 2), 8.0, 1e-5);
  EXPECT_NEAR(certify::prove_total_flow(std::vector{job, job}, 2), 18.0, 1e-5);
}

TEST(FlowProof, RefusesWhatItCannotProve) {
  const certify::MalleableJob sound{.work = 1.0, .rate = {1.0}};
  const auto flow = [&](auto change, std::int32_t units = 1) {
    return [=] {
      std::vector<certify::MalleableJob> jobs(2, sound);
      change(jobs[1]);
      (void)certify::prove_total_flow(jobs, units);
    };
  };
  expect_refused(flow([](auto& job) { job.release = -1.0; }), "release", "job number 2");
  expect_refused(flow([](auto& job) { job.work = -1.0; }), "work", "job number 2");
  expect_refused(flow([](auto& job) { job.rate = {}; }), "rate", "job number 2");
  expect_refused(flow([](auto& job) { job.rate = {1.0, 0.0}; }, 2), "rate", "job number 2");
  expect_refused(flow([](auto& job) { job.rate = {1.0, 1.0}; }), "rate", "1 to all units");
  expect_refused(flow([](auto&) {}, 0), "units", "1 to 2^20");
  const auto earning = [](certify::EarningPiece piece) {
    return [=] {
      (void)certify::prove_total_unearned(std::vector<certify::EarningJob>{{0.0, {piece}}}, 1);
    };
  };
  expect_refused(earning({-1.0, 1.0}), "work", "job number 1");
  expect_refused(earning({1.0, 2000.0}), "value", "0 to 2^10");
}

// No prices prove less than the optimum, and those of the library as much as it has.
TEST(WorkerSlotProof, NoPricesProveLessThanTheOptimum) {
  using papers::gadget::utility_prices;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    const auto family = seed % 2 == 0 ? papers::gadget::WorkUtility::sigmoid
                                      : papers::gadget::WorkUtility::square_root;
    const auto instance = papers::gadget::testing::tiny_rings(seed, 2, 3, 3, family);
    const double optimum = papers::gadget::testing::offline_optimum(instance);
    for (const double scale : {0.0, 0.5, 5.0}) {
      std::vector<double> price;
      for (std::uint64_t t = 0; t < 3; ++t) price.push_back(scale * random_unit({seed, t}));
      EXPECT_GE(papers::proved_utility(instance, price), optimum) << seed << ' ' << scale;
    }
    const auto prices = utility_prices(instance);
    const double judged = papers::proved_utility(instance, prices.price);
    EXPECT_GE(judged, optimum) << seed;
    EXPECT_LE(judged, prices.bound * (1.0 + 1e-6) + 1e-6) << seed;
  }
}

// A GPU, two slots, two workers at most: free, both worker-slots of the second job count although
// it arrives when one is left.
TEST(WorkerSlotProof, ByHand) {
  const std::vector<certify::WorkJob> jobs = {
      {.most = 2, .utility = {0.0, 4.0, 6.0}},
      {.arrival = 1, .most = 1, .utility = {1.0, 4.0, 9.0}}};
  EXPECT_DOUBLE_EQ(certify::prove_worker_slots(jobs, 1, std::vector<std::int64_t>{0, 0}), 10.0);
  const std::int64_t unit = std::int64_t{1} << certify::kWorkPriceLog2;
  // 3 + 4 of rents; 4 - 3 in the first slot; 4 - 4 or nothing: 1.
  EXPECT_DOUBLE_EQ(
      certify::prove_worker_slots(jobs, 1, std::vector<std::int64_t>{3 * unit, 4 * unit}), 9.0);
  const auto refused = [&](auto change, std::vector<std::int64_t> prices = {0, 0}) {
    return [=] {
      auto other = jobs;
      change(other[1]);
      (void)certify::prove_worker_slots(other, 1, prices);
    };
  };
  expect_refused(refused([](auto& job) { job.arrival = 2; }), "arrival", "job number 2");
  expect_refused(refused([](auto& job) { job.most = 0; }), "most", "job number 2");
  expect_refused(refused([](auto& job) { job.utility = {-1.0}; }), "utility", "job number 2");
  expect_refused(refused([](auto&) {}, {0, -1}), "prices", "below 0");
  expect_refused(refused([](auto&) {}, {}), "prices", "1 to 4,096");
}

}  // namespace
}  // namespace berth::bench
