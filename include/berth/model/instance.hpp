// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/model/cluster.hpp"
#include "berth/model/objective.hpp"
#include "berth/model/workload.hpp"

namespace berth::model {

/// The planner's input as read from files, or the part of it that one rank has.
struct Instance {
  Cluster cluster;
  Workload workload;
};

/// An instance as one rank reads it: cluster and tables, which are constant and equal on all ranks,
/// and the job records of this rank. Holds references; objects that outlive a call copy the view.
struct InstanceView {
  const Cluster& cluster;
  WorkloadView workload;

  InstanceView(const Cluster& all, const WorkloadView& jobs) : cluster(all), workload(jobs) {}
  InstanceView(const Instance& instance) : InstanceView(instance.cluster, instance.workload) {}
};

/// SHA-256 (hex) over the canonical content: independent of file layout, compression and order of
/// keys; machines and jobs are in file order.
std::string instance_digest(const InstanceView& instance);

}  // namespace berth::model
