// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::model {

/// The job's home pod, or the pod of its home rack; invalid for a job without a home.
inline PodId home_pod(const Cluster& cluster, const Job& job) {
  return job.home_rack.valid() ? cluster.racks[job.home_rack.index()].pod : job.home_pod;
}

inline bool has_home(const Job& job) { return job.home_rack.valid() || job.home_pod.valid(); }

/// How far a rack is from the job's home: rack (the home rack itself), pod or cluster; machine for
/// a job without a home.
inline Level distance_from_home(const Cluster& cluster, const Job& job, RackId rack) {
  if (!has_home(job)) return Level::machine;
  if (rack == job.home_rack) return Level::rack;
  return cluster.racks[rack.index()].pod == home_pod(cluster, job) ? Level::pod : Level::cluster;
}

}  // namespace berth::model
