// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "case_tree.hpp"
#include "machine_profit_bound.hpp"
#include "price_table.hpp"

#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// F_t(all GPUs) of bound.hpp by GPU type: racks, pods and the cluster filled by whole jobs, as one
/// leaf of the tree allows them. @pre all listed jobs are countable
std::vector<Int128> whole_job_bounds(const model::Instance& instance, model::Objective objective,
                                     const model::Certificate& certificate, const SpotIndex& spots,
                                     const Leaf& leaf, const PriceTable& price_table,
                                     const MachineProfitBound& worth);

}  // namespace berth::certify
