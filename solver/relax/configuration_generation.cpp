// SPDX-License-Identifier: Apache-2.0
#include "configuration_generation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "berth/base/infinity.hpp"

namespace berth::solver {
namespace {

constexpr int kStartOptions = 3;  ///< columns of each job group at the start
constexpr int kContents = 4;      ///< columns of each bin type from one round of pricing
/// First columns of machines besides the most profitable ones, in all. Untuned guard.
constexpr std::size_t kUniform = 30'000;
/// Most labels of all machines together in pricing that was cut and found nothing. Untuned guard.
constexpr std::size_t kLabelsOfAll = 150'000;
/// Least first price of a row, as a part of the mean value of its GPUs. Chosen, not tuned.
constexpr double kLeastRowPrice = 1e-3;
/// Distance of the first master from its optimum, as a part of the bound. Chosen, not tuned.
constexpr double kFirstGap = 0.05;
/// Tolerance of the master as a part of the present gap, and of the wanted one. A rough master
/// keeps prices central. Chosen, not tuned.
constexpr double kRough = 0.1, kFine = 0.3;
/// Weight of the best prices: its start, its decrease after a better bound, its increase otherwise,
/// its upper limit. Chosen, not tuned.
constexpr double kWeight = 0.5, kLess = 0.2, kMore = 0.1, kMost = 0.8;
/// Relative gain that is 0 but for rounding.
constexpr double kRounding = 1e-9;
/// Rounds in succession without a column or a better bound that end the run. Chosen, not tuned.
constexpr int kIdleRounds = 3;
/// Work of one iteration of the master: rows^3 / kFactor + columns, in contents that pricing
/// compares in equal time (decision 22).
constexpr std::int64_t kFactor = 800;

}  // namespace

ConfigurationGeneration::ConfigurationGeneration(const ConfigurationProblem& problem,
                                                 std::span<const model::Shape> shapes,
                                                 const TaskRows& rows,
                                                 const ConfigurationOptions& options,
                                                 const StopToken& stop)
    : bins_(problem.bins),
      jobs_(problem.jobs),
      limits_(problem.limits),
      rows_(rows),
      options_(options),
      stop_(stop),
      last_labels_(std::max(options.labels, kLabelsOfAll / std::max<std::size_t>(bins_.size(), 1))),
      values_(option_values(shapes, jobs_, rows)),
      pricing_(bins_, rows),
      master_(problem, rows, values_.value) {}

/// Bound on what the limits earn; prices above penalties are lowered to them.
double ConfigurationGeneration::limits_at(DualPoint& point) const {
  double sum = 0.0;
  for (std::size_t l = 0; l < rows_.limits().size(); ++l) {
    const LimitSupply& limit = limits_[rows_.limits()[l]];
    double& price = point.price[rows_.first_limit() + l];
    price = std::min(price, limit.penalty);
    sum += limit.capacity * price;
  }
  return sum;
}

double ConfigurationGeneration::wanted() const {
  return options_.relative_gap * std::max(std::abs(best_.bound), 1e-9);
}

/// Adds the columns found at these prices; true when their bound is the best one so far.
bool ConfigurationGeneration::price_at(DualPoint point, std::span<const double> threshold) {
  auto priced =
      pricing_(point.price, threshold,
               {.patterns = kContents, .labels = options_.labels, .last_labels = last_labels_});
  work_ += priced.work;
  point.earned = std::move(priced.earned);
  point.bound = limits_at(point) + jobs_bound(jobs_, values_, rows_, point.price);
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    point.bound += static_cast<double>(bins_[bin].machines.size()) * point.earned[bin];
  }
  added_ += master_.add(std::move(priced.found));
  added_ += master_.add_options(point.price, 1, 0.0);
  if (point.bound >= best_.bound) return false;
  best_ = std::move(point);
  return true;
}

void ConfigurationGeneration::start_at(std::span<const double> gpu_price) {
  double gpus = 0.0;
  for (const BinType& bin : bins_) {
    const double free = static_cast<double>(bin.milli()) / static_cast<double>(model::kGpuMilli);
    gpus += free * static_cast<double>(bin.machines.size());
  }
  const double least = kLeastRowPrice * values_.best / std::max(gpus, 1.0);
  DualPoint point;
  for (std::size_t i = 0; i < rows_.first_limit(); ++i) {
    double price = rows_.slots(i).empty() ? 0.0 : kInfinity;
    for (const std::size_t slot : rows_.slots(i)) price = std::min(price, gpu_price[slot]);
    point.price.push_back(std::max(std::max(price, least) * std::max(rows_.gpus(i), 1e-3), 1e-12));
  }
  for (const std::uint32_t limit : rows_.limits()) {
    const LimitSupply& supply = limits_[limit];
    const double dear = kLeastRowPrice * values_.best / supply.capacity;
    point.price.push_back(std::max({supply.price, std::min(dear, supply.penalty), 1e-12}));
  }
  master_.add_options(point.price, kStartOptions, std::numeric_limits<double>::infinity());
  const std::vector<double> nothing(bins_.size(), 0.0);
  price_at(point, nothing);
  cover_demand(point.price, gpu_price);
  master_.add(pricing_.uniform(kUniform));
}

