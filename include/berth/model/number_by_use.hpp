// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/cluster.hpp"

namespace berth::model {

/// Numbers classes and GPU types in the order in which machines first use them. Merges classes of
/// equal content under the first name; drops those that no machine uses. Afterwards clusters of
/// equal `instance_digest` have equal numbers, so a plan, which may depend on the numbers, is a
/// function of the digest's content.
/// @pre no other data refers to such a number yet
/// O(machines + classes^2).
void number_by_use(Cluster& cluster);

}  // namespace berth::model
