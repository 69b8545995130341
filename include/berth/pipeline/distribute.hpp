// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Sends rank 0's instance to all ranks. Collective; rank 0's is unchanged. Jobs stay on rank 0,
/// except pinned ones: the other ranks have parts of the workload, which a
/// `coordinator::JobRecords` fills (`scatter_homes` also removes them from rank 0). Names of jobs
/// and machines stay too, because only rank 0 prints messages. Bytes: the cluster's size once.
void distribute(const comm::Communicator& comm, model::Instance& instance);

/// Sends the rest of the instance when every rank has exactly the jobs at home there, and the
/// cluster without the additions of the jobs file. Removes names of machines from other ranks.
void distribute_rest(const comm::Communicator& comm, model::Instance& instance);

/// Sends rank 0's cluster, with names of machines, to all ranks, which need it to parse jobs.
void distribute_cluster(const comm::Communicator& comm, model::Cluster& cluster);

}  // namespace berth::pipeline
