// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::solver {

/// A machine while it is being filled.
struct PartialFill {
  model::Resources room;
  int whole;
  struct Device {
    int free;
    DeviceShares content;
  };
  std::vector<Device> opened;
  const BinType* bin;

  explicit PartialFill(const BinType& s) : room(s.room), whole(s.whole), bin(&s) {
    for (const int free : s.partial) opened.push_back({free, {.capacity = free, .shares = {}}});
  }

  /// True when `put` of one such task succeeds.
  [[nodiscard]] bool admits(const model::Shape& shape) const {
    if (!shape.needs.within(room) || shape.gpus > whole) return false;
    return shape.gpu_milli == 0 || whole > 0 || std::ranges::any_of(opened, [&](const Device& d) {
             return d.free >= bin->share(shape);
           });
  }

  void put_share(std::int32_t type, int share) {
    Device* best = nullptr;
    for (Device& d : opened) {
      if (d.free >= share && (best == nullptr || d.free < best->free)) best = &d;
    }
    if (best == nullptr) {
      --whole;
      best = &opened.emplace_back(Device{1000, {.capacity = 1000, .shares = {}}});
    }
    best->free -= share;
    auto& shares = best->content.shares;
    const auto same = std::ranges::find(shares, type, &TypeCount::type);
    if (same == shares.end()) {
      shares.push_back({type, 1});
    } else {
      ++same->count;
    }
  }

  bool put(std::int32_t type, const model::Shape& shape) {
    if (!admits(shape)) return false;
    if (shape.gpu_milli > 0) put_share(type, bin->share(shape));
    add_within_limits(room, -1 * shape.needs);
    whole -= shape.gpus;
    return true;
  }

  /// The content, given its tasks in any order.
  MachinePattern pattern(std::size_t index, std::vector<TypeCount> tasks) && {
    MachinePattern p{
        .bin = static_cast<std::int32_t>(index), .tasks = std::move(tasks), .devices = {}};
    for (Device& d : opened) {
      if (!d.content.shares.empty()) p.devices.push_back(std::move(d.content));
    }
    std::ranges::sort(p.tasks);
    return p;
  }
};

}  // namespace berth::solver
