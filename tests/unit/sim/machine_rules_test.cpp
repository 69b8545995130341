// SPDX-License-Identifier: Apache-2.0
// Rules of jobs about their machines, under every policy of the simulator.
#include "one_pool.hpp"
#include "with_petsc.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/sim/berth_policy.hpp"
#include "berth/sim/share_policy.hpp"

namespace berth::test {
namespace {

constexpr sim::Micros s = sim::kSecond;
constexpr std::int32_t kAny = model::PlacementRules::kAnyNumber;

/// Rows: none; exclusive; label x; not with x; one task a machine; three machines.
policy::MachineRules six_rules() {
  policy::MachineRules rules;
  rules.rows.resize(6);
  rules.rows[1].exclusive = true;
  rules.rows[2].labels = {"x"};
  rules.rows[3].not_with = {"x"};
  rules.rows[4].max_tasks = {1, kAny, kAny};
  rules.rows[5].min_domains = {3, 1, 1};
  model::link_rules(rules.rows);
  return rules;
}

struct RuledRow {
  TraceRow row;
  std::uint32_t rules = 0;
};

sim::Trace ruled_trace(const std::vector<RuledRow>& rows) {
  std::vector<TraceRow> plain;
  for (const RuledRow& ruled : rows) plain.push_back(ruled.row);
  sim::Trace trace = trace_of(plain);
  trace.rules = six_rules();
  for (std::size_t j = 0; j < rows.size(); ++j) {
    policy::Demand demand = trace.demands[trace.jobs[j].demand];
    demand.rules = rows[j].rules;
    const auto at = std::ranges::find(trace.demands, demand);
    trace.jobs[j].demand = static_cast<std::uint32_t>(at - trace.demands.begin());
    if (at == trace.demands.end()) trace.demands.push_back(demand);
  }
  return trace;
}

/// Breaches of rules in the records, by pairs of runs that share time and a machine.
int breaches(const sim::Trace& trace, const sim::Run& run) {
  struct OneRun {
    std::uint32_t rules;
    model::JobRun run;
    std::map<std::int32_t, int> tasks;  ///< by machine
  };
  std::vector<OneRun> runs;
  int found = 0;
  for (const auto& record : run.records) {
    const policy::Demand& demand = trace.demands[trace.jobs[record.job.index()].demand];
    for (const auto& one : record.runs) {
      runs.push_back({demand.rules, one, {}});
      for (const auto& task : one.tasks) ++runs.back().tasks[task.machine.value()];
      for (const auto& [machine, count] : runs.back().tasks)
        found += demand.rules == 4 && count > 1;
      found += demand.rules == 5 && runs.back().tasks.size() < 3;
    }
  }
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto& [first, second] = std::pair(runs[a], runs[b]);
      if (first.run.start >= second.run.end || second.run.start >= first.run.end) continue;
      const std::set<std::uint32_t> rules{first.rules, second.rules};
      if (!rules.contains(1) && rules != std::set<std::uint32_t>{2, 3}) continue;
      for (const auto& [machine, count] : first.tasks) found += second.tasks.contains(machine);
    }
  }
  return found;
}

std::vector<std::pair<std::string, std::unique_ptr<policy::Policy>>> all_policies(
    sim::BerthCounts& counts) {
  std::vector<std::pair<std::string, std::unique_ptr<policy::Policy>>> all;
  for (const policy::PolicyRow& row : policy::policy_table())
    all.emplace_back(row.name, row.make({}));
  for (const char* name : {"max-min", "max-sum", "pop-2"})
    all.emplace_back(name, sim::make_share_policy(*sim::share_policy_options(name)));
  sim::BerthOptions options;
  all.emplace_back("berth", sim::make_berth(options, counts));
  options.preemption = false;
  all.emplace_back("berth, kept", sim::make_berth(options, counts));
  return all;
}

class MachineRules : public WithPetsc<> {};

TEST_F(MachineRules, every_policy_keeps_them) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::vector<RuledRow> rows;
    sim::Micros arrival = 0;
    for (std::uint64_t j = 0; j < 150; ++j) {
      arrival += static_cast<sim::Micros>(random_below(900, {seed, j, 0})) * s;
      const auto rules = static_cast<std::uint32_t>(random_below(6, {seed, j, 1}));
      const std::int64_t least = rules == 5 ? 3 : 1;
      const auto gpus = static_cast<std::int32_t>(least + random_below(3, {seed, j, 2}));
      const auto work = static_cast<sim::Micros>(1 + random_below(9000, {seed, j, 3})) * s;
      rows.push_back({{arrival, gpus, work}, rules});
    }
    const sim::Trace trace = ruled_trace(rows);
    sim::BerthCounts counts;
    for (const auto& [name, policy] : all_policies(counts)) {
      SCOPED_TRACE(testing::Message() << name << ", seed " << seed);
      const auto run = sim::simulate(one_pool(6, 4), trace, *policy);
      EXPECT_EQ(breaches(trace, run), 0);
      for (const auto& record : run.records) EXPECT_TRUE(record.finished());
    }
  }
}

TEST_F(MachineRules, an_exclusive_job_waits_for_a_machine_and_keeps_it_alone) {
  const sim::Trace trace = ruled_trace({{{0, 1, 100 * s}, 0},
                                        {{1 * s, 1, 50 * s}, 1},   // the other machine
                                        {{2 * s, 1, 10 * s}, 1},   // no machine is empty
                                        {{3 * s, 3, 5 * s}, 0},    // beside the first
                                        {{4 * s, 1, 5 * s}, 0}});  // the first has its machine full
  const auto run = replay(one_pool(2, 4), trace, "best-fit");
  EXPECT_EQ(start_seconds(run), (std::vector<double>{0, 1, 51, 3, 8}));
}

TEST_F(MachineRules, backfill_leaves_the_machine_of_an_exclusive_job_alone) {
  // The second job waits for the only machine until 10 s; the third would run beyond that beside
  // it.
  const sim::Trace trace =
      ruled_trace({{{0, 1, 10 * s}, 0}, {{1 * s, 1, 10 * s}, 1}, {{2 * s, 1, 50 * s}, 0}});
  for (const char* policy : {"easy", "conservative"}) {
    SCOPED_TRACE(policy);
    EXPECT_EQ(start_seconds(replay(one_pool(1, 4), trace, policy)),
              (std::vector<double>{0, 10, 20}));
  }
}

TEST_F(MachineRules, jobs_that_fit_no_empty_cluster_under_them_are_refused) {
  sim::Trace trace = ruled_trace({{{0, 3, s}, 4}, {{0, 3, s}, 5}, {{0, 2, s}, 4}, {{0, 8, s}, 1}});
  sim::refuse_too_large(one_pool(2, 4), trace);
  ASSERT_EQ(trace.refused.size(), 2U);
  EXPECT_EQ(trace.refused[0].job, JobId(0));
  EXPECT_EQ(trace.refused[1].job, JobId(1));
}

}  // namespace
}  // namespace berth::test
