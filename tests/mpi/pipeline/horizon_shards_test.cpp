// SPDX-License-Identifier: Apache-2.0
// Plans in time in shards: one plan on any number of ranks, and from any round on.
#include "with_petsc.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/coordinator/dual_ranks.hpp"
#include "berth/generate/horizon.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/plan_horizon.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;

class HorizonInShards : public berth::test::WithPetsc<> {
 protected:
  HorizonInShards() {
    std::int64_t id = ::getpid();
    world.broadcast_value(id);
    path =
        (std::filesystem::temp_directory_path() / ("berth-shards-" + std::to_string(id))).string();
    request.shards = 4;
    request.rounds.machine_visits = 40'000;  // for tests: a few reinsertions
  }
  ~HorizonInShards() override {
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove(path);
  }

  /// Jobs on 2,496 GPUs in one pod. @param limits  half of the jobs are under a quota and a
  /// budget of GPU-hours
  static model::Instance instance(bool limits) {
    const auto problem =
        generate::generate_horizon(generate::HorizonPreset::queue, {.jobs = 300, .outages = false});
    model::Instance made = generate::instance_of(problem);
    for (auto& job : made.workload.jobs) job.queue = {};
    if (!limits) return made;
    made.cluster.queues = {{.name = "few", .gpu_quota = 600, .gpu_hours = 4'000}};
    for (std::size_t j = 0; j < made.workload.jobs.size(); j += 2) {
      made.workload.jobs[j].queue = QueueId(0);
    }
    return made;
  }

  /// Plan, proof; on rank 0.
  static std::array<std::string, 2> planned_on(const Communicator& comm, const model::Instance& of,
                                               HorizonRequest request) {
    std::array<std::string, 2> digests;
    comm.agreed([&] {
      if (comm.rank() != 0) return coordinator::serve_dual(comm);
      coordinator::RootOfDual ranks(comm);
      request.ranks = &ranks;
      request.shard_ranks = &ranks;
      report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
      const model::HorizonPlan plan = plan_horizon(of, request, silent);
      digests = {plan.plan_digest, plan.proof_digest};
    });
    return digests;
  }

  Communicator world = Communicator::world();
  std::string path;
  HorizonRequest request{.horizon = {.now = 0, .length = 24 * 3600}, .keep = {}, .keep_price = {}};
};

TEST_F(HorizonInShards, are_planned_alike_on_any_ranks_and_resumed_after_any_round) {
  for (const bool limits : {false, true}) {
    SCOPED_TRACE(limits);
    const model::Instance of = instance(limits);
    request.horizon.objective =
        limits ? model::HorizonObjective::value : model::HorizonObjective::flow;
    const auto whole = planned_on(world, of, request);
    if (world.rank() == 0) {
      const parallel::ThreadLimit two(2);
      EXPECT_EQ(planned_on(Communicator::serial(), of, request), whole);
    }
    for (const int every : {2, 3}) {
      HorizonRequest cut = request;
      cut.checkpoint = {.file = path, .every = every, .resume = {}};
      (void)planned_on(world, of, cut);
      cut.checkpoint = {.file = {}, .every = 1, .resume = path};
      EXPECT_EQ(planned_on(world, of, cut), whole) << every;
    }
  }
}

}  // namespace
}  // namespace berth::pipeline
