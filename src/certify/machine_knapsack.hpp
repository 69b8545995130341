// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/resources.hpp"

namespace berth::certify {

/// Free capacity of one machine.
struct MachineRoom {
  std::int64_t whole = 0;                ///< devices that are entirely free
  std::span<const std::int16_t> partly;  ///< free thousandths of the others, 1..999
  model::Resources amounts = {};         ///< or model::kNoLimit

  [[nodiscard]] std::int64_t free_milli() const;
};

/// A task, or all tasks of a job that occupy one machine together.
struct KnapsackItem {
  Int128 price = 0;          ///< that it pays on the machine, in the certificate's fixed point
  std::int64_t devices = 0;  ///< 0: a share, or without GPUs
  std::int64_t milli = 0;    ///< thousandths of GPUs; 1..1000 for a share, 0 without GPUs
  model::Resources needs = {};
  std::int64_t copies = 0;  ///< in the workload; 0: unknown

  [[nodiscard]] bool is_share() const { return devices == 0 && milli > 0; }
};

/// True when no content of a machine with items of this size and need exceeds the amount.
/// @param milli  of the item. @param free_milli  of all devices of the machine
constexpr bool never_binds(std::int64_t need, std::int64_t milli, std::int64_t amount,
                           std::int64_t free_milli) {
  return need == 0 || amount == model::kNoLimit ||
         (milli > 0 && Int128{need} * free_milli <= Int128{amount} * milli);
}

/// The contents of one machine: an integer knapsack over its devices and the resources that can
/// bind. It leaves out items that another item can replace at no loss.
class MachineKnapsack {
 public:
  struct Item : KnapsackItem {
    std::int64_t most = 0;  ///< copies in a content; shares: not counted
    bool plenty = false;    ///< the machine limits `most`, not the workload
  };

  /// @param items  each fits the machine alone
  MachineKnapsack(const MachineRoom& room, std::span<const KnapsackItem> items);

  [[nodiscard]] std::size_t whole() const { return whole_; }
  /// Widths in steps: of a whole device (1000 / gcd of the shares), of those partly free.
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(1000 / step_); }
  [[nodiscard]] std::span<const std::size_t> partly() const { return partly_; }
  [[nodiscard]] std::size_t width(const Item& share) const {
    return static_cast<std::size_t>(share.milli / step_);
  }
  /// Of resources that can bind: in units of the greatest common divisor of all needs.
  [[nodiscard]] const model::Resources& room() const { return room_; }
  /// Resources that can bind, by row. The items need none of the others here.
  [[nodiscard]] std::span<const std::size_t> binding() const { return binding_; }

  /// Items that pay something, by ascending needs per GPU.
  [[nodiscard]] std::span<const Item> tasks() const { return tasks_; }
  [[nodiscard]] std::span<const Item> shares() const { return shares_; }
  [[nodiscard]] std::span<const Item> without_gpus() const { return without_gpus_; }

 private:
  void find_binding(std::span<const KnapsackItem> items, std::int64_t free_milli);
  [[nodiscard]] Item limited(const KnapsackItem& item) const;
  [[nodiscard]] std::vector<Item> undominated(std::vector<Item> items) const;

  std::size_t whole_;
  std::int64_t step_ = 1000;  ///< thousandths
  std::vector<std::size_t> partly_;
  model::Resources room_, unit_;
  std::vector<std::size_t> binding_;
  std::vector<Item> tasks_, shares_, without_gpus_;
};

}  // namespace berth::certify
