// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "case_tree.hpp"
#include "machine_profit_bound.hpp"
#include "pricing.hpp"

#include <vector>

#include "berth/base/int128.hpp"

namespace berth::certify {

/// F_t(all GPUs) of bound.hpp by GPU type: racks, pods and the cluster filled by whole jobs, as one
/// leaf of the tree allows them. @pre all listed jobs are countable
std::vector<Int128> whole_job_bounds(const Pricing& pricing, const SpotIndex& spots,
                                     const Leaf& leaf, const MachineProfitBound& worth);

}  // namespace berth::certify
