// SPDX-License-Identifier: Apache-2.0
// No plan in time is written that the judge faults: each of these was sound when it was made.
#include "with_petsc.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_horizon.hpp"

namespace berth::pipeline {
namespace {

constexpr const char* kCluster = R"(schema: 1
classes: {a: {gpu_type: A100, gpus: 4, cpu_milli: 8000}}
queues: [{id: few, gpu_quota: 2}]
pods: [{id: p, racks: [{id: r, machines: [{ids: "m[0-1]", class: a}]}]}]
windows: [{machines: [m0], from: 60, to: 90, kind: maintenance}]
)";

constexpr const char* kJobs =
    R"({"id":"a","duration":20,"tasks":[{"count":2,"gpus":4}]}
{"id":"b","duration":20,"tasks":[{"count":2,"gpus":4}],"after":["a"]}
{"id":"c","duration":10,"tasks":[{"gpus":1}],"not_before":40,"deadline":55}
{"id":"d","duration":10,"tasks":[{"gpus":2}],"queue":"few","not_before":40}
{"id":"e","duration":10,"tasks":[{"gpus":2}],"queue":"few","not_before":40}
{"id":"f","duration":10,"tasks":[{"gpus":9}]}
)";

class WriteHorizonPlan : public berth::test::WithPetsc<> {
 protected:
  WriteHorizonPlan() {
    instance_.cluster = io::parse_cluster(kCluster, "cluster.yaml");
    instance_.workload = io::parse_jobs(kJobs, "jobs.jsonl", instance_.cluster);
    report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
    const HorizonRequest request{
        .horizon = {.now = 0, .length = 100}, .keep = {}, .keep_price = {}};
    plan_ = plan_horizon(instance_, request, silent);
    io::write_atomically(path_, [](io::AtomicFile& file) { file.write("earlier"); });
  }
  ~WriteHorizonPlan() override { std::filesystem::remove(path_); }

  model::JobPlacement& placed(const std::string& name) {
    return *std::ranges::find_if(spoilt_.placements, [&](const model::JobPlacement& p) {
      return instance_.workload.job_names[p.job.index()] == name;
    });
  }
  void shift(const std::string& name, std::int64_t seconds) {
    model::JobPlacement& job = placed(name);
    job.start += seconds;
    spoilt_.ends[static_cast<std::size_t>(&job - spoilt_.placements.data())] += seconds;
  }

  void put(const std::string& name, MachineId machine, std::uint64_t devices, std::int64_t start) {
    placed(name).tasks.front().machine = machine;
    placed(name).tasks.front().devices = devices;
    shift(name, start - placed(name).start);
  }

  void refused(const std::string& fault, const std::function<void()>& spoil) {
    SCOPED_TRACE(fault);
    spoilt_ = plan_;
    spoil();
    try {
      write_horizon_plan(path_, instance_, spoilt_);
      ADD_FAILURE() << "written";
    } catch (const std::logic_error& error) {  // exit code 4
      EXPECT_THAT(error.what(), testing::HasSubstr(": not written, the plan is invalid: "));
      EXPECT_THAT(error.what(), testing::HasSubstr(fault));
    }
    EXPECT_EQ(io::read_file(path_), "earlier");
  }

  model::Instance instance_;
  model::HorizonPlan plan_, spoilt_;
  std::string path_ = std::filesystem::temp_directory_path() /
                      ("berth_horizon_" + std::to_string(getpid()) + ".json");
};

TEST_F(WriteHorizonPlan, when_it_is_sound) {
  ASSERT_EQ(plan_.placements.size(), 5u);
  write_horizon_plan(path_, instance_, plan_);
  EXPECT_THAT(io::read_file(path_), testing::HasSubstr("\"price_curves\""));
}

TEST_F(WriteHorizonPlan, not_with_a_double_booking) {
  refused("device_oversubscribed", [&] {
    const model::JobPlacement& first = placed(placed("d").start == 40 ? "d" : "e");
    put("c", first.tasks.front().machine, first.tasks.front().devices & 0b0101, 40);
  });
}

TEST_F(WriteHorizonPlan, not_with_times_that_no_rule_allows) {
  refused("bad_start: job a ends at 20, not at 19", [&] { --spoilt_.ends[0]; });
  refused("too early", [&] { shift("c", -1); });
  refused("after its deadline", [&] { shift("c", 30); });
  refused("starts after the horizon", [&] { shift("d", 100); });
  refused("before job a has ended", [&] { shift("a", 25); });
  refused("machine_not_up", [&] { put("d", MachineId(0), 0b0011, 62); });
  refused("quota_exceeded: queue few", [&] {
    put("c", MachineId(0), 0b1000, 40);
    put("d", MachineId(0), 0b0011, 40);
    put("e", MachineId(1), 0b0011, 45);
  });
}

TEST_F(WriteHorizonPlan, not_with_wrong_figures_or_lists) {
  refused("wrong_objective", [&] { spoilt_.figures.objective += 1.0; });
  refused("bound_too_low", [&] { spoilt_.figures.bound -= 1.0; });
  refused("wrong_gap", [&] { spoilt_.figures.gap += 0.01; });
  refused("wrong_count", [&] { ++spoilt_.figures.jobs_later; });
  refused("wrong_plan_digest", [&] { spoilt_.plan_digest[0] ^= 1; });
  refused("wrong_proof_digest", [&] { spoilt_.proof_digest[0] ^= 1; });
  refused("other_instance", [&] { spoilt_.instance_digest[0] ^= 1; });
  refused("wrong_required_missing", [&] { spoilt_.required_missing.emplace_back(5); });
  refused("lost_job", [&] { spoilt_.waiting.clear(); });
  refused("split_gang", [&] { placed("a").tasks.pop_back(); });
  refused("bad_certificate", [&] { spoilt_.certificate.curves.front().starts.push_back(0); });
  refused("bad_certificate", [&] {
    if (spoilt_.certificate.nodes.size() > 1) spoilt_.certificate.nodes[1] = 0;
  });
  refused("keeps its promise", [&] {
    spoilt_.promises.push_back({.job = JobId(0), .start = 5, .kept = false, .reason = "none"});
  });
}

}  // namespace
}  // namespace berth::pipeline
