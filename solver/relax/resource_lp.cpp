// SPDX-License-Identifier: Apache-2.0
#include "resource_lp.hpp"

#include "gub_interior_point.hpp"
#include "gub_program.hpp"
#include "option_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::solver {
namespace {

/// GPUs, then the resources.
constexpr std::size_t kKinds = 1 + model::kResources;
using Amounts = std::array<double, kKinds>;

/// First price of a row, at least, as a part of what the jobs are worth per unit; distance of the
/// first point from the optimum, as a part of what they are worth. Chosen, not tuned.
constexpr double kLeastPrice = 1e-3, kFirstGap = 0.05;
constexpr int kIterations = 80, kCentringSteps = 30;  ///< most of them; untuned guards

Amounts needs_of(const model::Shape& shape) {
  Amounts needs{static_cast<double>(shape.total_milli()) / model::kGpuMilli};
  for (std::size_t r = 0; r < model::kResources; ++r) {
    needs[1 + r] = static_cast<double>(shape.needs[r]);
  }
  return needs;
}

/// What a machine has free; infinite without a limit.
Amounts free_of(const BinType& bin) {
  Amounts free{static_cast<double>(bin.milli()) / model::kGpuMilli};
  for (std::size_t r = 0; r < model::kResources; ++r) {
    const bool limited = bin.room[r] != model::kNoLimit;
    free[1 + r] = limited ? static_cast<double>(bin.room[r]) : kInfinity;
  }
  return free;
}

class ResourceLp {
 public:
  ResourceLp(const model::InstanceView& instance, std::span<const BinType> bins,
             const JobCounts& jobs, const TaskRows& rows, const ConfigurationStart& start)
      : shapes_(instance.workload.tables().shapes),
        slots_(instance.cluster.gpu_types.size() + 1),
        bins_(bins),
        jobs_(jobs),
        rows_(rows),
        start_(start),
        values_(option_values(shapes_, jobs, rows)) {
    add_supply();
    build();
  }

  /// @return false at a stop, or when the method does not converge
  bool solve(double relative_gap, const StopToken& stop) {
    const double scale = std::max(values_.best, 1e-9);
    const double pairs =
        static_cast<double>(program_.columns() + program_.groups() + program_.rows);
    point_ =
        centred_point(program_, first_prices(), kFirstGap * scale / pairs, kCentringSteps, stop)
            .point;
    const InteriorPointResult result = berth::solver::solve(
        program_, point_,
        {.tolerance = relative_gap * scale, .iterations = kIterations, .stop = stop});
    return result.status == SolveStatus::optimal;
  }

  void write(const model::Cluster& cluster, ConfigurationSolution& solution) const {
    solution.bundles = rows_.bundles();
    solution.prices = rows_.task_prices(task_prices());
    for (const LimitSupply& limit : start_.limits) solution.limit_prices.push_back(limit.price);
    solution.value = value_of(program_, point_) - values_.rewards;
    solution.bound = solution.value;
    solution.columns = static_cast<int>(program_.columns());
    std::map<ClassId, std::size_t> slot_of_class;
    for (const BinType& bin : bins_) {
      slot_of_class.emplace(cluster.machine_class[bin.machines.front().index()], bin.slot);
    }
    for (const auto& [c, slot] : slot_of_class) {
      ResourceMultiplier multiplier{.machine_class = c};
      for (std::size_t r = 0; r < model::kResources; ++r) {
        multiplier.unit_price[r] = price(slot, 1 + r);
      }
      if (std::ranges::any_of(multiplier.unit_price, [](double m) { return m > 0.0; })) {
        solution.multipliers.push_back(multiplier);
      }
    }
  }

 private:
  /// Rows: what all machines of a slot have limits of.
  void add_supply() {
    std::vector<Amounts> supply(slots_, Amounts{});
    row_.assign(slots_ * kKinds, -1);
    for (const BinType& bin : bins_) {
      const Amounts free = free_of(bin);
      for (std::size_t k = 0; k < kKinds; ++k) {
        supply[bin.slot][k] += free[k] * static_cast<double>(bin.machines.size());
      }
    }
    for (std::size_t slot = 1; slot < slots_; ++slot) {
      for (std::size_t k = 0; k < kKinds; ++k) {
        if (supply[slot][k] <= 0.0 || supply[slot][k] == kInfinity) continue;
        row_[slot * kKinds + k] = static_cast<std::int32_t>(row_supply_.size());
        row_supply_.push_back(supply[slot][k]);
      }
    }
  }

