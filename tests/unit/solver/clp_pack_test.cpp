// SPDX-License-Identifier: Apache-2.0
// The pack's relaxation against Clp over all contents a machine can have, listed one by one:
//   max sum worth_q x_q;  sum_q n_qs x_q <= jobs of kind s;  sum_q of class x_q <= machines.
#include "clp_optimum.hpp"
#include "petsc_environment.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "berth/solver/configuration_lp.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {
namespace {

using test::Dice;
using test::Tiny;

/// Jobs that are alike in all that matters here.
struct Kind {
  model::Shape shape;
  std::uint64_t types = 0;
  double weight = 0.0;
  std::int32_t jobs = 0;
};

struct Case {
  model::Instance instance;
  std::vector<Kind> kinds;
};

Case draw(std::uint64_t seed) {
  Dice dice(seed);
  Tiny tiny;
  Case drawn;
  const GpuTypeId types[] = {tiny.type("A"), tiny.type("B")};
  tiny.pod();
  tiny.rack();
  for (std::int64_t c = 1 + dice.below(3); c > 0; --c) {
    const ClassId id = tiny.machine_class("c" + std::to_string(c), types[dice.below(2)],
                                          static_cast<std::int32_t>(2 + dice.below(3)),
                                          8 + dice.below(8), 8 + dice.below(8));
    for (std::int64_t n = 1 + dice.below(6); n > 0; --n) tiny.machine(id);
  }
  std::set<model::Shape> used;
  for (std::int64_t k = 5 + dice.below(4); k > 0; --k) {
    Kind kind{.shape = {.needs = {1 + dice.below(5), 1 + dice.below(5)}},
              .types = static_cast<std::uint64_t>(dice.one_of({1, 2, 3, 3})),
              .weight = 0.5 + 0.1 * static_cast<double>(dice.below(20)),
              .jobs = static_cast<std::int32_t>(1 + dice.below(12))};
    if (dice.chance(40))
      kind.shape.gpus = static_cast<std::int32_t>(1 + dice.below(2));
    else
      kind.shape.gpu_milli = static_cast<std::int32_t>(50 * (4 + dice.below(13)));
    if (!used.insert(kind.shape).second) continue;
    for (std::int32_t j = 0; j < kind.jobs; ++j) {
      model::Job& job = tiny[tiny.job({{.gpus = kind.shape.gpus,
                                        .gpu_milli = kind.shape.gpu_milli,
                                        .cpu_milli = kind.shape.needs[model::kCpu],
                                        .memory_mib = kind.shape.needs[model::kMemory]}})];
      job.gpu_types = kind.types;
      job.weight = kind.weight;
    }
    drawn.kinds.push_back(kind);
  }
  drawn.instance = std::move(tiny.instance);
  return drawn;
}

/// Every content of an empty machine of one class, as counts by kind.
class Contents {
 public:
  Contents(const model::MachineClass& machine, std::span<const Kind> kinds)
      : machine_(machine), kinds_(kinds), count_(kinds.size(), 0) {
    add(0, std::vector<int>(static_cast<std::size_t>(machine.gpus), 1000),
        machine.capacity[model::kCpu], machine.capacity[model::kMemory]);
  }
  [[nodiscard]] const std::set<std::vector<int>>& all() const { return all_; }

 private:
  void add(std::size_t k, std::vector<int> free, std::int64_t cpu, std::int64_t memory) {
    all_.insert(count_);
    for (; k < kinds_.size(); ++k) {
      const model::Shape& s = kinds_[k].shape;
      if ((kinds_[k].types >> machine_.gpu_type.index() & 1) == 0) continue;
      if (s.needs[model::kCpu] > cpu || s.needs[model::kMemory] > memory) continue;
      ++count_[k];
      for (std::vector<int>& left : placed(s, free)) {
        add(k, std::move(left), cpu - s.needs[model::kCpu], memory - s.needs[model::kMemory]);
      }
      --count_[k];
    }
  }

  /// Free thousandths, descending, after one more task: every different device for a share.
  static std::set<std::vector<int>> placed_sets(const model::Shape& s,
                                                const std::vector<int>& free) {
    std::set<std::vector<int>> results;
    const auto keep = [&](std::vector<int> left) {
      std::ranges::sort(left, std::greater{});
      results.insert(std::move(left));
    };
    if (s.gpus > 0) {
      if (std::ranges::count(free, 1000) < s.gpus) return results;
      std::vector<int> left = free;
      int missing = s.gpus;
      for (int& f : left) {
        if (missing > 0 && f == 1000) {
          f = 0;
          --missing;
        }
      }
      keep(std::move(left));
      return results;
    }
    for (std::size_t d = 0; d < free.size(); ++d) {
      if (free[d] < s.gpu_milli) continue;
      std::vector<int> left = free;
      left[d] -= s.gpu_milli;
      keep(std::move(left));
    }
    return results;
  }
  static std::vector<std::vector<int>> placed(const model::Shape& s, const std::vector<int>& free) {
    const auto sets = placed_sets(s, free);
    return {sets.begin(), sets.end()};
  }

