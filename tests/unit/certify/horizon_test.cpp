// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/horizon.hpp"

#include "random_horizon.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::certify {
namespace {

using horizon::Plan;
using horizon::PriceCertificate;
using horizon::Problem;
using horizon::Seconds;
using horizon::TaskGroup;

constexpr double kUnit = 1.0 / static_cast<double>(1LL << horizon::kPriceFractionBits);

/// Prices with jumps on five intervals for two curves.
PriceCertificate drawn_prices(std::uint64_t seed) {
  PriceCertificate certificate{.nodes = {0, 3, 7, 12, 20, 31}, .starts = {}, .slopes = {}};
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Seconds length = certificate.nodes[i % 5 + 1] - certificate.nodes[i % 5];
    const auto start = static_cast<std::int64_t>(random_below(1ULL << 33, {seed, i, 0}));
    const auto end = static_cast<std::int64_t>(random_below(1ULL << 33, {seed, i, 1}));
    certificate.starts.push_back(start);
    certificate.slopes.push_back((end - start) / length);
  }
  return certificate;
}

/// Twice the price of a GPU from `from` to `to`, second by second, in doubles.
double rent(const PriceCertificate& certificate, std::size_t curve, Seconds from, Seconds to) {
  double sum = 0.0;
  for (Seconds t = from; t < to; ++t) {
    for (std::size_t k = 0; k < 5; ++k) {
      if (t < certificate.nodes[k] || t >= certificate.nodes[k + 1]) continue;
      const double past = static_cast<double>(t - certificate.nodes[k]) + 0.5;
      sum += static_cast<double>(certificate.starts[5 * curve + k]) +
             static_cast<double>(certificate.slopes[5 * curve + k]) * past;
    }
  }
  return sum * kUnit;
}

/// The bound by trying every whole second.
double slow_bound(const Problem& problem, const PriceCertificate& certificate) {
  double bound = 0.0;
  for (const auto& job : problem.jobs) {
    double least = job.required ? 1e300 : 0.0;
    for (const auto& option : problem.options_of(job)) {
      for (const PoolId pool : problem.pools_of(option)) {
        const std::size_t curve = problem.pools[pool.index()].curve.index();
        for (Seconds t = job.release; t < 120 && t + option.duration <= job.deadline; ++t) {
          const Seconds end = t + option.duration;
          least = std::min(least,
                           cost_at(problem.cost_of(option), end) +
                               static_cast<double>(option.gpus) * rent(certificate, curve, t, end));
        }
      }
    }
    bound += least;
  }
  for (const auto& pool : problem.pools) {
    for (Seconds t = 0; t < 31; ++t) {
      bound -= static_cast<double>(test::capacity_at(pool, t)) *
               rent(certificate, pool.curve.index(), t, t + 1);
    }
  }
  return bound;
}

Plan placed_at_release(const Problem& problem) {
  Plan plan;
  for (const auto& job : problem.jobs) {
    const PoolId pool = problem.pools_of(problem.options_of(job).front()).front();
    plan.starts.push_back({.option = 0, .pool = pool, .start = job.release, .shares = {}});
  }
  return plan;
}

TEST(HorizonProof, is_the_bound_that_every_whole_second_gives) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const auto kind : {test::HorizonCost::flow, test::HorizonCost::table}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      const Problem problem = test::random_horizon({.seed = seed, .jobs = 12, .gpus = 8}, kind);
      const PriceCertificate certificate = drawn_prices(seed);
      const double slow = slow_bound(problem, certificate);
      const double bound = prove_horizon(problem, placed_at_release(problem), certificate).bound;
      EXPECT_NEAR(bound, slow, 1e-7 * (1.0 + std::abs(slow)));
    }
  }
}

/// A share of each job that waits for others, to the first of them.
std::vector<horizon::CostShare> drawn_shares(const Problem& problem, std::uint64_t seed) {
  std::vector<horizon::CostShare> shares;
  for (const auto& pair : problem.dependencies) {
    if (!shares.empty() && shares.back().job == pair.job) continue;
    const auto share =
        static_cast<std::int64_t>(random_below(horizon::kShareUnit + 1, {seed, shares.size()}));
    shares.push_back({.job = pair.job, .after = pair.after, .share = share});
  }
  return shares;
}

