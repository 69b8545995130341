// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/model/cluster.hpp"

namespace berth::model {

/// Numbers classes and GPU types in the order in which machines first use them. Classes of equal
/// content become one under the name met first; what no machine uses is dropped. Afterwards
/// clusters of equal `instance_digest` have equal numbers, so that a plan, which may depend on
/// them, is a function of what the digest covers.
/// @pre nothing outside the cluster holds such a number yet
/// O(machines + classes^2).
void number_by_use(Cluster& cluster);

}  // namespace berth::model
