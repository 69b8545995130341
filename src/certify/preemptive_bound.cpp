// SPDX-License-Identifier: Apache-2.0
#include "horizon_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/base/int128.hpp"
#include "berth/certify/preemptive.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using horizon::Job;
using horizon::kNever;
using horizon::kRentUnit;
using horizon::Option;
using horizon::PriceCertificate;
using horizon::Problem;
using horizon::Seconds;

/// Attempts to raise the bound of a job's worst interval; chosen, not tuned.
constexpr int kMostRounds = 64;
/// Halvings of the range in which the price of a job's work is searched.
constexpr int kHalvings = 44;

void expect(bool fine, const char* what) {
  if (!fine) throw InputError({}, std::string("prices of schedules that stop jobs: ") + what);
}

void expect_suitable(const Problem& problem, const PriceCertificate& prices) {
  expect(std::ranges::all_of(prices.slopes, [](std::int64_t s) { return s == 0; }), "slopes");
  expect(std::ranges::all_of(prices.starts, [](std::int64_t s) { return s >= 0; }),
         "a negative price");
  expect(std::ranges::is_sorted(prices.nodes, std::ranges::less_equal{}) &&
             (prices.nodes.empty() || prices.nodes.front() == problem.now),
         "nodes");
  expect(prices.starts.size() == problem.curves * prices.intervals(), "a number of prices");
  expect(prices.budgets.empty() && prices.shares.empty() && prices.sizes.empty() &&
             prices.multiples.empty(),
         "budgets, shares, sizes or multiples");
  for (const Job& job : problem.jobs) {
    expect(job.required && job.deadline >= kNever, "a job that may be left out, or a deadline");
    for (const Option& option : problem.options_of(job)) {
      expect(option.cost.size() == 1, "costs in pieces");
      expect(option.quotas.size() + option.budgets.size() == 0, "quotas or budgets");
    }
  }
  for (const auto& pool : problem.pools) expect(pool.worth.empty(), "factors of shapes");
}

/// An option with its integer rents a second, in 2^-kPriceFractionBits.
struct PricedOption {
  Seconds duration = 1;
  std::vector<std::int64_t> rent;  ///< by interval; the last one, without end, costs nothing
};

/// One job: lower bounds on cost and rent by interval of the completion.
class WorkPrices {
 public:
  WorkPrices(const Problem& problem, const PriceCertificate& prices, const Job& job)
      : nodes_(prices.nodes), release_(job.release) {
    if (nodes_.empty()) nodes_.push_back(problem.now);
    shortest_ = kNever;
    for (const Option& option : problem.options_of(job)) {
      shortest_ = std::min(shortest_, option.duration);
      add_option(problem, prices, option);
    }
    if (options_.empty()) return;
    cost_ = integer_cost(problem.cost_of(problem.options_of(job).front()).front(), Rounding::down);
    first_ = interval_of(release_ + shortest_);
    bounds_.assign(nodes_.size(), kLowest);
  }

  /// @pre the job has options
  Int128 find() {
    raise_all(0);  // the cost of completing alone
    for (int round = 0; round < kMostRounds; ++round) {
      const auto worst = std::min_element(bounds_.begin() + offset(first_), bounds_.end());
      const Int128 before = *worst;
      raise_all(best_price(static_cast<std::size_t>(worst - bounds_.begin())));
      if (*worst == before) break;
    }
    return *std::min_element(bounds_.begin() + offset(first_), bounds_.end());
  }
  [[nodiscard]] bool runs() const { return !options_.empty(); }

 private:
  static constexpr Int128 kLowest = std::numeric_limits<std::int64_t>::min();
  static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

  void add_option(const Problem& problem, const PriceCertificate& prices, const Option& option) {
    const auto curve = problem.pools[problem.pools_of(option).front().index()].curve.index();
    PricedOption priced{.duration = option.duration, .rent = {}};
    for (const PoolId pool : problem.pools_of(option)) {
      expect(problem.pools[pool.index()].curve.index() == curve, "pools with different prices");
    }
    for (std::size_t k = 0; k < prices.intervals(); ++k) {
      const Int128 rent = Int128{prices.starts[curve * prices.intervals() + k]} * option.rent;
      expect(rent / kRentUnit < (Int128{1} << 60), "a price that is too large");
      priced.rent.push_back(static_cast<std::int64_t>(rent / kRentUnit));
    }
    priced.rent.push_back(0);
    options_.push_back(std::move(priced));
  }

  [[nodiscard]] std::size_t interval_of(Seconds t) const {
    const auto after = std::ranges::upper_bound(nodes_, t);
    return after == nodes_.begin() ? 0 : static_cast<std::size_t>(after - nodes_.begin()) - 1;
  }
  [[nodiscard]] Int128 cost_at(Seconds completion) const {
    return cost_.cost + cost_.slope * (completion - cost_.after);
  }

