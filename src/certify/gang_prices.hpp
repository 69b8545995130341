// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_value.hpp"
#include "machine_profit_bound.hpp"
#include "price_table.hpp"
#include "stay_gains.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// True when one task of the shape leaves no GPU to others on any machine of the type.
bool takes_whole_machines(const model::InstanceView& instance, ShapeId shape, GpuTypeId type);

/// Prices of gangs that are in one rack (bound.hpp, "Gangs in racks").
class GangPrices {
 public:
  GangPrices(const model::InstanceView& instance, const PriceTable& price_table,
             const model::Certificate& certificate);

  [[nodiscard]] bool empty() const { return gangs_.empty(); }

  /// What the job pays for a place of this type in one rack, beside limits, in place of the prices
  /// of its tasks. None: it pays these.
  [[nodiscard]] std::optional<Int128> price(const model::Job& job, const JobValue& worth,
                                            GpuTypeId type) const;
  /// The same with the least that such a place pays for limits on resources and for spare GPUs.
  [[nodiscard]] std::optional<Int128> least_cost(const model::Job& job, const JobValue& worth,
                                                 GpuTypeId type) const;

  /// What machines of one type in one rack earn at most by whole gangs, beyond what each earns by
  /// itself.
  struct RackGain {
    GpuTypeId type;
    Int128 amount = 0;  ///< > 0
  };
  /// @param stays  by ascending machine: what running jobs that stay add to it
  /// O(machines log machines + racks x machines of a rack x gangs)
  [[nodiscard]] std::vector<RackGain> gains(const PriceTable& price_table,
                                            const MachineProfitBound& worth,
                                            std::span<const MachineGain> stays) const;

 private:
  struct Gang {
    model::Certificate::GangPrice price;
    Int128 limits = 0;  ///< least that its tasks pay for limits, all of them
  };

  [[nodiscard]] const Gang* find(const model::Job& job, const JobValue& worth,
                                 GpuTypeId type) const;

  model::InstanceView instance_;
  std::vector<Gang> gangs_;
};

}  // namespace berth::certify
