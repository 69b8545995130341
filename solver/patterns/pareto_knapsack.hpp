// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_bound.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace berth::solver {

/// A partial content: its profit, the resources it uses, and the label and item it was made from.
struct Label {
  Profit profit = 0;
  Profit reduced = 0;  ///< profit after the multipliers
  model::Resources used = {};
  std::int32_t parent = -1;  ///< label without the last item; -1: empty content
  std::int32_t item = -1;    ///< last item added
  std::int32_t copies = 0;   ///< copies of that item added in a row
};

struct ParetoItem {
  std::int32_t id = 0;
  std::int32_t size = 1;  ///< units of the knapsack, > 0
  Profit profit = 0;
  Profit reduced = 0;  ///< profit after the multipliers
  model::Resources needs = {};
  std::int32_t cap = 0;  ///< most copies
};

/// Multi-objective knapsack by labels (Nemhauser and Ullmann 1969): for every used size, the
/// contents that no other content dominates in profit and all resources. Drops contents whose bound
/// is not above `floor`.
class ParetoKnapsack {
 public:
  struct LabelLimits {
    model::Resources room = {};
    Profit floor = 0;        ///< keeps labels with reduced + rest[capacity left] > floor
    std::size_t labels = 0;  ///< most labels of one size; those of largest reduced profit stay
  };
  /// True when the label may get one more copy of the item (caps hold over several stages).
  using Admits = std::function<bool(const Label&, std::int32_t item)>;

  /// @param arena  labels of all stages; labels are appended
  /// @param rest   size capacity + 1: bound on the reduced profit in the remaining capacity
  ParetoKnapsack(std::vector<Label>& arena, std::span<const Profit> rest,
                 const LabelLimits& limits);

  /// Sets the labels of size 0.
  void start(std::span<const std::int32_t> labels);
  /// Extends every content by any number of copies of this item. Call once per item.
  void add(const ParetoItem& item, const Admits& admits);

  /// Labels that use exactly `size`, by descending profit.
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
  /// Minimal points of the amounts used: no point is at most another one in all resources. While
  /// no item needs more than the first kOrdered resources, the points are in order: the first
  /// resource ascends, the second descends.
  class ParetoFrontier {
   public:
    void clear() { points_.clear(); }
    /// Extends the comparison to all resources that `needs` contains.
    void count(const model::Resources& needs);
    /// Adds the amounts and removes what they dominate; false if some point dominates them.
    bool insert(const model::Resources& used);

   private:
    /// a is at most b in the resources that count.
    [[nodiscard]] bool within(const model::Resources& a, const model::Resources& b) const;

    /// Resources whose points can be kept in order: two, as minimal points form a staircase.
    static constexpr std::size_t kOrdered = 2;
    std::size_t counted_ = kOrdered;  ///< leading rows of kResourceTable that are compared
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
