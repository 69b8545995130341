// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "berth/model/run_record.hpp"
#include "berth/papers/paper_policies.hpp"

namespace berth::apps {

/// The total utility of a run, what the judge proves that no schedule of its jobs earns more than,
/// and so the most that the competitive ratio of this run is. @pre papers::earns_utility(policy)
void print_utility_bound(std::string_view policy, const papers::PaperWorld& world,
                         std::span<const model::JobRecord> records);

}  // namespace berth::apps
