// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/base/strong_id.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {

/// Packs the selected gangs of one GPU type that must be in one pod or rack to keep their value, as
/// `pack_domains` chooses the places. Placed jobs stay.
/// @return false when no selected job needs a domain
bool pack_domains_of(GpuTypeId type, std::span<const JobId> selected, Occupancy& occupancy);

}  // namespace berth::solver
