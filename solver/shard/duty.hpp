// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shard/tenancy.hpp"

#include <cstdint>
#include <vector>

namespace berth::solver {

/// Who must go, or what must be paid, before the job may come at all.
struct Duty {
  bool possible = true;
  double cost = 0.0;
  std::vector<JobId> victims = {};  ///< ascending
};

/// What the job's quotas ask for, when it may take `drawn` thousandths beyond their allowances.
Duty duty_of(const Tenancy& tenancy, JobId id, std::int64_t drawn);

}  // namespace berth::solver
