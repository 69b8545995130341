// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::report {

/// Rows of a table about a plan.
enum class Grouping : std::uint8_t { gpu_type, pod, rack, machine, queue, user, job, reason };

/// By the words of the command line.
inline constexpr std::array<std::pair<std::string_view, Grouping>, 8> kGroupings{
    {{"gpu-type", Grouping::gpu_type},
     {"pod", Grouping::pod},
     {"rack", Grouping::rack},
     {"machine", Grouping::machine},
     {"queue", Grouping::queue},
     {"user", Grouping::user},
     {"job", Grouping::job},
     {"reason", Grouping::reason}}};

/// What a table shows: jobs with names and places that the instance has. Holds references.
struct PlanContent {
  const model::InstanceView& instance;
  const model::Placement& placement;
  std::span<const model::RawUnplacedJob> waiting;
};

/// What the cluster and the jobs are, one line each: machines, GPUs by type, what is closed, jobs
/// by state.
std::string header(const PlanContent& content);

/// A table of one line a row and a last line of sums, at most 80 columns wide unless a number needs
/// more; GPUs in devices, shares as fractions. Columns:
/// - gpu-type, pod, rack, machine: machines, GPUs; of these closed (machines that take no job, less
///   what runs there), pinned (content that no plan moves), planned, free; devices that are free
///   entirely; used = (pinned + planned) / GPUs
/// - queue: quota, pinned, planned, each with the queues below it; jobs placed, jobs that wait
/// - user: GPUs pinned, GPUs planned, jobs placed (pinned ones included), jobs that wait, and GPUs
///   that these ask for; by name, the jobs without a user first
/// - job: state, GPUs, type, width, machines or the reason for waiting
/// - reason: jobs that wait, and their GPUs
/// O(machines + tasks + jobs log jobs)
std::string table(const PlanContent& content, Grouping grouping);

}  // namespace berth::report
