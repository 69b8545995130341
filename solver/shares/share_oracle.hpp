// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/solver/time_shares.hpp"

namespace berth::solver {

/// What all jobs do together at prices of GPU types: a column of the master problem.
struct ShareColumn {
  std::vector<double> price;  ///< lambda_t
  double level = 0.0;         ///< least progress: what each job makes at least; unused for the sum
  double split = 0.0;         ///< of slopes at a kink, see LeastProgress
  double gain = 0.0;          ///< of the objective
  std::vector<double> use;    ///< GPUs by type
  double profit = 0.0;        ///< gain - lambda x use: the largest at these prices
};

/// The largest gain less the price of GPUs, over all shares that keep sum_t x_jt <= 1.
class ShareOracle {
 public:
  explicit ShareOracle(const ShareProblem& problem) : problem_(problem) {}
  ShareOracle(const ShareOracle&) = delete;
  ShareOracle& operator=(const ShareOracle&) = delete;
  virtual ~ShareOracle() = default;

  [[nodiscard]] virtual ShareColumn column(std::span<const double> price) const = 0;
  /// Adds part x the shares of the column.
  virtual void add_shares(const ShareColumn& column, double part,
                          std::span<double> share) const = 0;
  /// w_j of the bound that the column proves.
  [[nodiscard]] virtual std::vector<double> weights(const ShareColumn& column) const = 0;
  /// Gain of given shares.
  [[nodiscard]] virtual double value(std::span<const double> share) const = 0;
  /// No gain is larger.
  [[nodiscard]] virtual double largest() const = 0;

 protected:
  const ShareProblem& problem_;
};

/// sum_j sum_t r_jt x_jt: each job takes the type of the largest r_jt - lambda_t g_j > 0.
class TotalProgress final : public ShareOracle {
 public:
  using ShareOracle::ShareOracle;
  [[nodiscard]] ShareColumn column(std::span<const double> price) const override;
  void add_shares(const ShareColumn& column, double part, std::span<double> share) const override;
  [[nodiscard]] std::vector<double> weights(const ShareColumn& column) const override;
  [[nodiscard]] double value(std::span<const double> share) const override;
  [[nodiscard]] double largest() const override;
};

/// min_j sum_t r_jt x_jt. Job j buys progress z for at least c_j(z), the lower hull of the points
/// (r_jt, lambda_t g_j) and the origin, up to max_t r_jt. The profit z - sum_j c_j(z) is largest
/// where the slopes of all hulls add to 1; these slopes are the weights w_j. At a kink each is the
/// slope before it and `split` of its rise.
class LeastProgress final : public ShareOracle {
 public:
  explicit LeastProgress(const ShareProblem& problem);
  [[nodiscard]] ShareColumn column(std::span<const double> price) const override;
  void add_shares(const ShareColumn& column, double part, std::span<double> share) const override;
  [[nodiscard]] std::vector<double> weights(const ShareColumn& column) const override;
  [[nodiscard]] double value(std::span<const double> share) const override;
  [[nodiscard]] double largest() const override { return largest_; }

 private:
  void find_level(std::span<const double> price, ShareColumn& column) const;

  double largest_ = 0.0;  ///< min_j max_t r_jt
};

}  // namespace berth::solver
