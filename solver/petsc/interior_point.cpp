// SPDX-License-Identifier: Apache-2.0
#include "interior_point.hpp"

#include "interior_point_step.hpp"
#include "normal_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::solver {

namespace {

constexpr double kRowRounding = 1e-10;  ///< relative residual that rounding leaves in the rows

/// The rows and columns of the solve: a row with rhs 0 and no negative entry holds its columns at
/// 0.
struct Active {
  std::vector<char> row;
  std::vector<char> column;

  explicit Active(const LinearProgram& lp) : row(lp.rows(), 1), column(lp.columns(), 1) {
    for (std::size_t i = 0; i < lp.rows(); ++i) row[i] = lp.rhs[i] > 0.0 ? 1 : 0;
    for (std::size_t k = 0; k < lp.row.size(); ++k) {
      if (lp.coefficient[k] < 0.0) row[static_cast<std::size_t>(lp.row[k])] = 1;
    }
    for (std::size_t j = 0; j < lp.columns(); ++j) {
      for (std::size_t k = lp.start[j]; k < lp.start[j + 1]; ++k) {
        if (row[static_cast<std::size_t>(lp.row[k])] == 0) column[j] = 0;
      }
    }
  }
};

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// One solve: the point, its residuals and the directions.
class Mehrotra {
 public:
  Mehrotra(const LinearProgram& lp, PrimalDualPoint& point, const InteriorPointOptions& options)
      : lp_(lp), p_(point), options_(options), active_(lp), normal_(lp.rows()) {
    primal_residual_.resize(lp.rows());
    dual_residual_.resize(lp.columns());
    prepare();
  }

  InteriorPointResult run() {
    for (int iteration = 0;; ++iteration) {
      find_residuals();
      if (converged()) return {SolveStatus::optimal, iteration};
      if (iteration == options_.iterations || options_.stop.requested())
        return {SolveStatus::iteration_limit, iteration};
      if (!advance()) return {SolveStatus::numerical_trouble, iteration};
    }
  }

 private:
  void prepare();
  void find_residuals();
  [[nodiscard]] bool converged() const;
  bool advance();
  void form_normal_matrix();
  bool find_direction(std::span<const double> target_x, std::span<const double> target_s);

  const LinearProgram& lp_;
  PrimalDualPoint& p_;
  const InteriorPointOptions& options_;
  Active active_;
  NormalMatrix normal_;
  double pairs_ = 0.0;
  double complementarity_ = 0.0;
  std::vector<double> primal_residual_, dual_residual_;
  PrimalDualPoint d_;  ///< direction
};

void Mehrotra::prepare() {
  for (std::size_t j = 0; j < lp_.columns(); ++j) {
    if (active_.column[j] == 0) p_.x[j] = p_.reduced[j] = 0.0;
    pairs_ += active_.column[j];
  }
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    if (active_.row[i] == 0) p_.slack[i] = 0.0;
    pairs_ += active_.row[i];
  }
  d_.x.assign(lp_.columns(), 0.0);
  d_.reduced.assign(lp_.columns(), 0.0);
  d_.slack.assign(lp_.rows(), 0.0);
  d_.price.assign(lp_.rows(), 0.0);
}

void Mehrotra::find_residuals() {
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    primal_residual_[i] = active_.row[i] != 0 ? lp_.rhs[i] - p_.slack[i] : 0.0;
  }
  for (std::size_t j = 0; j < lp_.columns(); ++j) {
    dual_residual_[j] = 0.0;
    if (active_.column[j] == 0) continue;
    dual_residual_[j] = lp_.value[j] + p_.reduced[j] - lp_.cost(j, p_.price);
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      primal_residual_[static_cast<std::size_t>(lp_.row[k])] -= lp_.coefficient[k] * p_.x[j];
    }
  }
  complementarity_ = dot(p_.x, p_.reduced) + dot(p_.slack, p_.price);
}

bool Mehrotra::converged() const {
  double primal = 0.0;
  double dual = 0.0;
  double worth = 0.0;
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    primal += std::abs(primal_residual_[i]) * std::max(p_.price[i], 1e-3);
    worth += lp_.rhs[i] * p_.price[i];
  }
  for (const double r : dual_residual_) dual = std::max(dual, std::abs(r));
  return complementarity_ <= options_.tolerance &&
         primal <= std::max(0.01 * options_.tolerance, kRowRounding * worth) &&
         dual * lp_.max_sum <= options_.tolerance;
}

