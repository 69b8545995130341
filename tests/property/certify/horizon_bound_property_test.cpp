// SPDX-License-Identifier: Apache-2.0
// Bounds in time by any prices against the best plan of tiny instances, found by trying all of
// them: contents of machines, running jobs, maintenance, quotas and budgets, jobs in order.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/certify/horizon_plan.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::certify {
namespace {

constexpr std::int64_t kUnit = 1800;  ///< seconds
constexpr int kUnits = 4;             ///< of the horizon
constexpr int kMachines = 3;          ///< the last one of another GPU type

struct TinyJob {
  int tasks, gpus, cpu, units, value, earliest, queue;  ///< queue 0: below queue 1
};

struct Tiny {
  std::array<int, kMachines> gpus{4, 4, 3}, cpu{6, 6, 9};
  std::array<int, 2> quota{}, budget{};                      ///< GPUs; GPU-hours
  int running_gpus = 0, running_cpu = 0, running_units = 0;  ///< on machine 0
  int closed_from = 0, closed_to = 0;                        ///< machine 1
  std::vector<TinyJob> jobs;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  int operator()(int least, int most) {
    const auto range = static_cast<std::uint64_t>(most - least + 1);
    return least + static_cast<int>(random_below(range, {seed_, draws_++}));
  }

 private:
  std::uint64_t seed_, draws_ = 0;
};

Tiny drawn(std::uint64_t seed) {
  Draw draw(seed);
  Tiny tiny;
  tiny.quota = {draw(1, 6), draw(2, 8)};
  tiny.budget = {draw(1, 8), draw(2, 10)};
  tiny.running_gpus = draw(0, 2);
  tiny.running_cpu = draw(0, 4);
  tiny.running_units = tiny.running_gpus == 0 ? 0 : draw(1, 3);
  tiny.closed_from = draw(0, 2);
  tiny.closed_to = tiny.closed_from + draw(1, 2);
  for (int j = 0; j < 4; ++j) {
    const int tasks = draw(1, 2);
    tiny.jobs.push_back({tasks, draw(0, 5) == 0 ? 0 : draw(1, 3), draw(1, 5), draw(1, 3),
                         draw(1, 9), draw(0, 1), draw(0, 1)});
  }
  return tiny;
}

/// The largest value of any plan. O((starts x assignments)^jobs).
class BestPlan {
 public:
  explicit BestPlan(const Tiny& tiny) : tiny_(tiny) {
    for (int t = 0; t < kUnits; ++t) {
      free_.push_back({tiny.gpus, tiny.cpu});
      if (t < tiny.running_units) {
        free_.back().gpus[0] -= tiny.running_gpus;
        free_.back().cpu[0] -= tiny.running_cpu;
      }
      if (tiny.closed_from <= t && t < tiny.closed_to) {
        free_.back().gpus[1] = free_.back().cpu[1] = -1;
      }
      free_.back().quota = tiny.quota;
    }
    for (const int hours : tiny.budget) budget_.push_back(hours * 3600 / kUnit);
  }

  int value() {
    place(0, 0);
    return best_;
  }

 private:
  struct Free {
    std::array<int, kMachines> gpus, cpu;
    std::array<int, 2> quota{};
  };

  void place(std::size_t j, int value) {
    best_ = std::max(best_, value);
    if (j == tiny_.jobs.size()) return;
    place(j + 1, value);
    const TinyJob& job = tiny_.jobs[j];
    for (int start = job.earliest; start + job.units <= kUnits; ++start) {
      for (int first = 0; first < kMachines; ++first) {
        for (int second = 0; second < (job.tasks > 1 ? kMachines : 1); ++second) {
          // tasks with GPUs are of one type
          const bool mixed = job.tasks > 1 && (first == 2) != (second == 2);
          if (mixed && job.gpus > 0) continue;
          move(job, start, first, second, -1);
          if (feasible(job, start)) place(j + 1, value + job.value);
          move(job, start, first, second, 1);
        }
      }
    }
  }

