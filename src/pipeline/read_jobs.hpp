// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "berth/comm/communicator.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::pipeline {

/// Reads a jobs file with all ranks: rank 0 hands out blocks of whole lines, every rank's threads
/// parse theirs, and rank 0 puts the records together in the order of the file and sends each to
/// the rank where the job is at home (coordinator::JobRecords). Names and what jobs share are on
/// rank 0 alone. Put together it is what io::read_jobs gives; an error is thrown on all ranks, the
/// same as there.
///
/// Collective. Rank 0 holds one block of text of each thread of each rank, 32 MiB at most (or one
/// line of each rank), at a time, the records made of it, and as much of what is next.
/// @param cluster      the same on all ranks; rank 0's gets what jobs add to it
/// @param block_bytes  of text in a block, about
model::Workload read_jobs(const comm::Communicator& comm, const std::string& path,
                          model::Cluster& cluster, std::size_t block_bytes);

}  // namespace berth::pipeline
