// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::solver::assignment {

/// What everything costs in one evaluation: slots, levies per GPU, fares per job.
struct Quotes {
  std::span<const double> slots, levies, fares;
};

/// The bidders of a market laid out for evaluation, one array a field: many passes over some
/// thousand numbers each, which stay in the cache.
///
/// Between evaluations prices move little, and most options of a job are far from its best one. So
/// a shortlist is kept of those that can come within `kFar` eps of it as long as no cost has moved
/// by more than some eps since; the others would add exactly nothing. Sums are the same bits with
/// any shortlist, and without one.
class Bids {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// What a fare puts on groups of uplinks, in units of the group; kNone: nothing.
  struct Load {
    std::uint32_t group = kNone;
    double units = 0.0;
  };
  using Fare = std::array<Load, 2>;

  struct Bidder {
    double gpus = 0.0;    ///< of one job
    double amount = 0.0;  ///< of all its jobs
    bool required = false;
    std::uint32_t levy = kNone;
  };

  /// Where the parts of the sums begin: [0] is the value; `out` takes what is not wanted.
  struct Layout {
    std::size_t slots = 1, levies = 1, groups = 1, out = 1;
    [[nodiscard]] std::size_t size() const { return out + 1; }
  };

  /// Fixed-point units per unit of value and per GPU of demand.
  struct Units {
    double value = 1.0, demand = 1.0;
  };

  void reset(std::size_t slots, std::size_t levies, std::size_t groups, std::vector<Fare> fares);
  void open(const Bidder& bidder);  ///< its options follow
  void add(double value, std::uint32_t slot, std::uint32_t fare);

  [[nodiscard]] std::size_t size() const { return amount_.size(); }
  [[nodiscard]] const Layout& layout() const { return layout_; }

  /// Has a shortlist good for these prices; before `sum` with them.
  void prepare(const Quotes& quotes, double eps);

  /// Adds the value of bidders [first, last) and their demand by slot, levy and group of uplinks:
  ///   f = n eps log(e^0 + sum e^{a_k}), a_k = (v_k - q_k) / eps; demand n e^{a_k} / sum
  void sum(std::size_t first, std::size_t last, const Quotes& quotes, double eps,
           const Units& units, std::span<std::int64_t> sums) const;

 private:
  class Batch;
  struct Choices {
    std::vector<double> value;
    std::vector<std::uint32_t> slot, fare, end;  ///< `end` by bidder: one past its last

    void clear();
    void add(const Choices& from, std::size_t k);
  };

  [[nodiscard]] double levy_of(std::size_t bidder, const Quotes& quotes) const {
    return levy_[bidder] == kNone ? 0.0 : quotes.levies[levy_[bidder]];
  }
  /// Profits of the bidder's options into `profit`; the best of them or of staying out.
  double weigh(std::size_t bidder, const Quotes& quotes, const Choices& among,
               std::span<double> profit) const;
  void sum_exact(std::size_t first, std::size_t last, const Quotes& quotes, const Units& units,
                 std::span<std::int64_t> sums) const;
  void count(std::size_t bidder, std::uint32_t fare, double gpus, double unit,
             std::span<std::int64_t> sums) const;
  [[nodiscard]] bool shortlist_holds(const Quotes& quotes, double eps) const;

  Layout layout_;
  std::vector<Fare> fares_;
  std::vector<double> gpus_, amount_;
  std::vector<double> out_;  ///< profit of staying out: 0, or minus infinity when required
  std::vector<std::uint32_t> levy_;
  std::vector<char> tolled_;  ///< some option has a fare
  std::size_t most_ = 0;      ///< options of a bidder
  double largest_ = 0.0;      ///< of all values
  Choices all_;

  Choices short_;
  double margin_ = -1.0;  ///< options that were worse by more are not in it; < 0: no shortlist
  double eps_ = 0.0;
  std::vector<double> slots_then_, levies_then_;
};

}  // namespace berth::solver::assignment
