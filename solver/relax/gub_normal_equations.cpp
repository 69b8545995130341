// SPDX-License-Identifier: Apache-2.0
#include "gub_normal_equations.hpp"

#include <algorithm>

namespace berth::solver {
namespace {

/// Groups of at most this many rows are added in centred form, which does not cancel. Chosen: the
/// groups of jobs have few rows.
constexpr std::size_t kCentredRows = 12;

}  // namespace

/// Rows, sum of weights and weighted sum of the columns of the group.
void GubNormalEquations::collect(const GubPoint& point, std::size_t g) {
  for (const std::size_t i : touched_) position_[i] = -1;
  touched_.clear();
  sum_.clear();
  weight_ = 0.0;
  for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
    const double theta = point.x[j] / point.reduced[j];
    weight_ += theta;
    for (std::size_t k = program_.first_entry[j]; k < program_.first_entry[j + 1]; ++k) {
      const auto i = static_cast<std::size_t>(program_.row[k]);
      if (position_[i] < 0) {
        position_[i] = static_cast<std::int32_t>(touched_.size());
        touched_.push_back(i);
        sum_.push_back(0.0);
      }
      sum_[static_cast<std::size_t>(position_[i])] += theta * program_.coefficient[k];
    }
  }
}

/// sum_k th a a' - q q' / D
void GubNormalEquations::add_columns(const GubPoint& point, std::size_t g) {
  for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
    const double theta = point.x[j] / point.reduced[j];
    for (std::size_t k = program_.first_entry[j]; k < program_.first_entry[j + 1]; ++k) {
      for (std::size_t l = program_.first_entry[j]; l <= k; ++l) {
        add(static_cast<std::size_t>(program_.row[k]), static_cast<std::size_t>(program_.row[l]),
            theta * program_.coefficient[k] * program_.coefficient[l]);
      }
    }
  }
  for (std::size_t a = 0; a < touched_.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      add(touched_[a], touched_[b], -sum_[a] * sum_[b] / diagonal_[g]);
    }
  }
}

/// The same as sum_k th (a - c)(a - c)' + (W t / D) c c' with W = sum th, c = q / W, t = D - W.
void GubNormalEquations::add_centred(const GubPoint& point, std::size_t g) {
  for (double& c : sum_) c /= weight_;
  const auto rank_one = [&](std::span<const double> v, double factor) {
    for (std::size_t a = 0; a < touched_.size(); ++a) {
      if (v[a] == 0.0) continue;
      for (std::size_t b = 0; b <= a; ++b) add(touched_[a], touched_[b], factor * v[a] * v[b]);
    }
  };
  rank_one(sum_, weight_ * (point.unused[g] / point.earned[g]) / diagonal_[g]);
  if (program_.first_column[g + 1] - program_.first_column[g] == 1) return;
  for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
    centred_.assign(touched_.size(), 0.0);
    for (std::size_t a = 0; a < touched_.size(); ++a) centred_[a] = -sum_[a];
    for (std::size_t k = program_.first_entry[j]; k < program_.first_entry[j + 1]; ++k) {
      const auto i = static_cast<std::size_t>(program_.row[k]);
      centred_[static_cast<std::size_t>(position_[i])] += program_.coefficient[k];
    }
    rank_one(centred_, point.x[j] / point.reduced[j]);
  }
}

void GubNormalEquations::add_group(const GubPoint& point, std::size_t g) {
  collect(point, g);
  diagonal_[g] = weight_ + point.unused[g] / point.earned[g];
  if (touched_.empty()) return;
  if (touched_.size() <= kCentredRows) {
    add_centred(point, g);
  } else {
    add_columns(point, g);
  }
}

bool GubNormalEquations::factor(const GubPoint& point) {
  entries_ = matrix_.entries();
  std::ranges::fill(entries_, 0.0);
  for (std::size_t i = 0; i < program_.rows; ++i) add(i, i, point.slack[i] / point.price[i]);
  diagonal_.assign(program_.groups(), 0.0);
  for (std::size_t g = 0; g < program_.groups(); ++g) add_group(point, g);
  return matrix_.factor();
}

bool GubNormalEquations::direction(const GubPoint& point, const GubResiduals& right, GubPoint& d) {
  for (std::size_t i = 0; i < program_.rows; ++i) {
    d.price[i] = right.slack[i] / point.price[i] - right.row[i];
  }
  // d.x holds (target_x + x residual) / z for now, d.earned the group's right-hand side over D.
  for (std::size_t g = 0; g < program_.groups(); ++g) {
    double right_of_group = right.unused[g] / point.earned[g] - right.group[g];
    for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
      d.x[j] = (right.x[j] + point.x[j] * right.column[j]) / point.reduced[j];
      right_of_group += d.x[j];
    }
    d.earned[g] = right_of_group / diagonal_[g];
    for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
      const double share = d.x[j] - point.x[j] / point.reduced[j] * d.earned[g];
      for (std::size_t k = program_.first_entry[j]; k < program_.first_entry[j + 1]; ++k) {
        d.price[static_cast<std::size_t>(program_.row[k])] += program_.coefficient[k] * share;
      }
    }
  }
  if (!matrix_.solve(d.price)) return false;
  for (std::size_t g = 0; g < program_.groups(); ++g) {
    double cost = 0.0;
    for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
      cost += point.x[j] / point.reduced[j] * program_.cost(j, d.price);
    }
    d.earned[g] -= cost / diagonal_[g];
    for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
      d.reduced[j] = d.earned[g] + program_.cost(j, d.price) - right.column[j];
      d.x[j] = (right.x[j] - point.x[j] * d.reduced[j]) / point.reduced[j];
    }
    d.unused[g] = (right.unused[g] - point.unused[g] * d.earned[g]) / point.earned[g];
  }
  for (std::size_t i = 0; i < program_.rows; ++i) {
    d.slack[i] = (right.slack[i] - point.slack[i] * d.price[i]) / point.price[i];
  }
  return true;
}

}  // namespace berth::solver
