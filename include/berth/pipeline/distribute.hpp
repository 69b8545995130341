// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// Sends rank 0's instance to all ranks as packed columns. Collective; rank 0's is unchanged.
/// Jobs stay there, but for pinned ones: the others have parts of the workload, which a
/// `coordinator::JobRecords` fills (`scatter_homes` takes them off rank 0 too). So do names of jobs
/// and machines: rank 0 alone speaks to people. Bytes: the cluster's own size once.
void distribute(const comm::Communicator& comm, model::Instance& instance);

/// The same where every rank has the jobs that are at home there, and those alone.
void distribute_rest(const comm::Communicator& comm, model::Instance& instance);

/// Sends rank 0's cluster to all ranks, names of machines too: what it takes to read jobs.
void distribute_cluster(const comm::Communicator& comm, model::Cluster& cluster);

}  // namespace berth::pipeline