  /// Units of each row that one job of the group takes with this option.
  [[nodiscard]] TaskRows::Entries demand(const JobGroup& group,
                                         const JobGroup::Option& option) const {
    const std::size_t slot = slot_of(option.type);
    Amounts sum{};
    for (const auto& t : group.tasks.groups) {
      const model::Shape& shape = shapes_[t.shape.index()];
      if (!shape.uses_gpu()) continue;
      const Amounts needs = needs_of(shape);
      for (std::size_t k = 0; k < kKinds; ++k) sum[k] += needs[k] * t.count;
    }
    TaskRows::Entries entries;
    for (std::size_t k = 0; k < kKinds; ++k) {
      const std::int32_t row = row_[slot * kKinds + k];
      if (row >= 0 && sum[k] > 0.0) entries.emplace_back(row, sum[k] / unit(row));
    }
    return entries;
  }

  /// Amount of one unit of the row.
  [[nodiscard]] double unit(std::int32_t row) const {
    return row_supply_[static_cast<std::size_t>(row)] / kUnits;
  }

  void build() {
    program_.rows = row_supply_.size();
    for (std::size_t g = 0; g < jobs_.size(); ++g) {
      const auto& [group, count] = jobs_[g];
      for (std::size_t k = 0; k < group.options.size(); ++k) {
        const JobGroup::Option& option = group.options[k];
        if (values_.value[g][k] == kImpossible || !option.type.valid()) continue;
        double worth = values_.value[g][k];
        for (const auto& [limit, amount] : option.loads) {
          worth -= amount * start_.limits[limit].price;
        }
        program_.add_column(worth, demand(group, option));
      }
      program_.end_group(static_cast<double>(count));
    }
    for (std::size_t row = 0; row < row_supply_.size(); ++row) {
      const TaskRows::Entries one{{static_cast<std::int32_t>(row), -1.0}};
      program_.add_column(0.0, one);
      program_.end_group(kUnits);
    }
  }

  [[nodiscard]] std::vector<double> first_prices() const {
    std::vector<double> prices(row_supply_.size());
    for (std::size_t slot = 1; slot < slots_; ++slot) {
      for (std::size_t k = 0; k < kKinds; ++k) {
        const std::int32_t row = row_[slot * kKinds + k];
        if (row < 0) continue;
        const double least = kLeastPrice * values_.best / kUnits;
        const double gpus = k == 0 ? start_.gpu_price[slot] * unit(row) : 0.0;
        prices[static_cast<std::size_t>(row)] = std::max({gpus, least, 1e-12});
      }
    }
    return prices;
  }

  /// Of one unit of what machines of the slot have.
  [[nodiscard]] double price(std::size_t slot, std::size_t kind) const {
    const std::int32_t row = row_[slot * kKinds + kind];
    return row < 0 ? 0.0 : point_.price[static_cast<std::size_t>(row)] / unit(row);
  }

  /// By row of tasks: the least of the slots that share it.
  [[nodiscard]] std::vector<double> task_prices() const {
    std::vector<double> prices(rows_.size(), kInfinity);
    for (std::size_t s = 0; s < shapes_.size(); ++s) {
      const Amounts needs = needs_of(shapes_[s]);
      for (std::size_t slot = 0; slot < slots_; ++slot) {
        const std::int32_t row = rows_.row(ShapeId(s), slot);
        if (row < 0) continue;
        double sum = 0.0;
        for (std::size_t k = 0; k < kKinds; ++k) sum += needs[k] * price(slot, k);
        double& least = prices[static_cast<std::size_t>(row)];
        least = std::min(least, sum);
      }
    }
    return prices;
  }

  static constexpr double kUnits = 1e3;  ///< of each row, so that coefficients are near 1

  std::span<const model::Shape> shapes_;
  std::size_t slots_;
  std::span<const BinType> bins_;
  const JobCounts& jobs_;
  const TaskRows& rows_;
  const ConfigurationStart& start_;
  OptionValues values_;
  std::vector<std::int32_t> row_;   ///< by slot and kind; -1: none
  std::vector<double> row_supply_;  ///< by row
  GubProgram program_;
  GubPoint point_;
};

}  // namespace

ConfigurationSolution solve_resource_lp(const model::InstanceView& instance,
                                        std::span<const BinType> bins, JobCounts jobs,
                                        const TaskRows& rows, const ConfigurationStart& start,
                                        const ConfigurationOptions& options,
                                        const StopToken& stop) {
  ConfigurationSolution solution;
  ResourceLp lp(instance, bins, jobs, rows, start);
  if (!lp.solve(options.relative_gap, stop)) return solution;
  lp.write(instance.cluster, solution);
  solution.jobs = std::move(jobs);
  return solution;
}

}  // namespace berth::solver
