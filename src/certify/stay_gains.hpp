// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine_profit_bound.hpp"
#include "price_table.hpp"

#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/job_bests.hpp"

namespace berth::certify {

/// What a machine can earn beyond MachineProfitBound.
struct MachineGain {
  MachineId machine;
  GpuTypeId type;
  Int128 amount = 0;  ///< >= 0
};

/// Of each machine with items, ascending: what its largest content earns if these jobs may stay,
/// beyond the largest content without them. O(items log items + items G) for machines of G GPUs.
std::vector<MachineGain> stay_gains(const PriceTable& price_table, const MachineProfitBound& worth,
                                    std::span<const StayItem> items);

/// Jobs that the largest contents of all their machines keep, ascending. Each time that some, but
/// not all machines of jobs keep them, these jobs leave all. A pass as stay_gains.
std::vector<JobId> staying_jobs(const PriceTable& price_table, const MachineProfitBound& worth,
                                std::span<const StayItem> items);

}  // namespace berth::certify
