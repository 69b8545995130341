// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Sends rank 0's instance to all ranks as packed columns. Collective; rank 0's is unchanged.
/// Names of jobs and machines stay on rank 0, which alone speaks to people: elsewhere these tables
/// are empty. Bytes: the instance's own size without them once.
void distribute(const comm::Communicator& comm, model::Instance& instance);

/// Sends rank 0's cluster to all ranks, names of machines too: what it takes to read jobs.
void distribute_cluster(const comm::Communicator& comm, model::Cluster& cluster);

}  // namespace berth::pipeline
