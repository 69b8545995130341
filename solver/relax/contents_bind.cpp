// SPDX-License-Identifier: Apache-2.0
#include "contents_bind.hpp"

#include "configuration_generation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace berth::solver {
namespace {

/// Smoothing of the softmax in prices of a GPU, that of the consensus' last prices. Chosen.
constexpr double kSmoothing = 5e-4;
/// Work limit for one GPU type, in the unit of ConfigurationOptions::work. Chosen, not tuned.
constexpr std::int64_t kWork = 100'000;
/// Least worth of a GPU here, as a part of what the jobs are worth per GPU: where GPUs are free of
/// charge because another resource binds, tasks that find no room still show. Chosen, not tuned.
constexpr double kLeastWorth = 0.1;

struct TypeDemand {
  std::map<std::pair<planner_model::TaskProfile, bool>, double> tasks;  ///< by tasks, together
};

/// What the jobs ask for at GPU prices, and the dual there.
struct TotalDemand {
  std::vector<TypeDemand> by_slot;
  double dual = 0.0;
};

double gpus_of(std::span<const model::Shape> shapes, const planner_model::TaskProfile& tasks) {
  double gpus = 0.0;
  for (const auto& t : tasks.groups) {
    gpus += t.count * static_cast<double>(shapes[t.shape.index()].total_milli()) / 1000.0;
  }
  return gpus;
}

void add_tasks(TypeDemand& demand, const JobGroup& group, std::span<const model::Shape> shapes,
               double jobs) {
  if (group.together) {
    demand.tasks[{group.tasks, true}] += jobs;
    return;
  }
  for (const auto& t : group.tasks.groups) {
    if (!shapes[t.shape.index()].uses_gpu()) continue;
    planner_model::TaskProfile one;
    one.groups.push_back({t.shape, 1});
    demand.tasks[{std::move(one), false}] += jobs * t.count;
  }
}

TotalDemand demand_at(const JobCounts& jobs, std::span<const model::Shape> shapes,
                      const ConfigurationStart& start) {
  const std::span<const double> gpu_price = start.gpu_price;
  TotalDemand demand{.by_slot = std::vector<TypeDemand>(gpu_price.size())};
  std::vector<double> weight;
  for (const auto& [group, count] : jobs) {
    const double gpus = gpus_of(shapes, group.tasks);
    if (gpus == 0.0) {
      demand.dual += static_cast<double>(count) * std::max(0.0, group.options.front().value);
      continue;
    }
    const auto profit = [&](const JobGroup::Option& option) {
      double left = option.value - gpus * gpu_price[slot_of(option.type)];
      for (const auto& [limit, amount] : option.loads) left -= amount * start.limits[limit].price;
      return left;
    };
    double best = group.required ? -kInfinity : 0.0;
    for (const auto& option : group.options) best = std::max(best, profit(option));
    demand.dual += static_cast<double>(count) * best;
    double sum = 0.0;
    weight.clear();
    for (const auto& option : group.options) {
      const double smoothing =
          std::max(kSmoothing * gpus * gpu_price[slot_of(option.type)], 1e-300);
      weight.push_back(std::exp((profit(option) - best) / smoothing));
      sum += weight.back();
      if (!group.required)
        sum += std::exp(-best / smoothing) / static_cast<double>(group.options.size());
    }
    for (std::size_t k = 0; k < weight.size(); ++k) {
      const double jobs_here = static_cast<double>(count) * weight[k] / sum;
      add_tasks(demand.by_slot[slot_of(group.options[k].type)], group, shapes, jobs_here);
    }
  }
  return demand;
}

/// The machines of one GPU type, and what is asked of them.
struct TypeProblem {
  std::vector<BinType> bins;
  JobCounts tasks;        ///< single tasks or bundles as jobs, worth their GPUs' price
  double asked = 0.0;     ///< worth of all tasks with GPUs
  double capacity = 0.0;  ///< worth of all GPUs
  double beside = 0.0;    ///< value of the jobs without GPUs
};

void add_gpu_tasks(TypeProblem& type, const TypeDemand& demand, GpuTypeId id, double gpu_price,
                   std::span<const model::Shape> shapes) {
  for (const auto& [key, amount] : demand.tasks) {
    const auto count = static_cast<std::int64_t>(std::llround(amount));
    const double worth = gpu_price * gpus_of(shapes, key.first);
    if (count == 0 || worth <= 0.0) continue;
    type.tasks.push_back({{.tasks = key.first,
                           .together = key.second,
                           .required = false,
                           .options = {{id, worth, {}}}},
                          count});
    type.asked += worth * static_cast<double>(count);
  }
}

/// Divides the jobs of value without GPUs among the types by numbers of machines.
void add_cpu_jobs(std::vector<TypeProblem>& types, const JobCounts& jobs) {
  std::vector<std::size_t> machines{0};
  for (const TypeProblem& type : types) {
    machines.push_back(machines.back());
    for (const BinType& bin : type.bins) machines.back() += bin.machines.size();
  }
  for (const auto& [group, count] : jobs) {
    if (group.options.front().type.valid() || group.options.front().value <= 0.0) continue;
    const auto before = [&](std::size_t slot) {
      return static_cast<std::int64_t>(static_cast<std::size_t>(count) * machines[slot] /
                                       std::max<std::size_t>(machines.back(), 1));
    };
    for (std::size_t slot = 0; slot < types.size(); ++slot) {
      const std::int64_t share = before(slot + 1) - before(slot);
      if (share == 0) continue;
      types[slot].tasks.emplace_back(group, share);
      types[slot].beside += static_cast<double>(share) * group.options.front().value;
    }
  }
}

/// Worth that these machines cannot hold, though their GPUs suffice.
double shortfall(TypeProblem& type, std::span<const model::Shape> shapes,
                 std::span<const double> gpu_price, double relative, const StopToken& stop) {
  merge_equal(type.tasks);
  const double most = std::min(type.asked, type.capacity) + type.beside;
  if (most <= 0.0) return 0.0;
  const TaskRows rows(shapes, type.tasks, type.bins, gpu_price.size());
  if (rows.size() == 0) return most;
  const ConfigurationOptions options{
      .relative_gap = relative, .known_bound = most * (1.0 - relative), .work = kWork};
  ConfigurationGeneration generation({type.bins, type.tasks, {}}, shapes, rows, options, stop);
  generation.run(gpu_price);
  return std::max(0.0, most - generation.value());
}

/// GPU prices by slot, at least kLeastWorth of what the jobs are worth per GPU at their best.
std::vector<double> worth_of_gpus(const JobCounts& jobs, std::span<const model::Shape> shapes,
                                  std::span<const double> gpu_price) {
  double value = 0.0, gpus = 0.0;
  for (const auto& [group, count] : jobs) {
    const double of_job = gpus_of(shapes, group.tasks);
    if (of_job == 0.0) continue;
    double best = 0.0;
    for (const auto& option : group.options) best = std::max(best, option.value);
    value += static_cast<double>(count) * best;
    gpus += static_cast<double>(count) * of_job;
  }
  const double least = gpus > 0.0 ? kLeastWorth * value / gpus : 0.0;
  std::vector<double> worth(gpu_price.begin(), gpu_price.end());
  for (std::size_t slot = 1; slot < worth.size(); ++slot) {
    worth[slot] = std::max(worth[slot], least);
  }
  return worth;
}

}  // namespace

