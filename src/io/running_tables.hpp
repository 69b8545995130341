// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster_names.hpp"
#include "job_block.hpp"
#include "job_line.hpp"

#include <cstdint>

namespace berth::io {

/// Looks up where the workload's last job runs. Pins it if a machine of it takes no new jobs.
/// @param at  the line, for InputErrors without a file
/// @pre the line says that the job runs, and the job's groups are in the workload
void add_running(const JobLine& line, std::uint32_t at, const ClusterNames& cluster_names,
                 JobBlock& block);

}  // namespace berth::io
