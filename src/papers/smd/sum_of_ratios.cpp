// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"
#include "berth/base/option_range.hpp"
#include "berth/papers/smd/smd_job.hpp"

namespace berth::papers::smd {
namespace {

using Polygon = std::vector<RealCrew>;  ///< corners in order; convex

/// (a_w w + a_p p) / (c_w w + c_p p + d), with a constant `a` in the numerator.
struct Ratio {
  double a_w = 0.0, a_p = 0.0, a = 0.0, c_w = 0.0, c_p = 0.0, d = 0.0;

  [[nodiscard]] double at(const RealCrew& x) const {
    return (a_w * x.workers + a_p * x.servers + a) / (c_w * x.workers + c_p * x.servers + d);
  }
};

/// The part of the polygon where w_factor w + p_factor p <= most (Sutherland and Hodgman 1974).
Polygon clip(const Polygon& polygon, double w_factor, double p_factor, double most) {
  Polygon result;
  const auto excess = [&](const RealCrew& x) {
    return w_factor * x.workers + p_factor * x.servers - most;
  };
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const RealCrew& from = polygon[k];
    const RealCrew& to = polygon[(k + 1) % polygon.size()];
    const double here = excess(from), there = excess(to);
    if (here <= 0.0) result.push_back(from);
    if ((here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0)) {
      const double part = here / (here - there);
      result.push_back({from.workers + part * (to.workers - from.workers),
                        from.servers + part * (to.servers - from.servers)});
    }
  }
  return result;
}

/// w, p >= 1 within the limit; empty if there are none.
Polygon feasible_crews(const SmdJob& job) {
  double most_w = kInfinity, most_p = kInfinity;
  for (std::size_t r = 0; r < job.limit.size(); ++r) {
    if (job.worker[r] > 0.0) most_w = std::min(most_w, job.limit[r] / job.worker[r]);
    if (job.server[r] > 0.0) most_p = std::min(most_p, job.limit[r] / job.server[r]);
  }
  BERTH_ENSURE(most_w < kInfinity && most_p < kInfinity);
  if (most_w < 1.0 || most_p < 1.0) return {};
  Polygon polygon = {{1.0, 1.0}, {most_w, 1.0}, {most_w, most_p}, {1.0, most_p}};
  for (std::size_t r = 0; r < job.limit.size(); ++r) {
    polygon = clip(polygon, job.worker[r], job.server[r], job.limit[r]);
  }
  return polygon;
}

/// The ratios that are not 0 everywhere; the two linear terms of the synchronous form are one.
std::vector<Ratio> ratios_of(const InnerCoefficients& c) {
  std::vector<Ratio> ratios;
  if (c.synchronous) {
    ratios = {
        {c.theta1, c.theta2, 0, 0, 0, 1}, {c.theta4, 0, 0, 0, 1, 0}, {0, 0, c.theta5, 1, 0, 0}};
  } else {
    ratios = {{0, c.theta2, 0, 1, 0, 0}, {0, 0, c.theta3, 1, 0, 0}, {0, 0, c.theta4, 0, 1, 0}};
  }
  std::erase_if(ratios, [](const Ratio& r) { return r.a_w + r.a_p + r.a <= 0.0; });
  return ratios;
}

/// A linear ratio is least at a corner.
const RealCrew& least_corner(const Polygon& polygon, const Ratio& ratio) {
  return *std::ranges::min_element(polygon, {}, [&](const RealCrew& x) { return ratio.at(x); });
}

struct Range {
  double least = 0.0, most = 0.0;
};

class RatioGrid {
 public:
  RatioGrid(const SmdJob& job, double epsilon)
      : coefficients_(coefficients(job)),
        growth_(1.0 + epsilon),
        ratios_(ratios_of(coefficients_)) {}

  std::optional<RealCrew> run(const Polygon& polygon) {
    if (polygon.empty()) return std::nullopt;
    best_ = polygon.front();
    for (const RealCrew& x : polygon) consider(x);
    for (const Ratio& ratio : ratios_) {
      const auto [least, most] =
          std::ranges::minmax(polygon, {}, [&](const RealCrew& x) { return ratio.at(x); });
      ranges_.push_back({ratio.at(least), ratio.at(most)});
    }
    if (ratios_.empty()) return best_;
    const auto widest =
        std::ranges::max_element(ranges_, {}, [](const Range& r) { return r.most / r.least; });
    const auto last = static_cast<std::ptrdiff_t>(ratios_.size()) - 1;
    std::swap(ratios_[static_cast<std::size_t>(widest - ranges_.begin())], ratios_.back());
    std::iter_swap(widest, ranges_.begin() + last);
    descend(polygon, 0, ranges_.back().least);
    return best_;
  }

 private:
  [[nodiscard]] double terms(const RealCrew& x) const {
    double sum = 0.0;
    for (const Ratio& ratio : ratios_) sum += ratio.at(x);
    return sum;
  }

  void consider(const RealCrew& x) {
    const double sum = terms(x);
    if (sum >= least_) return;
    least_ = sum;
    best_ = x;
  }

  /// @param sum  least value of the last ratio and grid points of those before this one
  void descend(const Polygon& polygon, std::size_t ratio, double sum) {
    if (polygon.empty()) return;
    if (ratio + 1 == ratios_.size()) return consider(least_corner(polygon, ratios_.back()));
    const Ratio& r = ratios_[ratio];
    for (double nu = ranges_[ratio].least;; nu *= growth_) {
      const bool end = nu >= ranges_[ratio].most;
      if (end) nu = ranges_[ratio].most;
      // Larger points have more, and none of their corners is counted as less than their sum.
      if (sum + nu >= least_) return;
      descend(clip(polygon, r.a_w - nu * r.c_w, r.a_p - nu * r.c_p, nu * r.d - r.a), ratio + 1,
              sum + nu);
      if (end) return;
    }
  }

  InnerCoefficients coefficients_;
  double growth_;
  std::vector<Ratio> ratios_;
  std::vector<Range> ranges_;  ///< over the polygon, by ratio
  double least_ = kInfinity;
  RealCrew best_;
};

}  // namespace

std::optional<RealCrew> sum_of_ratios(const SmdJob& job, double epsilon) {
  expect_option("smd: epsilon", epsilon, above(0.0));
  return RatioGrid(job, epsilon).run(feasible_crews(job));
}

}  // namespace berth::papers::smd
