// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tariff.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// mu of bound.hpp: the most that the tasks on one machine can be worth at the tariff's prices.
class MachineWorth {
 public:
  /// @param own_price  by JobId: jobs whose tasks do not count, as they pay a price of their own
  MachineWorth(const model::Instance& instance, const Tariff& tariff,
               const std::vector<bool>& own_price);

  /// For one machine of the stock. O((1000 / step) W + G K).
  [[nodiscard]] Int128 operator()(const Stock& stock) const;

  /// The same in two parts: V(0) .. V(G) of the devices that are entirely free, and what does not
  /// hang on how many of these are left.
  [[nodiscard]] std::vector<Int128> by_devices(const Stock& stock) const;
  [[nodiscard]] Int128 beyond_devices(const Stock& stock) const;

 private:
  /// Profit of a GPU task = gpu price x milli + rest; rest hangs on class and shape alone, so of
  /// all shapes of one size only the largest rest matters.
  struct Size {
    std::int64_t milli = 0;
    std::int64_t gpus = 0;  ///< devices; 0 for a share
    Int128 rest = 0;
  };
  /// CPU thousandths, MiB, Mbit/s of the NIC.
  static constexpr std::size_t kResources = 3;
  using Resources = std::array<std::int64_t, kResources>;
  /// One task, or all tasks of a job that lies on one machine.
  struct Bundle {
    std::vector<std::pair<ShapeId, std::int64_t>> tasks;  ///< ascending shape, how many
    std::uint64_t types = 0;  ///< where some job may have it; 0: nobody has
    std::int64_t copies = 0;  ///< in the workload; of single tasks only
  };
  /// What some job may have on machines of a class.
  struct Content {
    Size size;
    Resources needs;
    std::int64_t tasks = 0;  ///< so many in the workload, of single ones
  };
  struct KindTerms {
    std::vector<Size> sizes;  ///< shares and one device first, then several devices
    std::int64_t step = 1000;
    Int128 without_gpus = 0;  ///< cpu_only
    std::int64_t gpus = 0;
    Resources room{};
    std::vector<std::int16_t> partly;
    Multiplier multiplier;
  };
  class WithoutGpus;

  static std::vector<Bundle> bundles(const model::Workload& workload,
                                     const std::vector<bool>& own_price);
  static std::vector<Content> contents(const model::Instance& instance, const Tariff& tariff,
                                       ClassId c, std::span<const Bundle> bundles);
  static KindTerms terms(const Kind& kind, std::span<const Content> contents,
                         const Multiplier& multiplier);
  static std::vector<Int128> device(const KindTerms& terms, std::int64_t gpu_price);

  std::vector<KindTerms> terms_;  ///< by KindId
};

}  // namespace berth::certify
