// SPDX-License-Identifier: Apache-2.0
#include "gub_interior_point.hpp"

#include "../petsc/interior_point_step.hpp"
#include "gub_normal_equations.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::solver {
namespace {

/// sum_i (a_i + p da_i) (b_i + q db_i)
double product(std::span<const double> a, std::span<const double> da, double p,
               std::span<const double> b, std::span<const double> db, double q) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] + p * da[i]) * (b[i] + q * db[i]);
  return sum;
}

/// One solve: the point, its residuals and the direction.
class GubMehrotra {
 public:
  GubMehrotra(const GubProgram& program, GubPoint& point, const InteriorPointOptions& options)
      : program_(program), p_(point), options_(options), equations_(program) {
    pairs_ = static_cast<double>(program.columns() + program.groups() + program.rows);
    d_ = point;
    right_.x.resize(program.columns());
    right_.unused.resize(program.groups());
    right_.slack.resize(program.rows);
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
  void find_residuals();
  [[nodiscard]] bool converged() const;
  bool advance();
  void aim_at(double mu, double second_order);
  [[nodiscard]] double primal_step() const {
    return std::min({step_length(p_.x, d_.x), step_length(p_.unused, d_.unused),
                     step_length(p_.slack, d_.slack)});
  }
  [[nodiscard]] double dual_step() const {
    return std::min({step_length(p_.reduced, d_.reduced), step_length(p_.earned, d_.earned),
                     step_length(p_.price, d_.price)});
  }
  /// Complementarity after these steps.
  [[nodiscard]] double complementarity(double primal, double dual) const {
    return product(p_.x, d_.x, primal, p_.reduced, d_.reduced, dual) +
           product(p_.unused, d_.unused, primal, p_.earned, d_.earned, dual) +
           product(p_.slack, d_.slack, primal, p_.price, d_.price, dual);
  }

  const GubProgram& program_;
  GubPoint& p_;
  const InteriorPointOptions& options_;
  GubNormalEquations equations_;
  double pairs_;
  double complementarity_ = 0.0;
  GubResiduals right_;
  GubPoint d_;
};

void GubMehrotra::find_residuals() {
  right_.row.resize(program_.rows);
  for (std::size_t i = 0; i < program_.rows; ++i) right_.row[i] = -p_.slack[i];
  right_.group.resize(program_.groups());
  right_.column.resize(program_.columns());
  for (std::size_t g = 0; g < program_.groups(); ++g) {
    double left = program_.limit[g] - p_.unused[g];
    for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
      left -= p_.x[j];
      right_.column[j] =
          program_.value[j] + p_.reduced[j] - p_.earned[g] - program_.cost(j, p_.price);
      for (std::size_t k = program_.first_entry[j]; k < program_.first_entry[j + 1]; ++k) {
        right_.row[static_cast<std::size_t>(program_.row[k])] -= program_.coefficient[k] * p_.x[j];
      }
    }
    right_.group[g] = left;
  }
  complementarity_ = complementarity(0.0, 0.0);
}

bool GubMehrotra::converged() const {
  double primal = 0.0;
  double dual = 0.0;
  for (std::size_t i = 0; i < program_.rows; ++i) {
    primal += std::abs(right_.row[i]) * p_.price[i];
  }
  for (std::size_t g = 0; g < program_.groups(); ++g) {
    primal += std::abs(right_.group[g]) * p_.earned[g];
    double worst = 0.0;
    for (std::size_t j = program_.first_column[g]; j < program_.first_column[g + 1]; ++j) {
      worst = std::max(worst, std::abs(right_.column[j]));
    }
    dual += worst * program_.limit[g];
  }
  return complementarity_ + primal + dual <= options_.tolerance;
}

/// Targets of complementarity: products become mu, with this part of the second order of the last
/// direction taken off.
void GubMehrotra::aim_at(double mu, double second_order) {
  const auto aim = [&](std::vector<double>& target, const auto& a, const auto& da, const auto& b,
                       const auto& db) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      target[i] = mu - a[i] * b[i] - (second_order > 0.0 ? second_order * da[i] * db[i] : 0.0);
    }
  };
  aim(right_.x, p_.x, d_.x, p_.reduced, d_.reduced);
  aim(right_.unused, p_.unused, d_.unused, p_.earned, d_.earned);
  aim(right_.slack, p_.slack, d_.slack, p_.price, d_.price);
}

bool GubMehrotra::advance() {
  if (!equations_.factor(p_)) return false;
  aim_at(0.0, 0.0);
  if (!equations_.direction(p_, right_, d_)) return false;
  const double primal = primal_step();
  const double dual = dual_step();
  const double mu = complementarity_ / pairs_;
  const double ratio = complementarity(primal, dual) / complementarity_;
  // Mehrotra's centring parameter, but not far below the tolerance: the point stays centred.
  const double aim =
      std::max(ratio * ratio * ratio * mu, std::min(mu, 0.1 * options_.tolerance / pairs_));
  // The corrector is scaled by the steps (Colombo and Gondzio 2008): a short step makes the second
  // order meaningless.
  aim_at(aim, primal * dual);
  if (!equations_.direction(p_, right_, d_)) return false;
  const double step_x = primal_step();
  const double step_y = dual_step();
  step_along(p_.x, d_.x, step_x);
  step_along(p_.unused, d_.unused, step_x);
  step_along(p_.slack, d_.slack, step_x);
  step_along(p_.price, d_.price, step_y);
  step_along(p_.earned, d_.earned, step_y);
  step_along(p_.reduced, d_.reduced, step_y);
  return true;
}

}  // namespace

InteriorPointResult solve(const GubProgram& program, GubPoint& point,
                          const InteriorPointOptions& options) {
  BERTH_EXPECT(PetscSession::active());
  BERTH_EXPECT(point.x.size() == program.columns() && point.price.size() == program.rows);
  if (program.rows == 0 || program.columns() == 0) return {};
  return GubMehrotra(program, point, options).run();
}

double value_of(const GubProgram& program, const GubPoint& point) {
  double sum = 0.0;
  for (std::size_t j = 0; j < point.x.size(); ++j) sum += program.value[j] * point.x[j];
  return sum;
}

}  // namespace berth::solver