bool contents_bind(std::span<const BinType> bins, const JobCounts& jobs,
                   std::span<const model::Shape> shapes, const ConfigurationStart& start,
                   double relative, const StopToken& stop) {
  const std::vector<double> gpu_price = worth_of_gpus(jobs, shapes, start.gpu_price);
  TotalDemand demand = demand_at(jobs, shapes, start);
  std::vector<TypeProblem> types(gpu_price.size());
  for (const BinType& bin : bins) {
    TypeProblem& type = types[bin.slot];
    type.bins.push_back(bin);
    const double gpus =
        static_cast<double>(bin.milli()) / 1000.0 * static_cast<double>(bin.machines.size());
    type.capacity += gpus * gpu_price[bin.slot];
    demand.dual += gpus * start.gpu_price[bin.slot];
  }
  add_cpu_jobs(types, jobs);
  for (std::size_t slot = 1; slot < types.size(); ++slot) {
    add_gpu_tasks(types[slot], demand.by_slot[slot], type_of_slot(slot), gpu_price[slot], shapes);
  }
  double sum = 0.0;
  for (std::size_t slot = 0; slot < types.size() && sum <= relative * demand.dual; ++slot) {
    if (!types[slot].bins.empty()) {
      sum += shortfall(types[slot], shapes, gpu_price, relative, stop);
    }
  }
  return sum > relative * demand.dual;
}

}  // namespace berth::solver
