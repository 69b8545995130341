// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_bound.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace berth::solver {

/// A partial content: what it earns and uses, and how it came about.
struct Label {
  Profit profit = 0;
  Profit reduced = 0;  ///< profit after the multipliers
  model::Resources used = {};
  std::int32_t parent = -1;
  std::int32_t item = -1;   ///< the last one added
  std::int32_t copies = 0;  ///< of that item in a row
};

struct ParetoItem {
  std::int32_t id = 0;
  std::int32_t size = 1;  ///< > 0
  Profit profit = 0;
  Profit reduced = 0;
  model::Resources needs = {};
  std::int32_t cap = 0;  ///< copies
};

/// Multi-objective knapsack by labels (Nemhauser and Ullmann 1969): for every size used, the
/// contents none of which another dominates in profit and all resources at once. Contents that
/// cannot end above `floor` are dropped.
class ParetoKnapsack {
 public:
  struct LabelLimits {
    model::Resources room = {};
    Profit floor = 0;        ///< keep while reduced + rest[capacity left] > floor
    std::size_t labels = 0;  ///< at most so many for one size; the best reduced stay
  };
  /// True when the label may get one more copy of the item (caps over several stages).
  using Admits = std::function<bool(const Label&, std::int32_t item)>;

  /// @param arena labels of all stages; grows
  /// @param rest  size capacity + 1: best reduced profit still to come with so much left
  ParetoKnapsack(std::vector<Label>& arena, std::span<const Profit> rest,
                 const LabelLimits& limits);

  void start(std::span<const std::int32_t> labels);
  /// All contents with any number of this item beside what there is. Each item once.
  void add(const ParetoItem& item, const Admits& admits);

  /// Labels that use exactly `size`, most profit first.
  [[nodiscard]] std::vector<std::int32_t> labels(std::size_t size) const;
  [[nodiscard]] std::size_t capacity() const { return rest_.size() - 1; }
  [[nodiscard]] bool truncated() const { return truncated_; }
  /// Contents compared so far.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct FrontierEntry {
    Profit reduced, profit;
    model::Resources used;
    std::int32_t label;
    bool fresh;
  };
  /// Amounts used of which none is at most another in all resources. While no item needs more than
  /// the first two: the first ascending, the second descending.
  class ParetoFrontier {
   public:
    void clear() { points_.clear(); }
    /// Compares as many resources as these needs ask for, too.
    void count(const model::Resources& needs);
    [[nodiscard]] bool dominates(const FrontierEntry& e) const;
    void add(const FrontierEntry& e);  ///< @pre not dominated

   private:
    /// a is at most b in the resources that count.
    [[nodiscard]] bool within(const model::Resources& a, const model::Resources& b) const;

    static constexpr std::size_t kOrdered = 2;  ///< resources by which the points can be in order
    std::size_t counted_ = kOrdered;            ///< the first so many of the table count
    std::vector<model::Resources> points_;
  };
  void collect(const ParetoItem& item, std::size_t size, const Admits& admits);
  void merge(std::size_t size);
  void keep_best_reduced();

  std::vector<Label>& arena_;
  std::span<const Profit> rest_;
  LabelLimits limits_;
  std::vector<std::vector<FrontierEntry>> list_;  ///< by size used
  std::vector<Label> candidates_;
  std::vector<FrontierEntry> merged_;
  ParetoFrontier frontier_;
  bool truncated_ = false;
  std::int64_t work_ = 0;
};

}  // namespace berth::solver
