// SPDX-License-Identifier: Apache-2.0
// Jobs without the data that a published scheduler needs: the error names the job and the key.
#include "tiny.hpp"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/profiles_file.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/sim/trace.hpp"

namespace berth::papers {
namespace {

/// A job named j1 between two sound ones that a scheduler cannot read.
struct Lack {
  std::string field;  ///< of the error
  std::string words;
  std::string job;      ///< its line after the id; empty: that of the sound jobs
  std::string profile;  ///< its keys; empty: no profile
};

struct PolicyNeeds {
  std::vector<std::string> policies;
  std::string job, profile;  ///< of sound jobs, as in Lack
  std::vector<std::string> definitions;
  std::vector<Lack> lacks;
};

std::string job_line(int j, const std::string& rest) {
  return "{\"id\":\"j" + std::to_string(j) + "\"," + rest + "}\n";
}

std::string profile_line(int j, const std::string& keys) {
  return keys.empty() ? "" : "{\"job\":\"j" + std::to_string(j) + "\"," + keys + "}\n";
}

model::Instance machines() {
  test::Tiny tiny;
  const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 64'000, 65'536);
  tiny.pod();
  tiny.rack();
  for (int m = 0; m < 2; ++m) tiny.machine(of);
  return tiny.instance;
}

/// Makes the policy for the sound jobs, with `lack` for the one in the middle.
void make(const std::string& policy, const PolicyNeeds& needs, const Lack* lack) {
  model::Instance instance = machines();
  std::string jobs, profiles;
  for (const std::string& line : needs.definitions) profiles += line + "\n";
  for (int j = 0; j < 3; ++j) {
    const bool lacks = lack != nullptr && j == 1;
    jobs += job_line(j, lacks && !lack->job.empty() ? lack->job : needs.job);
    profiles += profile_line(j, lacks ? lack->profile : needs.profile);
  }
  instance.workload = io::parse_jobs(jobs, "j.jsonl", instance.cluster);
  const speed::Profiles read = io::parse_profiles(profiles, "p.jsonl", instance);
  (void)find_paper_policy(policy)->make({instance, read, 1});
}

void expect_named(const std::string& policy, const PolicyNeeds& needs, const Lack& lack) {
  SCOPED_TRACE(policy + ": " + lack.words);
  try {
    make(policy, needs, &lack);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.where().field, lack.field) << text;
    for (const std::string& words : {lack.words, std::string("j1"), policy})
      EXPECT_NE(text.find(words), std::string::npos) << text;
    for (const char* sound : {"j0", "j2"}) EXPECT_EQ(text.find(sound), std::string::npos) << text;
  }
}

const std::string kServers =
    R"("duration":3600,"tasks":[{"shape":"worker","count":1,"gpus":1,"cpu_milli":1000},)"
    R"({"shape":"server","count":1,"cpu_milli":1000}])";
const std::string kWorkersOnly =
    R"("duration":3600,"tasks":[{"shape":"worker","count":1,"gpus":1}])";
const std::string kTwoWorkers =
    R"("duration":3600,"tasks":[{"shape":"worker","count":2,"gpus":1,"cpu_milli":1000},)"
    R"({"shape":"server","count":1,"cpu_milli":1000}])";
const std::string kElastic =
    kWorkersOnly + R"(,"configurations":[{"counts":{"worker":1}},{"counts":{"worker":2}}])";
const std::string kGap = kWorkersOnly + R"(,"configurations":[{"counts":{"worker":2}}])";
const std::string kWide = R"("duration":3600,"tasks":[{"shape":"worker","count":1,"gpus":2}],)"
                          R"("configurations":[{"counts":{"worker":1}},{"counts":{"worker":2}}])";
const std::string kNamed = R"("profile":"p")";

