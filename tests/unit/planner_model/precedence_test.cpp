// SPDX-License-Identifier: Apache-2.0
// The order of jobs, and equal jobs that take each other's places.
#include "berth/planner_model/precedence.hpp"

#include "tiny.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/equal_jobs.hpp"

namespace berth::planner_model {
namespace {

using test::Tiny;

Tiny eight_gpus() {
  Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 8, 64000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  return tiny;
}

/// Each key decides only when those before it tie. The better job has the larger id.
TEST(Precedence, is_required_then_density_then_priority_then_arrival_then_id) {
  const std::vector<std::function<void(model::Job & better, model::Job & worse)>> keys{
      [](model::Job& better, model::Job&) { better.required = true; },
      [](model::Job& better, model::Job&) { better.weight = 2.0; },
      [](model::Job& better, model::Job&) { better.priority = 1; },
      [](model::Job&, model::Job& worse) { worse.arrival = 1; },
  };
  for (std::size_t key = 0; key < keys.size(); ++key) {
    Tiny tiny = eight_gpus();
    const JobId worse = tiny.job({{.gpus = 1}}), better = tiny.job({{.gpus = 1}});
    const Valuation valuation(tiny.instance, model::Objective::value);
    EXPECT_LT(precedence(valuation, worse), precedence(valuation, better)) << "by id";
    for (std::size_t later = key + 1; later < keys.size(); ++later) {
      keys[later](tiny[worse], tiny[better]);
    }
    keys[key](tiny[better], tiny[worse]);
    EXPECT_LT(precedence(valuation, better), precedence(valuation, worse)) << key;
    EXPECT_EQ(precedence_ranks(valuation, std::vector{worse, better}),
              (std::vector<std::uint32_t>{1, 0}));
  }
}

TEST(Precedence, takes_the_value_per_gpu_or_of_jobs_without_gpus_per_cpu) {
  Tiny tiny = eight_gpus();
  const JobId wide = tiny.job({{.gpus = 4}}), narrow = tiny.job({{.gpus = 1}});
  const JobId large = tiny.job({{.cpu_milli = 4000}}), small = tiny.job({{.cpu_milli = 1000}});
  tiny[wide].value = tiny[large].value = 3.0;
  tiny[narrow].value = tiny[small].value = 1.0;
  const Valuation valuation(tiny.instance, model::Objective::value);
  std::vector<JobId> jobs{wide, narrow, large, small};
  sort_by_precedence(valuation, jobs);
  const auto before = [&](JobId a, JobId b) {
    return std::ranges::find(jobs, a) < std::ranges::find(jobs, b);
  };
  EXPECT_TRUE(before(narrow, wide));
  EXPECT_TRUE(before(small, large));
}

/// Changing any other field makes another class.
TEST(JobClass, is_the_same_for_jobs_that_differ_in_priority_and_arrival_alone) {
  Tiny tiny = eight_gpus();
  const JobId a = tiny.job({{.gpus = 1}});
  const JobId equal = tiny.job({{.gpus = 1, .label = "other"}});
  tiny[equal].priority = 7, tiny[equal].arrival = 9;
  const auto of = [&](JobId j) { return job_class(tiny.instance.workload, tiny[j]); };
  EXPECT_EQ(of(a), of(equal));
  const std::vector<std::function<void(model::Job&)>> changes{
      [](model::Job& j) { j.gpu_types = 1; },
      [](model::Job& j) { j.speed = 1; },
      [](model::Job& j) { j.home_factor = 1; },
      [](model::Job& j) { j.width_factor = 1; },
      [](model::Job& j) { j.domain = model::Level::pod; },
      [](model::Job& j) { j.required = true; },
      [](model::Job& j) { j.home_rack = RackId(0); },
      [](model::Job& j) { j.home_pod = PodId(0); },
      [](model::Job& j) { j.queue = QueueId(0); },
      [](model::Job& j) { j.weight = 2.0; },
      [](model::Job& j) { j.value = 1.0; },
      [](model::Job& j) { j.communication.pattern = model::CommunicationPattern::ring; },
      [](model::Job& j) { j.communication.servers = 1; },
      [](model::Job& j) { j.communication.mbps = 1; },
  };
  for (std::size_t c = 0; c < changes.size(); ++c) {
    model::Job changed = tiny[a];
    changes[c](changed);
    EXPECT_NE(job_class(tiny.instance.workload, changed), of(a)) << c;
  }
  EXPECT_NE(of(tiny.job({{.count = 2, .gpus = 1}})), of(a));
  EXPECT_NE(of(tiny.job({{.gpus = 2}})), of(a));
  EXPECT_NE(of(tiny.job({{.gpus = 1}, {.cpu_milli = 1}})), of(a));
}

/// Any classes, priorities, places and values: afterwards the first of each class hold its places,
/// by value, and a place moves only where its holder had no right to its value.
TEST(Handovers, give_the_places_of_equal_jobs_to_those_with_precedence) {
  std::mt19937 dice(1);
  const auto draw = [&](int below) {
    return static_cast<int>(dice() % static_cast<unsigned>(below));
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<EqualJob> jobs;
    for (int j = 0; j < 1 + draw(12); ++j) {
      const bool placed = draw(2) == 0;
      jobs.push_back({.of = {1, static_cast<std::uint64_t>(draw(3))},
                      .precedence = {.priority = draw(3), .arrival = draw(2), .job = JobId(j)},
                      .placed = placed,
                      .value = placed ? 1.0 + draw(2) : 0.0});
    }
    std::map<JobId, double> value;
    for (const EqualJob& j : jobs) {
      if (j.placed) value[j.precedence.job] = j.value;
    }
    const std::map<JobId, double> before = value;
    const auto all = handovers(jobs);
    for (const Handover& h : all) ASSERT_EQ(value.erase(h.from), 1U) << "gives what it has, once";
    for (const Handover& h : all) {
      ASSERT_TRUE(value.emplace(h.to, before.at(h.from)).second) << "gets one";
      const auto old = before.find(h.to);
      EXPECT_TRUE(old == before.end() || old->second != before.at(h.from)) << "needed it";
    }
    for (const EqualJob& a : jobs) {
      for (const EqualJob& b : jobs) {
        if (a.of != b.of || !(a.precedence < b.precedence)) continue;
        const auto worth = [&](const EqualJob& j) {
          const auto at = value.find(j.precedence.job);
          return at == value.end() ? 0.0 : at->second;
        };
        EXPECT_GE(worth(a), worth(b));
      }
    }
    std::ranges::shuffle(jobs, dice);
    const auto key = [](const Handover& h) { return std::pair(h.from, h.to); };
    EXPECT_TRUE(std::ranges::equal(handovers(jobs), all, {}, key, key));
  }
}

}  // namespace
}  // namespace berth::planner_model
