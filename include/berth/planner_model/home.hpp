// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

namespace berth::planner_model {

/// The job's home pod, or the pod of its home rack; invalid for a job without a home.
inline PodId home_pod(const model::Cluster& cluster, const model::Job& job) {
  return job.home_rack.valid() ? cluster.racks[job.home_rack.index()].pod : job.home_pod;
}

inline bool has_home(const model::Job& job) {
  return job.home_rack.valid() || job.home_pod.valid();
}

/// How far a rack is from the job's home: rack (the home rack itself), pod or cluster; machine for
/// a job without a home.
inline model::Level distance_from_home(const model::Cluster& cluster, const model::Job& job,
                                       RackId rack) {
  if (!has_home(job)) return model::Level::machine;
  if (rack == job.home_rack) return model::Level::rack;
  return cluster.racks[rack.index()].pod == home_pod(cluster, job) ? model::Level::pod
                                                                   : model::Level::cluster;
}

}  // namespace berth::planner_model