std::vector<PolicyNeeds> table() {
  const std::string server_profile =
      R"({"profile":"p","model":"parameter_server","reference":100,"servers":"server",)"
      R"("seconds_per_sample":0.01,"gradient_gbit":0.1,"batch":8,"workers_per_server":2,)"
      R"("internal_gbps":50,"external_gbps":10})";
  const std::string overlap =
      R"({"profile":"p","model":"overlap","reference":2,"servers":"server","batch":64,)"
      R"("forward":0.001,"backward":0.05,"model_gbit":0.8,"server_gbps":10})";
  const std::string goodput =
      R"({"profile":"p","model":"goodput","reference":1,"compute_fixed":1,"smallest_batch":1,)"
      R"("batch":2,"noise":[{"work":0,"noise_scale":0}]})";
  const std::string ring =
      R"({"profile":"p","model":"ring","gradient_gbit":1,"backward":0.1,"batch":1,)"
      R"("reduce_gbps":1000,"reference":10})";
  const std::string loss = R"("loss":{"family":"linear","iterations":100,"a":0.9})";
  const std::string domain = kServers + R"(,"domain":"rack")";
  return {
      {{"pd-ors", "oasis"},
       kServers,
       kNamed,
       {server_profile},
       {{"profile", "has no profile of the model parameter_server", "", ""},
        {"profile", "has a domain", domain, kNamed}}},
      {{"smd", "optimus"},
       kServers,
       kNamed,
       {overlap},
       {{"profile", "has no profile of the model overlap", "", ""}}},
      {{"esw"},
       kServers,
       kNamed,
       {overlap},
       {{"profile", "has no profile of the model overlap", "", ""},
        {"configurations", "as many workers as servers", kTwoWorkers, kNamed}}},
      {{"sjf-bco"},
       kWorkersOnly,
       kNamed,
       {ring},
       {{"model", "model \"ring\"", "", ""}, {"model", "fixed size", kElastic, kNamed}}},
      {{"ones", "optimus-elastic", "berth-elastic"},
       kElastic,
       kNamed,
       {goodput},
       {{"profile", "has no profile of the model goodput", "", ""},
        {"configurations", "has no configuration of 1 GPUs", kGap, kNamed},
        {"configurations", "has no configuration of 1 GPUs", kWorkersOnly, kNamed},
        {"tasks", "workers of one shape with a GPU each", kWide, kNamed}}},
      {{"slaq"}, kWorkersOnly, loss, {}, {{"loss", "slaq needs the loss of every job", "", ""}}},
  };
}

TEST(MissingData, NamesTheJobAndTheKey) {
  std::set<std::string> told = {"gadget"};
  for (const PolicyNeeds& needs : table()) {
    for (const std::string& policy : needs.policies) {
      told.insert(policy);
      EXPECT_NO_THROW(make(policy, needs, nullptr)) << policy;
      for (const Lack& lack : needs.lacks) expect_named(policy, needs, lack);
    }
  }
  for (const PaperPolicyRow& row : paper_policies())
    EXPECT_TRUE(told.contains(std::string(row.name))) << row.name << " is not in the table";
}

// GADGET reads what every policy does: weight, work, sizes. A job without work is refused by name
// before any policy sees it.
TEST(MissingData, GadgetNeedsTheWorkOfJobs) {
  model::Instance instance = machines();
  const std::string tasks = R"("tasks":[{"shape":"worker","count":1,"gpus":1}])";
  instance.workload =
      io::parse_jobs(job_line(0, kWorkersOnly) + job_line(1, tasks), "j.jsonl", instance.cluster);
  const sim::Trace trace = sim::make_trace(instance, {});
  ASSERT_EQ(trace.refused.size(), 1U);
  EXPECT_EQ(trace.refused[0].job, JobId(1));
  EXPECT_NE(std::string(trace.refused[0].reason).find("duration"), std::string::npos);
}

// A coded gang is told by its tasks: the profile alone does not say of how many workers any k do.
TEST(MissingData, CodedGangsNeedKOf) {
  model::Instance instance = machines();
  const std::string coded =
      R"("duration":9,"tasks":[{"shape":"worker","count":4,"gpus":1,"k_of":3}])";
  const std::string plain = R"("duration":9,"tasks":[{"shape":"worker","count":4,"gpus":1}])";
  const std::string profile = R"({"profile":"p","model":"coded","seconds":1,"tail":1})"
                              "\n";
  const auto read = [&](const std::string& second) {
    instance.workload =
        io::parse_jobs(job_line(0, coded) + job_line(1, second), "j.jsonl", instance.cluster);
    (void)io::parse_profiles(profile + profile_line(0, kNamed) + profile_line(1, kNamed), "p.jsonl",
                             instance);
  };
  EXPECT_NO_THROW(read(coded));
  try {
    read(plain);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("k_of"), std::string::npos) << error.what();
    EXPECT_EQ(error.where().line, 3) << error.what();
  }
}

}  // namespace
}  // namespace berth::papers
