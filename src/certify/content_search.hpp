// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_knapsack.hpp"
#include "relaxed_knapsack.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/resources.hpp"

namespace berth::certify {

/// Looks for the content of one machine with the largest sum of prices, best bound first (A*: Hart,
/// Nilsson and Raphael 1968). A label is the first items of a content: tasks of whole devices, then
/// shares device by device, then tasks without GPUs, each kind in descending order of items, so
/// that each content is reached once. Its bound is what it earns in the relaxation plus the most
/// that the rest can earn there. A label that needs no less and earns no more than another one with
/// the same capacity left is dropped.
class ContentSearch {
 public:
  /// @param relaxed   at multipliers of a small bound
  /// @param attained  price of some content; labels that cannot exceed it are left out
  ContentSearch(const MachineKnapsack& knapsack, const RelaxedKnapsack& relaxed, Int128 attained);

  /// The largest sum of prices if so many labels, dropped ones too, prove it; else an upper bound
  /// of it, not above the relaxation. Once only.
  Int128 most(std::size_t labels);
  [[nodiscard]] std::size_t labels_made() const { return labels_made_; }

 private:
  /// Parts of a content, in order; part kPartly + i is the i-th device that is partly free.
  enum Part : std::uint32_t { kTasks, kWhole, kPartly };
  static constexpr std::uint32_t kAdvance = ~std::uint32_t{0};  ///< no further item in this place

  struct ContentLabel {
    Int128 price = 0, reduced = 0;  ///< of its items; reduced: less the multipliers of their needs
    Int128 bound = 0;               ///< of all contents that begin with it
    model::Resources needs;
    std::uint32_t part = kTasks;
    std::uint32_t devices = 0;  ///< whole devices not yet used
    std::uint32_t steps = 0;    ///< left of the device that takes shares now
    std::uint32_t kinds = 0;    ///< the next item is among the first `kinds` of the part
    std::int64_t copies = 0;    ///< of item kinds - 1
  };
  /// An item that may come next, or kAdvance, and the most that it and what follows it in its part
  /// earn.
  struct ItemChoice {
    Int128 earned;
    std::uint32_t item;
  };
  /// A label yet to be extended by the choice at this position.
  struct Open {
    Int128 bound;
    std::uint32_t label, choice;

    bool operator<(const Open& o) const {
      return bound != o.bound ? bound < o.bound : label < o.label;
    }
  };

  [[nodiscard]] std::uint32_t last_part() const;
  [[nodiscard]] std::span<const MachineKnapsack::Item> items(std::uint32_t part) const;
  const std::vector<ItemChoice>& choices(const ContentLabel& label);
  [[nodiscard]] std::vector<ItemChoice> task_choices(std::size_t devices) const;
  [[nodiscard]] std::vector<ItemChoice> share_choices(std::size_t steps) const;
  [[nodiscard]] std::vector<ItemChoice> other_choices() const;
  [[nodiscard]] Int128 after(const ContentLabel& label) const;
  [[nodiscard]] bool possible(const ContentLabel& label, const ItemChoice& choice) const;
  void open(std::uint32_t label, std::uint32_t choice);
  [[nodiscard]] ContentLabel extended(const ContentLabel& from, const ItemChoice& choice) const;
  void enter(ContentLabel& label, std::uint32_t part) const;
  void add(const ContentLabel& label);
  [[nodiscard]] bool dominated(const ContentLabel& label,
                               std::span<const std::uint32_t> others) const;

  const MachineKnapsack& knapsack_;
  const RelaxedKnapsack& relaxed_;
  Int128 attained_;
  std::size_t labels_made_ = 0;
  std::vector<ContentLabel> labels_;
  std::priority_queue<Open> open_;
  std::vector<std::vector<ItemChoice>> by_devices_, by_steps_;
  std::vector<ItemChoice> others_;
  std::vector<std::vector<std::uint32_t>> same_place_;  ///< labels by part and devices left
};

}  // namespace berth::certify
