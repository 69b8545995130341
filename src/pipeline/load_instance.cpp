// SPDX-License-Identifier: Apache-2.0
#include "read_jobs.hpp"

#include "berth/io/cluster_file.hpp"
#include "berth/io/job_blocks.hpp"
#include "berth/pipeline/distribute.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {

model::Instance load_instance(const comm::Communicator& comm, const Input& input,
                              std::size_t block_bytes) {
  comm.begin_stage("load");
  model::Instance instance;
  comm.agreed_on_root([&] { instance.cluster = io::read_cluster(input.cluster); });
  distribute_cluster(comm, instance.cluster);
  instance.workload = read_jobs(comm, input.jobs, instance.cluster, block_bytes);
  distribute_rest(comm, instance);
  return instance;
}

model::Instance load_instance(const comm::Communicator& comm, const Input& input) {
  return load_instance(comm, input, io::kBlockBytes);
}

}  // namespace berth::pipeline