TEST(HorizonProof, shares_of_costs_prove_no_more_than_the_best_plan_costs) {
  int with_shares = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const auto kind : {test::HorizonCost::flow, test::HorizonCost::table}) {
      const Problem problem = test::random_horizon(
          {.seed = seed, .jobs = 3, .longest = 5, .span = 9, .dependencies = true}, kind);
      const double least = test::ExhaustiveHorizon(problem, 20).least_cost();
      if (least > 1e200) continue;  // some job cannot run
      for (std::uint64_t draw = 0; draw < 20; ++draw) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", draw " << draw);
        PriceCertificate certificate = drawn_prices(draw);
        for (auto& price : certificate.starts) price >>= draw % 8;
        for (auto& slope : certificate.slopes) slope = 0;
        const Plan plan = placed_at_release(problem);
        const double without = prove_horizon(problem, plan, certificate).bound;
        certificate.shares = drawn_shares(problem, 100 * seed + draw);
        const double bound = prove_horizon(problem, plan, certificate).bound;
        EXPECT_LE(bound, least + 1e-9);
        with_shares += bound > without + 1e-3;
      }
    }
  }
  EXPECT_GE(with_shares, 100);  // of 2,400: shares prove something
}

/// Sizes of 1 to 4 GPUs on both curves, of 0 to 1.5 times their GPUs.
std::vector<horizon::SizeFactor> drawn_sizes(std::uint64_t seed) {
  std::vector<horizon::SizeFactor> sizes;
  for (std::size_t curve = 0; curve < 2; ++curve) {
    for (horizon::Gpus gpus = 1; gpus <= 4; ++gpus) {
      const auto part = random_below(4, {seed, curve, static_cast<std::uint64_t>(gpus)});
      if (part == 0) continue;
      const auto half = static_cast<std::int64_t>(part) * gpus;
      sizes.push_back({.curve = curve, .gpus = gpus, .factor = half * horizon::kRentUnit / 2});
    }
  }
  return sizes;
}

/// Checks against all plans that no draw of prices with what `add` adds proves too much. Returns
/// how many bounds it raised. @param add  (certificate, seed)
template <class Add>
int raised_bounds(Add&& add) {
  int raised = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const auto kind : {test::HorizonCost::flow, test::HorizonCost::table}) {
      const Problem problem =
          test::random_horizon({.seed = seed, .jobs = 3, .longest = 5, .span = 9}, kind);
      const double least = test::ExhaustiveHorizon(problem, 20).least_cost();
      if (least > 1e200) continue;  // some job cannot run
      for (std::uint64_t draw = 1; draw <= 15; ++draw) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", draw " << draw);
        PriceCertificate certificate = drawn_prices(draw);
        for (auto& price : certificate.starts) price >>= draw % 4;
        for (auto& slope : certificate.slopes) slope = 0;
        const Plan plan = placed_at_release(problem);
        const double without = prove_horizon(problem, plan, certificate).bound;
        add(certificate, 100 * seed + draw);
        const double bound = prove_horizon(problem, plan, certificate).bound;
        EXPECT_LE(bound, least + 1e-9);
        raised += bound > without + 1e-3;
      }
    }
  }
  return raised;
}

TEST(HorizonProof, sizes_of_gangs_prove_no_more_than_the_best_plan_costs) {
  const int raised = raised_bounds([](PriceCertificate& certificate, std::uint64_t seed) {
    certificate.sizes = drawn_sizes(seed);
  });
  EXPECT_GE(raised, 50);  // sizes prove something
}

