// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/comm/communicator.hpp"
#include "berth/model/workload.hpp"
#include "berth/report/summary.hpp"

namespace berth::apps {

/// Program, ranks, threads, and these jobs; all pinned ones of the workload. O(jobs)
report::PlanOrigin plan_origin(const comm::Communicator& comm, const model::Workload& workload,
                               std::span<const JobId> jobs);

}  // namespace berth::apps
