// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "berth/comm/communicator.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::pipeline {

/// Reads a jobs file with all ranks, batch by batch: rank 0 sends blocks of whole lines to the
/// ranks, whose threads parse them; rank 0 is sent names and what the jobs share and returns
/// numbers by first line; then each rank sends its records to the homes of the jobs
/// (coordinator::JobRecords). Names and shared tables are on rank 0 alone at the end. The result is
/// that of io::read_jobs, distributed; an error is thrown on all ranks, the same as there.
///
/// Collective. Rank 0 holds one block of text of each thread of each rank, 32 MiB at most (or one
/// line of each rank), at a time, the tables made of it, and as much text of the next batch.
/// @param cluster      the same on all ranks; rank 0's gets what jobs add to it
/// @param block_bytes  of text in a block, about
model::Workload read_jobs(const comm::Communicator& comm, const std::string& path,
                          model::Cluster& cluster, std::size_t block_bytes);

}  // namespace berth::pipeline