TEST(HorizonProof, sizes_of_gangs_hold_to_the_last_gpu) {
  int tight = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {  // 7 GPUs for one second
    horizon::ProblemBuilder builder;
    const auto pools =
        builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 1, 7)});
    for (std::uint64_t j = 0; j < 7; ++j) {
      const auto gpus = static_cast<std::int32_t>(1 + random_below(5, {seed, j, 0}));
      const auto value = static_cast<double>(random_below(4, {seed, j, 1})) * gpus / 2.0;
      (void)builder.add_job(0, false, 1);
      const auto cost = builder.add_cost(std::array{horizon::CostPiece{0, -value, 0.0}});
      builder.add_option(pools, 1, std::array{horizon::TaskGroup{1, gpus}}, cost);
    }
    const Problem problem = builder.build();
    PriceCertificate certificate{.nodes = {0, 1}, .starts = {1LL << 32}, .slopes = {0}};
    certificate.sizes = drawn_sizes(seed);
    std::erase_if(certificate.sizes, [](const auto& size) { return size.curve > 0; });
    if (certificate.sizes.empty()) continue;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const double least = test::ExhaustiveHorizon(problem, 1).least_cost();
    const double bound = prove_horizon(problem, placed_at_release(problem), certificate).bound;
    EXPECT_LE(bound, least);
    tight += bound == least;
  }
  EXPECT_GE(tight, 10);
}

TEST(HorizonProof, refuses_sizes_that_prove_nothing) {
  Problem problem = test::random_horizon({.seed = 2, .jobs = 3}, test::HorizonCost::flow);
  const Plan plan = placed_at_release(problem);
  const auto refused = [&](std::vector<horizon::SizeFactor> sizes) {
    PriceCertificate certificate = drawn_prices(1);
    certificate.sizes = std::move(sizes);
    EXPECT_THROW((void)prove_horizon(problem, plan, certificate), InputError);
  };
  refused({{.curve = 2, .gpus = 1, .factor = 1}});
  refused({{.curve = 0, .gpus = 0, .factor = 1}});
  refused({{.curve = 0, .gpus = 1, .factor = -1}});
  refused({{.curve = 0, .gpus = 1, .factor = std::int64_t{1} << 50}});
  refused({{.curve = 0, .gpus = 1, .factor = 1}, {.curve = 0, .gpus = 1, .factor = 2}});
  problem.options.front().rent = 0;  // as factors of shapes have it
  refused({{.curve = 0, .gpus = 1, .factor = 1}});
}

/// Adds prices of multiples of 2 and 3 GPUs on both curves, drawn like those of the curves.
void add_multiples(PriceCertificate& certificate, std::uint64_t seed) {
  const std::size_t intervals = certificate.intervals();
  for (std::size_t curve = 0; curve < 2; ++curve) {
    for (horizon::Gpus gpus = 2; gpus <= 3; ++gpus) {
      if (random_below(2, {seed, curve, static_cast<std::uint64_t>(gpus)}) == 0) continue;
      certificate.multiples.push_back({.curve = curve, .gpus = gpus});
      for (std::size_t k = 0; k < intervals; ++k) {
        const auto part = random_below(5, {seed, curve, static_cast<std::uint64_t>(gpus), k});
        const auto half = static_cast<std::int64_t>(part) * certificate.starts[k] / 2;
        certificate.starts.push_back(half);
        certificate.slopes.push_back(0);
      }
    }
  }
}

TEST(HorizonProof, multiples_of_gangs_prove_no_more_than_the_best_plan_costs) {
  const int raised = raised_bounds([](PriceCertificate& certificate, std::uint64_t seed) {
    if (seed % 2 == 0) certificate.sizes = drawn_sizes(seed);
    add_multiples(certificate, seed);
  });
  EXPECT_GE(raised, 15);  // of 1,200: multiples prove something
}

