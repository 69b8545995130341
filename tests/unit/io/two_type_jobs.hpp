// SPDX-License-Identifier: Apache-2.0
// A cluster of two GPU types, and jobs read for it.
#pragma once

#include <string>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io::test {

inline model::Cluster two_types() {
  return parse_cluster(
      R"({schema: 1, classes: {a: {gpu_type: A, gpus: 8}, b: {gpu_type: B, gpus: 4}},
      pods: [{id: pod-0, racks: [{id: rack-0, machines: [{ids: "m[0-1]", class: a}]}, {id: rack-1}]},
             {id: pod-1, racks: [{id: rack-2, machines: [{ids: n, class: b}]}]}],
      queues: [{id: research}, {id: product}]})",
      "c.yaml");
}

inline model::Instance with_jobs(const std::string& text) {
  model::Instance instance{.cluster = two_types(), .workload = {}};
  instance.workload = parse_jobs(text, "j.jsonl", instance.cluster);
  return instance;
}

}  // namespace berth::io::test
