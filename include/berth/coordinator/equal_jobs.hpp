// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::coordinator {

/// Exchanges the placements of equal jobs (`planner_model::JobClass`) until the first ones in
/// precedence are placed, and the first of these at the places of largest value. Searches may have
/// placed any of them, since no exchange of equal jobs gains. Objective and loads of quotas,
/// other limits and machines do not change; running jobs keep their places.
///
/// Collective. Each class is gathered on one rank (72 B per job), and only exchanged placements are
/// sent.
/// @param here  placements of the jobs at home on this rank, ascending; updated
void serve_equal_jobs(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                      const JobRecords& records, model::Placement& here);

}  // namespace berth::coordinator
