// SPDX-License-Identifier: Apache-2.0
// What keeps tests of whole plans short, in the sanitizers' build above all.
#pragma once

#include "sanitized.hpp"

#include "berth/pipeline/distribute.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline::test {

using berth::test::kSanitized;

/// The defaults with a tree of few cases: there is one, and it does not take most of the time.
inline PlanOptions quick_options() {
  PlanOptions options;
  options.tree_nodes = 4;
  return options;
}

/// Plans as the program does: every rank has the jobs at home there, and what else it is sent.
inline model::Plan plan_as_program(const comm::Communicator& comm, const model::Instance& instance,
                                   const PlanOptions& options, const StopToken& stop = {}) {
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  model::Instance part;
  if (comm.rank() == 0) part = instance;
  distribute(comm, part);
  coordinator::JobRecords jobs(comm, part.workload);
  jobs.scatter_homes();
  model::Plan plan = pipeline::plan_distributed(comm, part, options, silent, jobs, stop);
  gather_plan(comm, plan);
  return plan;
}

}  // namespace berth::pipeline::test
