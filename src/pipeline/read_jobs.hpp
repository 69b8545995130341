// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "berth/comm/communicator.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::pipeline {

/// Reads a jobs file with all ranks: rank 0 distributes blocks of whole lines, every rank's threads
/// parse theirs, and rank 0 joins the records in file order and sends each to the rank where the
/// job is at home (coordinator::JobRecords). Names and shared tables are on rank 0 alone. The
/// joined result equals that of io::read_jobs; an error is thrown on all ranks, with the text that
/// io::read_jobs gives.
///
/// Collective. At any time rank 0 holds one block of text for each thread of each rank, 32 MiB at
/// most (or one line of each rank), the records made of it, and the next batch.
/// @param cluster      equal on all ranks; rank 0's gains what jobs add to it
/// @param block_bytes  approximate size of a block's text
model::Workload read_jobs(const comm::Communicator& comm, const std::string& path,
                          model::Cluster& cluster, std::size_t block_bytes);

}  // namespace berth::pipeline
