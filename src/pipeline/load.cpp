// SPDX-License-Identifier: Apache-2.0
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/distribute.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {

model::Instance load_instance(const comm::Communicator& comm, const Input& input) {
  comm.begin_stage("load");
  model::Instance instance;
  comm.agreed([&] {
    if (comm.rank() == 0) instance = io::read_instance(input.cluster, input.jobs);
  });
  distribute(comm, instance);
  return instance;
}

}  // namespace berth::pipeline
