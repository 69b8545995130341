// SPDX-License-Identifier: Apache-2.0
// Any text is jobs or refused; jobs survive being written and read again.
#include "fuzz.hpp"

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace {

constexpr const char* kCluster =
    "schema: 1\n"
    "classes: {g: {gpu_type: G2, gpus: 8, cpu_milli: 96000, memory_mib: 393216}}\n"
    "pods: [{id: pod-0, racks: [{id: rack-0, machines: [{ids: m0, class: g}]}]}]\n"
    "queues: [{id: research, gpu_quota: 512}]\n";

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  static const model::Cluster cluster = io::parse_cluster(kCluster, "cluster.yaml");
  const std::string text = fuzz::text_of(bytes, size);
  model::Instance read{.cluster = cluster, .workload = {}}, again = read;
  if (!fuzz::accepted([&] { read.workload = io::parse_jobs(text, "jobs.jsonl", read.cluster); })) {
    return 0;
  }
  again.workload = io::parse_jobs(io::jobs_text(read), "written", again.cluster);
  again.cluster = read.cluster;  // the order in which types were met may differ
  fuzz::require(model::instance_digest(read) == model::instance_digest(again), "round trip");
  return 0;
}