  const model::MachineClass& machine_;
  std::span<const Kind> kinds_;
  std::vector<int> count_;
  std::set<std::vector<int>> all_;
};

/// Rows: kinds, then classes.
LinearProgram listed(const Case& c) {
  LinearProgram lp;
  for (const Kind& kind : c.kinds) lp.rhs.push_back(kind.jobs);
  for (std::size_t k = 0; k < c.instance.cluster.classes.size(); ++k) {
    lp.rhs.push_back(
        static_cast<double>(std::ranges::count(c.instance.cluster.machine_class, ClassId(k))));
    const Contents contents(c.instance.cluster.classes[k], c.kinds);
    for (const std::vector<int>& counts : contents.all()) {
      std::vector<std::pair<std::int32_t, double>> entries;
      double worth = 0.0;
      for (std::size_t s = 0; s < counts.size(); ++s) {
        if (counts[s] == 0) continue;
        entries.emplace_back(static_cast<std::int32_t>(s), counts[s]);
        worth += counts[s] * c.kinds[s].weight *
                 static_cast<double>(c.kinds[s].shape.total_milli()) / 1000.0;
      }
      if (entries.empty()) continue;
      entries.emplace_back(static_cast<std::int32_t>(c.kinds.size() + k), 1.0);
      lp.add_column(worth, entries);
    }
  }
  return lp;
}

TEST(PackAgainstClp, relaxes_to_the_optimum_over_all_contents) {
  std::size_t most = 0;
  int generated = 0;  // instances whose optimum needs columns beyond the first
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Case c = draw(seed);
    const LinearProgram lp = listed(c);
    most = std::max(most, lp.columns());
    const double optimum = test::clp_optimum(lp).value;
    const planner_model::Valuation value(c.instance, model::Objective::value);
    std::vector<MachineId> machines;
    std::vector<JobId> jobs;
    for (std::size_t m = 0; m < c.instance.cluster.machines(); ++m) machines.emplace_back(m);
    for (std::size_t j = 0; j < c.instance.workload.jobs.size(); ++j) jobs.emplace_back(j);
    Occupancy occupancy(value, machines);
    const PackResult packed = pack(occupancy, jobs, {.relaxation_share = 1.0}, {.gap = 1e-6});
    if (packed.stats.rounds > 2) ++generated;
    const double slack = 1e-9 * std::max(1.0, optimum);
    EXPECT_NEAR(packed.relaxation, optimum, 2e-5 * optimum + slack);
    EXPECT_GE(packed.bound, packed.value - slack);
    EXPECT_GE(packed.bound, optimum * (1 - 2e-5) - slack);  // no tighter than what it relaxes
    EXPECT_LE(packed.value, optimum + slack);
  }
  EXPECT_GT(most, 200U);
  EXPECT_GT(generated, 20);
}

/// Bound of the configuration LP, from prices of one GPU that are far off.
ConfigurationSolution solved(const model::Instance& instance, const ConfigurationOptions& options) {
  const planner_model::Valuation value(instance, model::Objective::value);
  const JobGrouping grouping(value);
  JobCounts jobs;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    jobs.emplace_back(grouping(JobId(j)), 1);
  }
  merge_equal(jobs);
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
  const auto bins =
      bin_types(instance.cluster, planner_model::Room(instance.cluster), machines, 64);
  const std::vector<double> start(instance.cluster.gpu_types.size() + 1, 0.3);
  return solve_configuration_lp(instance, bins, std::move(jobs), {.gpu_price = start}, options);
}

TEST(ConfigurationLpAgainstClp, reaches_the_optimum_over_all_contents) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Case c = draw(seed);
    const double optimum = test::clp_optimum(listed(c)).value;
    const double slack = 1e-9 * std::max(1.0, optimum);
    const ConfigurationSolution solution = solved(c.instance, {.relative_gap = 1e-5});
    EXPECT_NEAR(solution.value, optimum, 2e-5 * optimum + slack);
    EXPECT_GE(solution.bound, optimum - slack);
    EXPECT_LE(solution.bound, optimum * (1 + 2e-5) + slack);
  }
}

}  // namespace
}  // namespace berth::solver
