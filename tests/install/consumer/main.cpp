// SPDX-License-Identifier: Apache-2.0
// Describes a small cluster and jobs, and plans them: alone, or on all ranks of mpiexec.
#include <cstdio>

#include "berth/berth.hpp"

#if BERTH_VERSION < BERTH_VERSION_OF(0, 1, 0)
#error "needs berth 0.1"
#endif

int main() {
  berth::ClusterBuilder cluster;
  cluster.add_class("h100", {.gpu_type = "H100", .gpus = 8, .more = R"({"memory": "1TiB"})"});
  cluster.add_machines("pod-0", "rack-a", "a[1-5]", "h100");
  cluster.add_machines("pod-0", "rack-b", "b[1-5]", "h100");

  berth::JobsBuilder jobs;
  jobs.add({.id = "llm", .tasks = {{.count = 4, .gpus = 8}}, .weight = 3, .domain = "rack"});
  jobs.add({.id = "vision", .tasks = {{.count = 6, .gpus = 4}}, .weight = 2});
  jobs.add({.id = "sweep", .tasks = {{.count = 30, .gpus = 1}}});

  try {
    const berth::PlanResult plan = berth::plan(cluster, jobs, {.named = {{"gap", "1%"}}});
    for (const berth::PlacedJob& placed : plan.placed) {
      std::printf("%s:", placed.job.c_str());
      for (const berth::PlacedTask& task : placed.tasks) std::printf(" %s", task.machine.c_str());
      std::printf("\n");
    }
    for (const berth::WaitingReason& waits : plan.waiting) {
      std::printf("%s waits: %s\n", waits.job.c_str(), waits.reason.c_str());
    }
    std::printf("berth %d.%d.%d plans: worth %g, at most %g is possible: valid\n",
                BERTH_VERSION_MAJOR, BERTH_VERSION_MINOR, BERTH_VERSION_PATCH, plan.objective,
                plan.upper_bound);
    return plan.objective == 144.0 ? 0 : 1;
  } catch (const berth::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
