// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/io/slurm.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::io {

/// The fields of a planned job that scontrol sets.
struct SlurmApplyOptions {
  bool nodes = true;      ///< ReqNodeList
  bool start = false;     ///< StartTime
  bool release = false;   ///< held jobs are released after they are pinned
  bool priority = false;  ///< Priority, above all jobs that are not planned, in the plan's order
  std::int64_t now = 0;   ///< seconds since 1970
  /// The second at which a plan with a horizon begins, on the axis of its starts (0: when it is
  /// applied); none: a plan of one moment, its starts are seconds from then.
  std::optional<std::int64_t> plan_now = {};
};

/// Calls of scontrol for one job; each only if those before it succeeded.
struct SlurmOrder {
  std::string job;  ///< Slurm's name of it: "17", "17_3"
  /// Arguments of each call: {"update", "JobId=17", "ReqNodeList=n[0-1]", ..}, {"release", "17"}
  std::vector<std::vector<std::string>> calls;
};

/// A job and the reason why its orders are broken or left out.
struct SlurmFault {
  std::string job;
  std::string problem;
};

struct SlurmOrders {
  std::vector<SlurmOrder> orders;   ///< in the plan's order
  std::vector<SlurmOrder> cleared;  ///< take back pins of earlier plans that this one does not renew
  /// jobs that no longer fit after changes of the cluster since the import
  std::vector<SlurmFault> broken;
  std::vector<SlurmFault> left;  ///< planned in a way that scontrol cannot express
};

/// Compares the present cluster with the import that the plan was made from. Slurm pins nodes only:
/// it chooses GPU indices and shares itself when the job starts.
///
/// Broken: the job is gone, runs or asks for something else; a machine is gone, drained or
/// reserved, or the jobs started on it since leave too little room. Machines are filled in the
/// plan's order, so the broken job is the first that no longer fits. Room is counted for jobs that
/// start now; jobs that start later get StartTime, and other machines than Slurm may find then.
/// @throws InputError: files that cannot be read; a plan of another import
SlurmOrders slurm_orders(const model::RawPlan& plan, const std::string& plan_file,
                         const SlurmSources::Source& state, const SlurmSources& now,
                         const SlurmApplyOptions& options);

/// Takes back all that earlier plans set in jobs that still wait: nodes, their number, start,
/// priority, and Berth's word in AdminComment. @throws InputError: files that cannot be read
std::vector<SlurmOrder> slurm_clear_orders(const SlurmSources& now);

/// The order as a shell command: `scontrol update JobId=17 ReqNodeList=n[0-1] && scontrol release
/// 17`, quoted.
std::string shell_line(const SlurmOrder& order);

}  // namespace berth::io
