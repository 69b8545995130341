// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// By JobId: the first job of its component of dependencies. O(jobs + dependencies).
std::vector<std::size_t> components(const berth::horizon::Problem& problem);

/// GPU-seconds of a job's smallest option, and at least 1.
double work_of(const berth::horizon::Problem& problem, JobId job);

/// The shard of each machine: pods in order, cut into about `shards` parts of equal GPUs. A pod
/// larger than two such parts is cut into racks, a rack into machines, unless limits of racks or
/// pods forbid it. All shards have machines; there may be fewer than `shards`.
std::vector<ShardId> shards_of_machines(const berth::horizon::Problem& problem, std::size_t shards);

}  // namespace berth::solver::horizon_plan