  /// What work at this price gains in a second of the interval, rounded up.
  [[nodiscard]] Int128 gain(Int128 price, std::size_t k) const {
    Int128 most = 0;
    for (const PricedOption& option : options_) {
      most = std::max(most, (price + option.duration - 1) / option.duration - option.rent[k]);
    }
    return most;
  }

  /// Raises the bounds of all intervals to those at this price of the work.
  void raise_all(Int128 price) {
    Int128 gained = 0;
    for (std::size_t k = interval_of(release_); k < nodes_.size(); ++k) {
      const Int128 rate = gain(price, k);
      const bool last = k + 1 == nodes_.size();
      const Seconds begin = std::max(release_, nodes_[k]);
      const Seconds from = std::max(release_ + shortest_, nodes_[k]);
      if (k >= first_) {
        const Int128 at_begin = cost_at(from) + price - gained - rate * (from - begin);
        Int128 least = at_begin;
        if (!last) least += std::min<Int128>(0, (cost_.slope - rate) * (nodes_[k + 1] - from));
        if (!last || rate <= cost_.slope) bounds_[k] = std::max(bounds_[k], least);
      }
      if (!last) gained += rate * (nodes_[k + 1] - begin);
    }
  }

  /// Work done before `until` by a job that pays this price for it, less all of its work.
  [[nodiscard]] double excess(double price, std::size_t last, Seconds until) const {
    double done = -1.0;
    for (std::size_t k = interval_of(release_); k <= last; ++k) {
      const Seconds end = k == last ? until : nodes_[k + 1];
      double most = 0.0, rate = 0.0;
      for (const PricedOption& option : options_) {
        const double worth =
            price / static_cast<double>(option.duration) - static_cast<double>(option.rent[k]);
        if (worth <= most) continue;
        most = worth;
        rate = 1.0 / static_cast<double>(option.duration);
      }
      done += rate * static_cast<double>(end - std::max(release_, nodes_[k]));
    }
    return done;
  }

  /// Price at which the work before `until` is all of the job's.
  [[nodiscard]] double clearing_price(std::size_t k, Seconds until) const {
    double low = 0.0, high = 1.0;
    while (high < kLargest && excess(high, k, until) < 0.0) high *= 16.0;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = 0.5 * (low + high);
      (excess(middle, k, until) >= 0.0 ? high : low) = middle;
    }
    return high;
  }

  /// Price of the work that bounds the completions in an interval best: the one that clears at the
  /// begin or at the end, or that makes all of them cost the same.
  [[nodiscard]] Int128 best_price(std::size_t k) const {
    double even = static_cast<double>(kLargest);
    for (const PricedOption& option : options_) {
      even =
          std::min(even, (static_cast<double>(cost_.slope) + static_cast<double>(option.rent[k])) *
                             static_cast<double>(option.duration));
    }
    const double at_begin = clearing_price(k, std::max(release_ + shortest_, nodes_[k]));
    double price = std::min(at_begin, even);
    if (k + 1 < nodes_.size())
      price = std::max(price, std::min(at_begin, clearing_price(k, nodes_[k + 1])));
    return static_cast<Int128>(std::floor(std::clamp(price, 0.0, kLargest)));
  }

  static constexpr double kLargest = 0x1p62;
  std::vector<Seconds> nodes_;
  Seconds release_;
  Seconds shortest_ = 0;
  std::vector<PricedOption> options_;
  IntegerCost cost_{};
  std::size_t first_ = 0;       ///< interval of the earliest completion
  std::vector<Int128> bounds_;  ///< by interval of the completion
};

/// In 2^-kPriceFractionBits, exactly.
Int128 capacity_cost(const Problem& problem, const PriceCertificate& prices) {
  Int128 cost = 0;
  for (const auto& pool : problem.pools) {
    for (std::size_t s = 0; s < pool.capacity.size(); ++s) {
      const Seconds until = s + 1 < pool.capacity.size() ? pool.capacity[s + 1].from : kNever;
      for (std::size_t k = 0; k < prices.intervals(); ++k) {
        const Seconds from = std::max(pool.capacity[s].from, prices.nodes[k]);
        const Seconds to = std::min(until, prices.nodes[k + 1]);
        if (from >= to) continue;
        cost += Int128{prices.starts[pool.curve.index() * prices.intervals() + k]} *
                std::max<horizon::Gpus>(0, pool.capacity[s].gpus) * (to - from);
      }
    }
  }
  return cost;
}

}  // namespace

double prove_preemptive(const Problem& problem, const PriceCertificate& certificate) {
  expect_suitable(problem, certificate);
  std::vector<Int128> least(problem.jobs.size(), 0);
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    WorkPrices job(problem, certificate, problem.jobs[j]);
    if (job.runs()) least[j] = job.find();
  });
  Int128 bound = -capacity_cost(problem, certificate);
  for (const Int128 cost : least) bound += cost;
  const double exact = std::ldexp(static_cast<double>(bound), -horizon::kPriceFractionBits);
  return std::nextafter(exact, -std::numeric_limits<double>::infinity());
}

}  // namespace berth::certify
