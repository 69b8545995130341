// SPDX-License-Identifier: Apache-2.0
// The bound on the total utility of a simulation's jobs: no policy that the scheduler competes with
// earns more, and jobs without rivals earn as much.
#include "berth/papers/slot_relaxation.hpp"

#include "petsc_environment.hpp"
#include "tiny.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/jobs_file.hpp"
#include "berth/io/profiles_file.hpp"
#include "berth/papers/slot_proof.hpp"
#include "berth/policy/policy.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::papers {
namespace {

const std::string kServers =
    R"({"profile":"p","model":"parameter_server","reference":100,"servers":"server",)"
    R"("seconds_per_sample":0.01,"gradient_gbit":0.1,"batch":8,"workers_per_server":2,)"
    R"("internal_gbps":50,"external_gbps":10})";
const std::string kOverlap =
    R"({"profile":"p","model":"overlap","reference":2,"servers":"server","batch":64,)"
    R"("forward":0.001,"backward":0.05,"model_gbit":0.8,"server_gbps":10})";

/// Two machines of four GPUs; jobs of workers and servers, worth 5, 6, .., nothing after a while.
struct UtilityWorld {
  model::Instance instance;
  speed::Profiles profiles;

  UtilityWorld(int jobs, int gap, int until, const std::string& profile) {
    test::Tiny tiny;
    const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 8'000, 65'536);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < 2; ++m) tiny.machine(of);
    instance = tiny.instance;
    std::string lines, assigned = profile + "\n";
    for (int j = 0; j < jobs; ++j) {
      const std::string name = "j" + std::to_string(j);
      lines += R"({"id":")" + name + R"(","arrival":)" + std::to_string(j * gap) +
               R"(,"duration":7200,"value":)" + std::to_string(5 + j) +
               R"(,"utility":{"steps":[[0,1],[)" + std::to_string(until) + R"(,0]]},)" +
               R"("tasks":[{"shape":"worker","count":2,"gpus":1,"cpu_milli":1000},)"
               R"({"shape":"server","count":1,"cpu_milli":1000}],"configurations":[)"
               R"({"counts":{"worker":1,"server":1}},{"counts":{"worker":2,"server":1}},)"
               R"({"counts":{"worker":4,"server":2}}]})"
               "\n";
      assigned += R"({"job":")" + name +
                  R"(","profile":"p"})"
                  "\n";
    }
    instance.workload = io::parse_jobs(lines, "j.jsonl", instance.cluster);
    profiles = io::parse_profiles(assigned, "p.jsonl", instance);
  }

  [[nodiscard]] PaperWorld world() const { return {instance, profiles, 1}; }

  [[nodiscard]] sim::Run run(std::string_view name) const {
    const PaperPolicyRow* paper = find_paper_policy(name);
    const auto policy = paper != nullptr ? paper->make(world()) : policy::policy_row(name).make({});
    speed::Profiles own = profiles;
    const sim::WorldSpeeds speeds(instance, own, 0.0);
    const sim::Trace trace = sim::make_trace(instance, {}, &speeds);
    return sim::simulate(instance.cluster, trace, *policy, {}, {.speeds = &speeds});
  }

  [[nodiscard]] double bound(std::string_view name, const sim::Run& run) const {
    const SlotRelaxation relaxation = slot_relaxation(name, world(), run.records);
    return papers::proved_utility(relaxation.instance, relaxation.price);
  }
};

TEST(SlotRelaxation, NoPolicyOfTheSameJobsEarnsMore) {
  for (const int until : {9'000, 20'000}) {
    for (const int jobs : {1, 4, 9}) {
      const UtilityWorld world(jobs, 600, until, kServers);
      double best = 0.0;
      for (const char* name : {"pd-ors", "oasis", "fifo", "best-fit", "srtf"}) {
        const sim::Run run = world.run(name);
        const double earned = earned_utility(world.world(), run.records);
        best = std::max(best, earned);
        for (const char* of : {"pd-ors", "oasis"})
          EXPECT_GE(world.bound(of, run), earned) << name << ' ' << jobs << ' ' << until;
      }
      EXPECT_GT(best, 0.0);
    }
  }
}

TEST(SlotRelaxation, ReservationsOfSmdCount) {
  for (const int jobs : {1, 3, 8}) {
    const UtilityWorld world(jobs, 300, 20'000, kOverlap);
    for (const char* name : {"smd", "optimus", "esw"}) {
      if (std::string(name) == "esw" && jobs != 1) continue;
      const sim::Run run = world.run(name);
      EXPECT_GE(world.bound(name, run), earned_utility(world.world(), run.records)) << name;
    }
  }
}

// One job that ends in time earns all that it can, and the bound says so. A job that ends late
// earns nothing.
TEST(SlotRelaxation, AJobAloneIsAtItsBound) {
  const UtilityWorld world(1, 0, 20'000, kServers);
  const sim::Run run = world.run("pd-ors");
  EXPECT_DOUBLE_EQ(earned_utility(world.world(), run.records), 5.0);
  EXPECT_NEAR(world.bound("pd-ors", run), 5.0, 1e-6);
  const UtilityWorld late(1, 0, 60, kServers);
  EXPECT_EQ(earned_utility(late.world(), late.run("fifo").records), 0.0);
}

// Eight GPUs for jobs of four that pay only if they end in time: the bound sees that not all can.
TEST(SlotRelaxation, CapacityIsInTheBound) {
  const UtilityWorld world(9, 0, 7'200, kServers);
  const sim::Run run = world.run("best-fit");
  double all = 0.0;
  for (int j = 0; j < 9; ++j) all += 5.0 + j;
  EXPECT_LT(world.bound("pd-ors", run), 0.9 * all);
  EXPECT_TRUE(earns_utility("smd") && earns_utility("oasis"));
  EXPECT_FALSE(earns_utility("fifo") || earns_utility("gadget"));
}

}  // namespace
}  // namespace berth::papers