  void move(const TinyJob& job, int start, int first, int second, int sign) {
    for (int t = start; t < start + job.units; ++t) {
      Free& at = free_[static_cast<std::size_t>(t)];
      for (int task = 0; task < job.tasks; ++task) {
        const auto m = static_cast<std::size_t>(task == 0 ? first : second);
        at.gpus[m] += sign * job.gpus;
        at.cpu[m] += sign * job.cpu;
        for (int q = job.queue; q < 2; ++q) {
          at.quota[static_cast<std::size_t>(q)] += sign * job.gpus;
          budget_[static_cast<std::size_t>(q)] += sign * job.gpus;
        }
      }
    }
  }

  [[nodiscard]] bool feasible(const TinyJob& job, int start) const {
    const auto short_of = [](int left) { return left < 0; };
    if (std::ranges::any_of(budget_, short_of)) return false;
    for (int t = start; t < start + job.units; ++t) {
      const Free& at = free_[static_cast<std::size_t>(t)];
      if (std::ranges::any_of(at.quota, short_of)) return false;
      for (std::size_t m = 0; m < kMachines; ++m) {
        const bool closed = m == 1 && tiny_.closed_from <= t && t < tiny_.closed_to;
        if (closed ? at.cpu[m] < -1 : at.gpus[m] < 0 || at.cpu[m] < 0) return false;
      }
    }
    return true;
  }