/// Computes the normal matrix M = A diag(x/z) A' + diag(s/y).
void Mehrotra::form_normal_matrix() {
  const std::size_t m = lp_.rows();
  const std::span<double> a = normal_.entries();
  std::ranges::fill(a, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    a[i * m + i] = active_.row[i] != 0 ? p_.slack[i] / p_.price[i] : 1.0;
  }
  for (std::size_t j = 0; j < lp_.columns(); ++j) {
    if (active_.column[j] == 0) continue;
    const double weight = p_.x[j] / p_.reduced[j];
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      const auto from = static_cast<std::size_t>(lp_.row[k]);
      for (std::size_t l = lp_.start[j]; l < lp_.start[j + 1]; ++l) {
        const auto to = static_cast<std::size_t>(lp_.row[l]);
        if (to >= from) a[from * m + to] += weight * lp_.coefficient[k] * lp_.coefficient[l];
      }
    }
  }
}

/// Solves the Newton equations for x z -> x z + target_x, s y -> s y + target_s. False when the
/// factorisation fails.
bool Mehrotra::find_direction(std::span<const double> target_x, std::span<const double> target_s) {
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    d_.price[i] = active_.row[i] != 0 ? target_s[i] / p_.price[i] - primal_residual_[i] : 0.0;
  }
  for (std::size_t j = 0; j < lp_.columns(); ++j) {
    if (active_.column[j] == 0) continue;
    const double t = (target_x[j] + p_.x[j] * dual_residual_[j]) / p_.reduced[j];
    for (std::size_t k = lp_.start[j]; k < lp_.start[j + 1]; ++k) {
      d_.price[static_cast<std::size_t>(lp_.row[k])] += lp_.coefficient[k] * t;
    }
  }
  if (!normal_.solve(d_.price)) return false;
  for (std::size_t j = 0; j < lp_.columns(); ++j) {
    if (active_.column[j] == 0) continue;
    d_.reduced[j] = lp_.cost(j, d_.price) - dual_residual_[j];
    d_.x[j] = (target_x[j] - p_.x[j] * d_.reduced[j]) / p_.reduced[j];
  }
  for (std::size_t i = 0; i < lp_.rows(); ++i) {
    if (active_.row[i] == 0) continue;
    d_.slack[i] = (target_s[i] - p_.slack[i] * d_.price[i]) / p_.price[i];
  }
  return true;
}

bool Mehrotra::advance() {
  form_normal_matrix();
  if (!normal_.factor()) return false;
  std::vector<double> target_x(lp_.columns()), target_s(lp_.rows());
  for (std::size_t j = 0; j < target_x.size(); ++j) target_x[j] = -p_.x[j] * p_.reduced[j];
  for (std::size_t i = 0; i < target_s.size(); ++i) target_s[i] = -p_.slack[i] * p_.price[i];
  if (!find_direction(target_x, target_s)) return false;

  const double primal = std::min(step_length(p_.x, d_.x), step_length(p_.slack, d_.slack));
  const double dual =
      std::min(step_length(p_.reduced, d_.reduced), step_length(p_.price, d_.price));
  double affine = 0.0;
  for (std::size_t j = 0; j < target_x.size(); ++j) {
    affine += (p_.x[j] + primal * d_.x[j]) * (p_.reduced[j] + dual * d_.reduced[j]);
  }
  for (std::size_t i = 0; i < target_s.size(); ++i) {
    affine += (p_.slack[i] + primal * d_.slack[i]) * (p_.price[i] + dual * d_.price[i]);
  }
  const double mu = complementarity_ / pairs_;
  const double ratio = affine / complementarity_;
  // Mehrotra's centring parameter, ratio cubed, but not far below the tolerance: the point stays
  // centred.
  const double aim =
      std::max(ratio * ratio * ratio * mu, std::min(mu, 0.1 * options_.tolerance / pairs_));
  for (std::size_t j = 0; j < target_x.size(); ++j) target_x[j] += aim - d_.x[j] * d_.reduced[j];
  for (std::size_t i = 0; i < target_s.size(); ++i) target_s[i] += aim - d_.slack[i] * d_.price[i];
  if (!find_direction(target_x, target_s)) return false;

  const double step_x = std::min(step_length(p_.x, d_.x), step_length(p_.slack, d_.slack));
  const double step_y =
      std::min(step_length(p_.reduced, d_.reduced), step_length(p_.price, d_.price));
  step_along(p_.x, d_.x, step_x);
  step_along(p_.slack, d_.slack, step_x);
  step_along(p_.price, d_.price, step_y);
  step_along(p_.reduced, d_.reduced, step_y);
  return true;
}

}  // namespace

InteriorPointResult solve(const LinearProgram& lp, PrimalDualPoint& point,
                          const InteriorPointOptions& options) {
  BERTH_EXPECT(PetscSession::active());
  BERTH_EXPECT(point.x.size() == lp.columns() && point.price.size() == lp.rows());
  BERTH_EXPECT(point.reduced.size() == lp.columns() && point.slack.size() == lp.rows());
  if (lp.rows() == 0 || lp.columns() == 0) {
    std::ranges::fill(point.price, 0.0);
    point.slack = lp.rhs;
    return {};
  }
  return Mehrotra(lp, point, options).run();
}

}  // namespace berth::solver
