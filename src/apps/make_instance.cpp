// SPDX-License-Identifier: Apache-2.0
#include "make_instance.hpp"

#include <fmt/format.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::apps {

void write_instance(const model::Instance& instance, const Output& output) {
  io::write_cluster(output.cluster, instance.cluster);
  io::write_jobs(output.jobs, instance);
  std::int64_t asked = 0;
  for (const model::Job& job : instance.workload.jobs) asked += instance.workload.gpu_milli(job);
  fmt::print("{} machines, {} GPUs, {} pods -> {}\n", instance.cluster.machines(),
             instance.cluster.gpus(), instance.cluster.pods.size(), output.cluster);
  fmt::print("{} jobs asking for {:.1f} GPUs -> {}\n", instance.workload.jobs.size(),
             static_cast<double>(asked) / 1000.0, output.jobs);
}

ExitCode make_instance(const comm::Communicator& comm, const InstanceSource& source,
                       const Output& output) {
  comm.agreed_on_root([&] {
    expect_distinct({{"--out-cluster", output.cluster}, {"--out-jobs", output.jobs}});
    write_instance(source(), output);
  });
  return ExitCode::done;
}

}  // namespace berth::apps
