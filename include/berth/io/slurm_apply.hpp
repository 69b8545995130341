// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/io/slurm.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::io {

/// What to tell Slurm of a planned job.
struct SlurmApplyOptions {
  bool nodes = true;      ///< ReqNodeList
  bool start = false;     ///< StartTime
  bool priority = false;  ///< Priority, above all jobs that are not planned, in the plan's order
  std::int64_t now = 0;   ///< seconds since 1970
};

/// One call of scontrol.
struct SlurmOrder {
  std::string job;                     ///< as Slurm knows it: "17", "17_3"
  std::vector<std::string> arguments;  ///< {"update", "JobId=17", "ReqNodeList=n[0-1]"}
};

/// A job and what is the matter with it.
struct SlurmFault {
  std::string job;
  std::string problem;
};

struct SlurmOrders {
  std::vector<SlurmOrder> orders;  ///< in the plan's order
  std::vector<SlurmFault> broken;  ///< what the cluster's changes since the import broke
  std::vector<SlurmFault> left;    ///< planned in a way that Slurm cannot be told
};

/// Compares the cluster as it is now with the import the plan was made from. Slurm pins nodes: GPU
/// indices and shares of the plan are not handed on; Slurm chooses them when the job starts.
///
/// Broken: the job is gone, runs or asks for something else; a machine is gone, drained or
/// reserved, or what has started on it since leaves too little. Machines are filled in the plan's
/// order, so the job named is the first that no longer fits.
/// @throws InputError: files that cannot be read; a plan of another import
SlurmOrders slurm_orders(const model::RawPlan& plan, const std::string& plan_file,
                         const SlurmSources::Source& state, const SlurmSources& now,
                         const SlurmApplyOptions& options);

/// The order as a shell would take it: `scontrol update JobId=17 ReqNodeList=n[0-1]`, quoted.
std::string shell_line(const SlurmOrder& order);

}  // namespace berth::io