  const Tiny& tiny_;
  std::vector<Free> free_;  ///< by unit of time
  std::vector<int> budget_;
  int best_ = 0;
};

std::string text(int number) { return std::to_string(number); }

model::Instance instance_of(const Tiny& tiny) {
  std::string cluster = "schema: 1\nclasses:\n  a: {gpu_type: A, gpus: 4, cpu_milli: 6000}\n";
  cluster += "  b: {gpu_type: B, gpus: 3, cpu_milli: 9000}\nqueues:\n";
  for (const int q : {1, 0}) {
    const auto at = static_cast<std::size_t>(q);
    cluster += "  - {id: q" + text(q) + (q == 0 ? ", parent: q1" : "");
    cluster += ", gpu_quota: " + text(tiny.quota[at]) + ", gpu_hours: " + text(tiny.budget[at]);
    cluster += "}\n";
  }
  cluster += "pods: [{id: p, racks: [{id: r, machines: [{ids: \"m[0-1]\", class: a}, ";
  cluster += "{ids: m2, class: b}]}]}]\nwindows: [{machines: [m1], kind: maintenance, from: ";
  cluster += std::to_string(tiny.closed_from * kUnit) + ", to: ";
  cluster += std::to_string(tiny.closed_to * kUnit) + "}]\n";
  std::string jobs;
  for (std::size_t j = 0; j < tiny.jobs.size(); ++j) {
    const TinyJob& job = tiny.jobs[j];
    jobs += R"({"id":"j)" + std::to_string(j) + R"(","value":)" + text(job.value);
    jobs += R"(,"duration":)" + std::to_string(job.units * kUnit) + R"(,"not_before":)";
    jobs += std::to_string(job.earliest * kUnit) + R"(,"queue":"q)" + text(job.queue);
    jobs += R"(","tasks":[{"count":)" + text(job.tasks) + R"(,"gpus":)" + text(job.gpus);
    jobs += R"(,"cpu_milli":)" + text(1000 * job.cpu) + "}]}\n";
  }
  if (tiny.running_gpus > 0) {
    jobs += R"({"id":"runs","tasks":[{"shape":"w","gpus":)" + text(tiny.running_gpus);
    jobs += R"(,"cpu_milli":)" + text(1000 * tiny.running_cpu) + R"(}],"running":{"remaining":)";
    jobs += std::to_string(tiny.running_units * kUnit) + R"(,"tasks":[{"shape":"w",)";
    jobs += R"("machine":"m0","gpus":[{"index":0})";
    if (tiny.running_gpus > 1) jobs += R"(,{"index":2})";
    jobs += "]}]}}\n";
  }
  model::Instance instance;
  instance.cluster = io::parse_cluster(cluster, "cluster.yaml");
  instance.workload = io::parse_jobs(jobs, "jobs.jsonl", instance.cluster);
  return instance;
}

/// Prices, quotas and budgets of which some are 0; factors of all shapes or of none.
model::PriceCurves drawn_prices(const model::Instance& instance, std::uint64_t seed) {
  Draw draw(seed);
  const int dear = 1 << draw(15, 22);
  model::PriceCurves prices{.nodes = {0}, .curves = {}};
  while (prices.nodes.back() < kUnits * kUnit) {
    prices.nodes.push_back(prices.nodes.back() + draw(1, 2) * kUnit + draw(0, 3));
  }
  const auto curve = [&](auto named) {
    const int most = draw(0, 1) == 0 ? 0 : dear;
    for (std::size_t k = 0; k + 1 < prices.nodes.size(); ++k) {
      const std::int64_t start = draw(0, most), end = draw(0, most);
      named.starts.push_back(start);
      named.slopes.push_back((end - start) / (prices.nodes[k + 1] - prices.nodes[k]));
    }
    return named;
  };
  using Curves = model::PriceCurves;
  for (const char* type : {"A", "B"}) {
    prices.curves.push_back(curve(Curves::Curve{.gpu_type = type, .starts = {}, .slopes = {}}));
  }
  for (const char* queue : {"q0", "q1"}) {
    prices.quotas.push_back(curve(Curves::QuotaCurve{.queue = queue, .starts = {}, .slopes = {}}));
    prices.budgets.push_back({.queue = queue, .price = draw(0, 1) * draw(0, dear)});
  }
  if (draw(0, 3) == 0) return prices;
  for (const model::Shape& shape : instance.workload.shapes) {
    for (const char* type : {"A", "B"}) {
      const int most = (1 + shape.gpus) << 14;
      prices.factors.push_back({.shape = shape, .gpu_type = type, .factor = draw(0, most)});
    }
  }
  return prices;
}

TEST(HorizonBound, is_no_lower_than_the_best_plan_at_any_prices) {
  int with_prices = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Tiny tiny = drawn(seed);
    const int best = BestPlan(tiny).value();
    const model::Instance instance = instance_of(tiny);
    const model::Horizon horizon{.now = 0, .length = kUnits * kUnit};
    double least = 1e300;
    for (std::uint64_t i = 0; i < 60; ++i) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", prices " << i);
      const auto prices = drawn_prices(instance, 1000 * seed + i);
      const auto judged = judge_horizon(instance, horizon, {}, {}, prices);
      EXPECT_GE(judged.figures.bound, best - 1e-9);
      least = std::min(least, judged.figures.bound);
    }
    const auto free = judge_horizon(instance, horizon, {}, {}, {});
    with_prices += least < free.figures.bound - 1e-9;
  }
  EXPECT_GE(with_prices, 20);  // the prices prove something
}

TEST(HorizonBound, charges_nothing_for_tasks_that_no_machine_limits) {
  model::Instance instance;
  instance.cluster = io::parse_cluster(
      "schema: 1\nclasses: {a: {gpu_type: A, gpus: 1, cpu_milli: 1000}}\n"
      "pods: [{id: p, racks: [{id: r, machines: [{ids: m0, class: a}]}]}]\n",
      "cluster.yaml");
  instance.workload = io::parse_jobs(
      R"({"id":"j","value":7,"duration":3600,"tasks":[{"count":3,"gpus":0,"nic_mbps":9}]})"
      "\n",
      "jobs.jsonl", instance.cluster);
  model::PriceCurves prices{.nodes = {0, 3600}, .curves = {}};
  prices.curves.push_back({.gpu_type = "A", .starts = {1 << 22}, .slopes = {0}});
  const model::Shape shape = instance.workload.shapes.front();
  prices.factors.push_back({.shape = shape, .gpu_type = "A", .factor = 1 << 14});
  EXPECT_GE(judge_horizon(instance, {.now = 0, .length = 3600}, {}, {}, prices).figures.bound, 7.0);
}

}  // namespace
}  // namespace berth::certify
