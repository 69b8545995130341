// SPDX-License-Identifier: Apache-2.0
#include "shard/domain_packing.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

constexpr std::uint64_t kStage = 0x4450;  ///< key of the draws: "DP" in ASCII
constexpr std::int64_t kMostStarts = 64;  ///< chosen, not tuned
/// Sizes are multiplied by numbers from 1 - kShake to 1 + kShake. Chosen, not tuned.
constexpr double kShake = 0.5;

using ItemList = std::vector<std::uint32_t>;

class DomainPacking {
 public:
  DomainPacking(std::span<const RoomOfRacks> pods, std::span<const DomainItem> items)
      : pods_(pods), items_(items) {}

  /// Cells of the tables of one start, at most.
  [[nodiscard]] std::int64_t cells() const {
    std::int64_t room = 0;
    for (const RoomOfRacks& racks : pods_) room += 1 + std::reduce(racks.begin(), racks.end());
    return 2 * room * static_cast<std::int64_t>(items_.size() + 1);
  }

  /// @return value of the items placed
  double start(std::uint64_t number, std::vector<ItemPlace>& places) {
    places.assign(items_.size(), {});
    ItemList left = ordered(number);
    for (std::size_t p = 0; p < pods_.size() && !left.empty(); ++p) {
      fill_pod(static_cast<std::int32_t>(p), left, places);
    }
    double value = 0.0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (places[i].pod >= 0) value += items_[i].value;
    }
    return value;
  }

 private:
  [[nodiscard]] ItemList ordered(std::uint64_t number) const {
    ItemList order(items_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<double> key;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const double shake = number == 0 ? 0.0 : 2.0 * random_unit({kStage, number, i}) - 1.0;
      key.push_back(static_cast<double>(items_[i].units) * (1.0 + kShake * shake));
    }
    std::ranges::stable_sort(order, [&](auto a, auto b) { return key[a] > key[b]; });
    return order;
  }

  /// Moves items that leave least of `room` from `left` to the result; the first that fits is among
  /// them, and of equal sums the items that come early.
  ItemList take_least_slack(std::int64_t room, ItemList& left) {
    const auto fits = [&](std::uint32_t i) { return items_[i].units <= room; };
    const auto largest = std::ranges::find_if(left, fits);
    if (largest == left.end()) return {};
    ItemList taken{*largest};
    left.erase(largest);
    room -= items_[taken.front()].units;
    std::int64_t sum = reach(room, left);
    std::vector<std::size_t> positions;
    for (; sum > 0; sum -= items_[left[positions.back()]].units) {
      positions.push_back(static_cast<std::size_t>(first_[static_cast<std::size_t>(sum)]));
    }
    for (const std::size_t position : positions) taken.push_back(left[position]);
    for (const std::size_t position : positions) {  // descending
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(position));
    }
    return taken;
  }

  /// Sets `first_`: by sum up to `room`, the first position of `left` by which the sum is reached;
  /// -1: none. @return the largest sum
  std::int64_t reach(std::int64_t room, const ItemList& left) {
    first_.assign(static_cast<std::size_t>(room) + 1, -1);
    std::int64_t largest = 0;
    for (std::size_t k = 0; k < left.size() && largest < room; ++k) {
      const std::int64_t units = items_[left[k]].units;
      for (std::int64_t sum = std::min(room, largest + units); sum >= units; --sum) {
        const auto at = static_cast<std::size_t>(sum);
        const auto before = static_cast<std::size_t>(sum - units);
        if (first_[at] >= 0 || (before > 0 && first_[before] < 0)) continue;
        first_[at] = static_cast<std::int32_t>(k);
        largest = std::max(largest, sum);
      }
    }
    return largest;
  }

  /// Fills a pod. Items for which its racks have no room are left for other pods; what they leave
  /// is filled once more, by items of pods.
  void fill_pod(std::int32_t pod, ItemList& left, std::vector<ItemPlace>& places) {
    const RoomOfRacks& racks = pods_[static_cast<std::size_t>(pod)];
    std::int64_t room = std::reduce(racks.begin(), racks.end());
    ItemList in_racks;
    for (const std::uint32_t i : take_least_slack(room, left)) {
      if (items_[i].in_rack) {
        in_racks.push_back(i);
      } else {
        places[i] = {pod, -1};
        room -= items_[i].units;
      }
    }
    std::ranges::stable_sort(in_racks,
                             [&](auto a, auto b) { return items_[a].units > items_[b].units; });
    for (std::size_t r = 0; r < racks.size() && !in_racks.empty(); ++r) {
      for (const std::uint32_t i : take_least_slack(racks[r], in_racks)) {
        places[i] = {pod, static_cast<std::int32_t>(r)};
        room -= items_[i].units;
      }
    }
    ItemList of_pods;
    std::ranges::copy_if(left, std::back_inserter(of_pods),
                         [&](auto i) { return !items_[i].in_rack; });
    if (in_racks.empty()) return;
    for (const std::uint32_t i : take_least_slack(room, of_pods)) {
      places[i] = {pod, -1};
      std::erase(left, i);
    }
    left.insert(left.end(), in_racks.begin(), in_racks.end());
  }

  std::span<const RoomOfRacks> pods_;
  std::span<const DomainItem> items_;
  std::vector<std::int32_t> first_;
};

}  // namespace

std::vector<ItemPlace> pack_domains(std::span<const RoomOfRacks> pods,
                                    std::span<const DomainItem> items, std::int64_t work) {
  DomainPacking packing(pods, items);
  const std::int64_t starts = std::min(kMostStarts, work / packing.cells());
  std::vector<ItemPlace> best(items.size()), places;
  double all = 0.0, most = 0.0;
  for (const DomainItem& item : items) all += item.value;
  for (std::int64_t n = 0; n < starts && most < all; ++n) {
    const double value = packing.start(static_cast<std::uint64_t>(n), places);
    if (value <= most) continue;
    most = value;
    best = places;
  }
  return best;
}

}  // namespace berth::solver