TEST(HorizonProof, multiples_of_gangs_hold_to_the_last_gpu) {
  int tight = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {  // one second; 7 or 8 GPUs are open
    horizon::ProblemBuilder builder;
    const auto gpus_of_all = static_cast<std::int32_t>(8 + seed % 2);
    const auto pools =
        builder.add_pool_set(std::array{builder.add_pool(horizon::CurveId(0), 1, gpus_of_all)});
    for (std::uint64_t j = 0; j < 7; ++j) {
      const auto gpus = static_cast<std::int32_t>(1 + random_below(5, {seed, j, 0}));
      const auto pairs = gpus / 2 * 2;
      (void)builder.add_job(0, false, 1);
      const double value = static_cast<double>(pairs) + (j % 2 == 0 ? 0.0 : 0.5);
      const auto cost = builder.add_cost(std::array{horizon::CostPiece{0, -value, 0.0}});
      builder.add_option(pools, 1, std::array{horizon::TaskGroup{1, gpus}}, cost);
    }
    builder.add_outage({.machine = MachineId(0), .from = 0, .to = 1, .devices = 1});
    const Problem problem = builder.build();
    PriceCertificate certificate{.nodes = {0, 1}, .starts = {0, 1LL << 32}, .slopes = {0, 0}};
    certificate.multiples = {{.curve = 0, .gpus = 2}};
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const double least = test::ExhaustiveHorizon(problem, 1).least_cost();
    const double bound = prove_horizon(problem, placed_at_release(problem), certificate).bound;
    EXPECT_LE(bound, least);
    tight += bound > least - 1.0;
  }
  EXPECT_GE(tight, 10);
}

TEST(HorizonProof, refuses_multiples_that_prove_nothing) {
  Problem problem = test::random_horizon({.seed = 2, .jobs = 3}, test::HorizonCost::flow);
  const Plan plan = placed_at_release(problem);
  const auto refused = [&](horizon::MultipleOfGpus one, std::size_t prices) {
    PriceCertificate certificate = drawn_prices(1);
    certificate.multiples = {one};
    certificate.starts.resize(certificate.starts.size() + prices, 1);
    certificate.slopes.resize(certificate.starts.size(), 0);
    EXPECT_THROW((void)prove_horizon(problem, plan, certificate), InputError);
  };
  const std::size_t intervals = drawn_prices(1).intervals();
  refused({.curve = 2, .gpus = 2}, intervals);
  refused({.curve = 0, .gpus = 0}, intervals);
  refused({.curve = 0, .gpus = -2}, intervals);
  refused({.curve = 0, .gpus = 2}, 0);
  problem.options.front().rent = 0;  // as factors of shapes have it
  refused({.curve = 0, .gpus = 2}, intervals);
}

TEST(HorizonProof, refuses_shares_that_prove_nothing) {
  Problem problem =
      test::random_horizon({.seed = 5, .jobs = 6, .dependencies = true}, test::HorizonCost::flow);
  const Plan plan = placed_at_release(problem);
  const auto shares = drawn_shares(problem, 1);
  ASSERT_GE(shares.size(), 2U);
  const auto refused = [&](std::vector<horizon::CostShare> wrong) {
    PriceCertificate certificate;
    certificate.shares = std::move(wrong);
    EXPECT_THROW((void)prove_horizon(problem, plan, certificate), InputError);
  };
  refused({shares[0], shares[0]});
  refused({{.job = shares[0].job, .after = shares[0].after, .share = -1}});
  refused({{.job = shares[0].job, .after = shares[0].after, .share = horizon::kShareUnit + 1}});
  refused({{.job = shares[0].after, .after = shares[0].job, .share = 1}});
  problem.jobs[shares[0].after.index()].required = false;  // it bears a cost above 0
  refused({shares[0]});
}

TEST(HorizonProof, counts_required_jobs_that_wait_on_neither_side) {
  const Problem problem = test::random_horizon({.seed = 2, .jobs = 3}, test::HorizonCost::flow);
  Plan plan = placed_at_release(problem);
  plan.starts[1] = {};
  const auto proof = prove_horizon(problem, plan, PriceCertificate{});
  EXPECT_EQ(proof.required_missing, std::vector{JobId(1)});
  EXPECT_NEAR(proof.objective, cost_of(problem, plan), 1e-6);
  EXPECT_LE(proof.bound, proof.objective);
}