/// Adds configurations that hold the tasks of the jobs that lose nothing at these prices, each on
/// the GPU type where it gains most, of equal ones the cheapest.
void ConfigurationGeneration::cover_demand(std::span<const double> price,
                                           std::span<const double> gpu_price) {
  std::size_t slots = 1;
  for (const BinType& bin : bins_) slots = std::max(slots, bin.slot + 1);
  std::vector<std::vector<std::int64_t>> asked(
      slots, std::vector<std::int64_t>(rows_.bundles().size(), 0));
  for (std::size_t g = 0; g < jobs_.size(); ++g) {
    const auto& [group, count] = jobs_[g];
    double most = -kInfinity;
    std::size_t slot = 0;  // where the jobs gain most
    for (std::size_t k = 0; k < group.options.size(); ++k) {
      if (values_.value[g][k] == kImpossible || !group.options[k].type.valid()) continue;
      const double gain =
          values_.value[g][k] - cost_of(rows_.demand(group, group.options[k]), price);
      if (gain < -kRounding * std::abs(values_.value[g][k]) || gain < most) continue;
      const std::size_t here = slot_of(group.options[k].type);
      if (gain == most && gpu_price[here] >= gpu_price[slot]) continue;
      most = gain;
      slot = here;
    }
    if (slot == 0) continue;
    for (const auto& [bundle, copies] : rows_.bundles_of(group)) {
      asked[slot][static_cast<std::size_t>(bundle)] += copies * count;
    }
  }
  for (std::size_t slot = 1; slot < slots; ++slot) {
    master_.add(pricing_.balanced(std::move(asked[slot]), slot));
  }
}

/// Solves the master from its last prices; returns the gap between bound and value, with its own
/// error.
double ConfigurationGeneration::solve_master(double gap, int idle) {
  const double tolerance = std::max(kRough * gap, kFine * wanted()) * std::pow(kRough, idle);
  const std::span<const double> from = rounds_ == 0 ? best_.price : master_.prices();
  const InteriorPointResult result =
      master_.solve({from.begin(), from.end()}, std::max(gap, wanted()), tolerance, stop_);
  const auto rows = static_cast<std::int64_t>(rows_.size());
  work_ += result.iterations *
           (rows * rows * rows / kFactor + static_cast<std::int64_t>(master_.columns()));
  converged_ = result.status == SolveStatus::optimal;
  value_ = master_.value() - values_.rewards;
  error_ = tolerance;
  return best_.bound - value_ + error_;
}

/// Prices between the best dual point and the master's; true when the bound improved.
bool ConfigurationGeneration::price_between(double weight) {
  DualPoint point;
  const auto mixed = [&](double best, double master) {
    return weight * best + (1.0 - weight) * master;
  };
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    point.price.push_back(mixed(best_.price[i], master_.prices()[i]));
  }
  std::vector<double> threshold;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    threshold.push_back(mixed(best_.earned[bin], master_.earned(bin)));
  }
  return price_at(std::move(point), threshold);
}

bool ConfigurationGeneration::finished(double gap) const {
  if (stop_.requested() || rounds_ >= options_.rounds || work_ > options_.work) return true;
  return converged_ && (gap <= wanted() || value_ - error_ >= options_.known_bound);
}

void ConfigurationGeneration::run(std::span<const double> gpu_price) {
  start_at(gpu_price);
  double weight = kWeight;
  double gap = kFirstGap * std::abs(best_.bound);
  int idle = 0;  // rounds in succession without a new column or a better bound
  for (;; ++rounds_) {
    gap = solve_master(gap, idle);
    if (finished(gap) || idle == kIdleRounds) return;
    added_ = 0;
    const double before = best_.bound;
    const bool better = price_between(weight);
    if (added_ == 0 && weight > 0.0) price_between(0.0);
    weight = std::clamp(weight + (better ? -kLess : kMore), 0.0, kMost);
    idle = added_ == 0 && best_.bound > before - kRough * wanted() ? idle + 1 : 0;
  }
}

void ConfigurationGeneration::write(const model::Cluster& cluster,
                                    ConfigurationSolution& solution) {
  constexpr double kLeastWeight = 1e-6;  // interior points have no zeros
  solution.bundles = rows_.bundles();
  solution.configurations = master_.used_configurations(kLeastWeight);
  solution.options = master_.used_options(kLeastWeight);
  solution.prices = rows_.task_prices(best_.price);
  solution.limit_prices.assign(limits_.size(), 0.0);
  for (std::size_t l = 0; l < rows_.limits().size(); ++l) {
    solution.limit_prices[rows_.limits()[l]] = best_.price[rows_.first_limit() + l];
  }
  solution.value = value_;
  solution.bound = best_.bound;
  solution.rounds = rounds_;
  solution.columns = static_cast<int>(master_.columns());
  // Of each class those of its most frequent bin type count.
  const auto multipliers = pricing_.multipliers(best_.price);
  std::map<ClassId, std::size_t> bin_of;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    const ClassId c = cluster.machine_class[bins_[bin].machines.front().index()];
    const auto [at, first] = bin_of.emplace(c, bin);
    if (bins_[at->second].machines.size() < bins_[bin].machines.size()) at->second = bin;
  }
  for (const auto& [c, bin] : bin_of) {
    if (std::ranges::any_of(multipliers[bin], [](double m) { return m > 0.0; })) {
      solution.multipliers.push_back({c, multipliers[bin]});
    }
  }
}

}  // namespace berth::solver
