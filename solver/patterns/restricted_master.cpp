// SPDX-License-Identifier: Apache-2.0
#include "restricted_master.hpp"

#include "crossover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth::solver {
namespace {

/// Largest relative loss of value that entries dropped by the crossover may cause; otherwise it is
/// repeated with a smaller tolerance. Chosen, not tuned; decision 6 has the loss it prevents.
constexpr double kCrossoverLoss = 2e-6;

/// Part of a row's slack that new columns take at first. Decision 118: 0.5 and 0.9 are slower.
constexpr double kRoomTaken = 0.2;

}  // namespace

RestrictedMaster::RestrictedMaster(const PackingProblem& problem, const ResidualProblem& residual)
    : problem_(problem),
      row_of_type_(residual.demand.size(), -1),
      row_of_bin_(residual.supply.size(), -1) {
  for (std::size_t t = 0; t < residual.demand.size(); ++t) {
    if (residual.demand[t] <= 0) continue;
    row_of_type_[t] = static_cast<std::int32_t>(lp_.rows());
    lp_.rhs.push_back(static_cast<double>(residual.demand[t]));
  }
  type_rows_ = lp_.rows();
  lp_.max_sum = 0.0;
  for (std::size_t s = 0; s < residual.supply.size(); ++s) {
    if (residual.supply[s] <= 0) continue;
    row_of_bin_[s] = static_cast<std::int32_t>(lp_.rows());
    lp_.rhs.push_back(static_cast<double>(residual.supply[s]));
    lp_.max_sum += lp_.rhs.back();
  }
}

int RestrictedMaster::add(std::vector<MachinePattern> patterns) {
  int added = 0;
  std::vector<std::pair<std::int32_t, double>> entries;
  for (MachinePattern& p : patterns) {
    const std::int32_t bin = row_of_bin_[static_cast<std::size_t>(p.bin)];
    if (bin < 0 || p.tasks.empty()) continue;
    entries.clear();
    for (const TypeCount& t : p.tasks) {
      entries.emplace_back(row_of_type_[static_cast<std::size_t>(t.type)], t.count);
    }
    if (std::ranges::any_of(entries, [](const auto& e) { return e.first < 0; })) continue;
    if (!known_.emplace(p.bin, p.tasks).second) continue;
    entries.emplace_back(bin, 1.0);
    lp_.add_column(value_of(problem_, p), entries);
    column_bin_.push_back(bin);
    patterns_.push_back(std::move(p));
    ++added;
  }
  return added;
}

/// First point: half of each bin type's machines in equal parts over its patterns, scaled down to
/// the demand.
void RestrictedMaster::start_cold() {
  const std::size_t n = lp_.columns();
  std::vector<double> members(lp_.rows(), 0.0);
  for (const std::int32_t s : column_bin_) members[static_cast<std::size_t>(s)] += 1.0;
  double largest = 1e-9;
  for (const double v : lp_.value) largest = std::max(largest, v);
  point_.x.resize(n);
  std::vector<double> load(lp_.rows(), 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const auto s = static_cast<std::size_t>(column_bin_[j]);
    point_.x[j] = lp_.rhs[s] / (members[s] + 1.0);
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      load[static_cast<std::size_t>(lp_.row[k])] += lp_.coefficient[k] * point_.x[j];
    }
  }
  double scale = 1.0;
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    if (load[i] > 0.0) scale = std::min(scale, 0.9 * lp_.rhs[i] / load[i]);
  }
  for (double& x : point_.x) x *= scale;
  point_.slack = lp_.rhs;
  point_.price.assign(lp_.rows(), 0.3 * largest);
  std::fill_n(point_.price.begin(), type_rows_, 0.02 * largest);
  for (std::size_t i = 0; i < lp_.rows(); ++i) point_.slack[i] -= scale * load[i];
  for (std::size_t j = 0; j < n; ++j) {
    double& sigma = point_.price[static_cast<std::size_t>(column_bin_[j])];
    sigma += std::max(0.0, 0.1 * largest - (lp_.cost(j, point_.price) - lp_.value[j]));
  }
  point_.reduced.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    point_.reduced[j] = lp_.cost(j, point_.price) - lp_.value[j];
  }
}