TEST(HorizonProof, refuses_prices_that_prove_nothing) {
  const Problem problem = test::random_horizon({.seed = 2, .jobs = 3}, test::HorizonCost::flow);
  const Plan plan = placed_at_release(problem);
  const auto refused = [&](const std::function<void(PriceCertificate&)>& spoil) {
    PriceCertificate certificate = drawn_prices(1);
    spoil(certificate);
    EXPECT_THROW((void)prove_horizon(problem, plan, certificate), InputError);
  };
  refused([](auto& c) { c.starts[3] = -1; });
  refused([](auto& c) { c.slopes[3] = -c.starts[3]; });  // negative at the end
  refused([](auto& c) { c.starts[3] = std::int64_t{1} << 55; });
  refused([](auto& c) { c.nodes[2] = c.nodes[1]; });
  refused([](auto& c) { c.nodes.front() = 1; });
  refused([](auto& c) { c.slopes.pop_back(); });
}

/// Two machines of 4 GPUs in one pool, one in another; a gang of 2 x 2 and a task of 3 GPUs.
class HorizonCheck : public testing::Test {
 protected:
  HorizonCheck() {
    horizon::ProblemBuilder builder;
    const PoolId pool = builder.add_pool(horizon::CurveId(0), 2, 4);
    (void)builder.add_pool(horizon::CurveId(0), 1, 4);
    const auto pools = builder.add_pool_set(std::array{pool});
    builder.add_outage(MachineId(1), 20, 30);
    for (const TaskGroup group : {TaskGroup{2, 2}, TaskGroup{1, 3}}) {
      (void)builder.add_job(5, true, 50);
      const auto cost = builder.add_cost(std::array{horizon::flow_cost(5, 1.0)});
      builder.add_option(pools, 10, std::array{group}, cost);
    }
    problem_ = builder.build();
    horizon::MachineTimeline timeline(problem_);
    horizon::PlanBuilder built(problem_, timeline);
    for (const JobId job : {JobId(0), JobId(1)}) {
      built.place(job, {.option = 0, .pool = pool, .start = 5, .shares = {}});
    }
    plan_ = built.plan();
    assign_devices(problem_, plan_);
  }

  void expect_fault(HorizonFaultKind kind, const std::function<void(Plan&)>& spoil) {
    Plan plan = plan_;
    spoil(plan);
    const auto faults = check_on_machines(problem_, plan);
    EXPECT_TRUE(std::ranges::any_of(faults, [&](const auto& f) { return f.kind == kind; }));
  }

  Problem problem_;
  Plan plan_;
};

TEST_F(HorizonCheck, accepts_a_feasible_plan) {
  EXPECT_TRUE(check_on_machines(problem_, plan_).empty());
  EXPECT_TRUE(check_on_pools(problem_, plan_).empty());
}

TEST_F(HorizonCheck, finds_each_fault) {
  using K = HorizonFaultKind;
  expect_fault(K::unknown_option, [](Plan& p) { p.starts[0].option = 1; });
  expect_fault(K::unknown_option, [](Plan& p) { p.starts.pop_back(); });
  expect_fault(K::wrong_pool, [](Plan& p) { p.starts[0].pool = PoolId(1); });
  expect_fault(K::before_release, [](Plan& p) { p.starts[0].start = 4; });
  expect_fault(K::after_deadline, [](Plan& p) { p.starts[0].start = 41; });
  expect_fault(K::wrong_tasks, [](Plan& p) { p.starts[0].shares.end = 0; });
  expect_fault(K::wrong_tasks, [](Plan& p) { p.shares[0].group = 1; });
  expect_fault(K::wrong_machine, [](Plan& p) { p.shares[0].machine = MachineId(2); });
  expect_fault(K::wrong_devices, [](Plan& p) { p.shares[0].devices <<= 2U; });
  expect_fault(K::wrong_devices, [](Plan& p) { p.shares[0].devices >>= 1U; });
  expect_fault(K::device_conflict, [](Plan& p) { p.starts[0].start = 12; });  // the outage
  expect_fault(K::device_conflict, [](Plan& p) { p.shares[1].machine = MachineId(1); });
}

TEST_F(HorizonCheck, finds_a_pool_that_is_over_full) {
  Plan plan = plan_;
  for (auto& start : plan.starts) start.start = 21;  // 7 GPUs beside an outage of 4 of 8
  const auto faults = check_on_pools(problem_, plan);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults.front().kind, HorizonFaultKind::pool_over_full);
  EXPECT_EQ(faults.front().time, 21);
}

}  // namespace
}  // namespace berth::certify
