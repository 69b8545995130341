// SPDX-License-Identifier: Apache-2.0
// Makes a small cluster, plans it, and has the plan judged from its file text.
#include <cstdio>

#include "berth/certify/check.hpp"
#include "berth/comm/environment.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/solver/petsc_session.hpp"

int main() {
  const berth::comm::Environment mpi;
  const auto comm = berth::comm::Communicator::world();
  const berth::solver::PetscSession petsc;
  const auto instance = berth::generate::generate_hetero({.gpus = 128, .seed = 1});
  berth::report::ProgressTable silent({.format = berth::report::LogFormat::text, .verbosity = 0});
  const auto plan = berth::pipeline::plan_cluster(comm, instance, {}, silent);
  if (comm.rank() != 0) return 0;
  const std::string text = berth::io::plan_text(instance, plan);
  const auto checked = berth::certify::check(instance, berth::io::parse_plan(text, "plan.json"));
  std::printf("berth plans: %lld jobs, gap %.4f %%, %s\n",
              static_cast<long long>(plan.figures.jobs_placed), 100.0 * plan.figures.gap,
              checked.valid() ? "valid" : "broken");
  return checked.valid() ? 0 : 1;
}