/// First point after new columns: the last point, with prices of bins raised so far that the new
/// columns, whose dual rows it violates, are feasible (Gondzio, Gonzalez-Brevis and Munari 2013).
/// New columns get what fits beside the others, so that the point keeps to the rows: from one that
/// exceeds them the method takes steps of a thousandth (decision 118).
void RestrictedMaster::start_warm() {
  const std::size_t n = lp_.columns();
  const std::size_t old = point_.x.size();
  std::vector<double> violation(lp_.rows(), 0.0);
  std::vector<double> entries(lp_.rows(), 0.0);  // of the new columns
  for (std::size_t j = old; j < n; ++j) {
    double& v = violation[static_cast<std::size_t>(column_bin_[j])];
    v = std::max(v, lp_.value[j] - lp_.cost(j, point_.price));
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      entries[static_cast<std::size_t>(lp_.row[k])] += lp_.coefficient[k];
    }
  }
  double away = 0.0;  // duality gap of the point, with the new columns' violation
  for (std::size_t j = 0; j < old; ++j) away += point_.x[j] * point_.reduced[j];
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    away += point_.slack[i] * point_.price[i] + violation[i] * lp_.rhs[i];
  }
  const double mu = 0.1 * away / static_cast<double>(n + lp_.rows());
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    if (violation[i] > 0.0) point_.price[i] += 1.1 * violation[i] + 0.1 * away / lp_.max_sum;
  }
  point_.x.resize(n, 0.0);
  point_.reduced.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    point_.reduced[j] = std::max(lp_.cost(j, point_.price) - lp_.value[j], 1e-10);
  }
  const std::vector<double> room = point_.slack;
  for (std::size_t j = old; j < n; ++j) {
    point_.x[j] = mu / point_.reduced[j];
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      const auto i = static_cast<std::size_t>(lp_.row[k]);
      point_.x[j] = std::min(point_.x[j], kRoomTaken * room[i] / entries[i]);
    }
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      point_.slack[static_cast<std::size_t>(lp_.row[k])] -= lp_.coefficient[k] * point_.x[j];
    }
  }
}

InteriorPointResult RestrictedMaster::solve(double tolerance) {
  if (point_.x.empty()) {
    start_cold();
  } else {
    start_warm();
  }
  const InteriorPointOptions options{.tolerance = tolerance, .iterations = 80};
  InteriorPointResult result = berth::solver::solve(lp_, point_, options);
  if (result.status == SolveStatus::optimal) return result;
  start_cold();
  const int spent = result.iterations;
  result = berth::solver::solve(lp_, point_, options);
  result.iterations += spent;
  return result;
}

void RestrictedMaster::crossover() {
  if (lp_.columns() == 0) return;
  point_.x.resize(lp_.columns(), 0.0);
  const double before = value();
  const std::vector<double> inside = point_.x;
  BasicSolution vertex;
  // A point spread over thousands of columns may have no entry above the tolerance.
  for (const double drop : {5e-3, 5e-4, 5e-5, 0.0}) {
    vertex = berth::solver::crossover(lp_, inside, drop);
    point_.x = vertex.x;
    if (value() >= before - kCrossoverLoss * std::abs(before)) break;
  }
  point_.price = std::move(vertex.price);
}

std::vector<double> RestrictedMaster::usage() const {
  std::vector<double> x = point_.x;
  x.resize(patterns_.size(), 0.0);
  return x;
}

double RestrictedMaster::value() const {
  double sum = 0.0;
  for (std::size_t j = 0; j < point_.x.size(); ++j) sum += lp_.value[j] * point_.x[j];
  return sum;
}

std::vector<double> RestrictedMaster::type_prices() const {
  std::vector<double> y(row_of_type_.size(), 0.0);
  for (std::size_t t = 0; t < y.size() && !point_.price.empty(); ++t) {
    if (row_of_type_[t] >= 0) y[t] = point_.price[static_cast<std::size_t>(row_of_type_[t])];
  }
  return y;
}

std::vector<double> RestrictedMaster::bin_prices() const {
  std::vector<double> y(row_of_bin_.size(), 0.0);
  for (std::size_t s = 0; s < y.size() && !point_.price.empty(); ++s) {
    if (row_of_bin_[s] >= 0) y[s] = point_.price[static_cast<std::size_t>(row_of_bin_[s])];
  }
  return y;
}

}  // namespace berth::solver
