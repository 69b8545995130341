// SPDX-License-Identifier: Apache-2.0
#include "slurm_imports.hpp"

#include <string>
#include <vector>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io {
namespace {

class SlurmImportJobs : public SlurmImportTest {};
INSTANTIATE_TEST_SUITE_P(BothGenerations, SlurmImportJobs, both_generations(), generation_name);

TEST_P(SlurmImportJobs, who_stays_with_slurm_and_why) {
  s.node("n0")
      .job(1, {{"priority", s.number(0)}, {"state_reason", in_json("JobHeldUser")}})
      .job(2, {{"dependency", in_json("afterok:1(unfulfilled)")}})
      .job(3, {{"eligible_time", s.number(1001)}})
      .job(4, {{"resv_name", in_json("r1")}})
      .job(5, {{"het_job_id", s.number(5)}})
      .job(6, {{"job_state", s.state({"REQUEUED"})}})
      .job(7, {{"partition", in_json("elsewhere")}})
      .job(8, {{"features", in_json("ib*2")}})
      .job(9, {{"required_nodes", in_json("n0")}, {"node_count", s.number(2)}})
      .job(10, {{"tres_per_node", in_json("gres:gpu:a100:1,gres:gpu:t4:1")}})
      .job(11, {{"job_state", s.state({"COMPLETED"})}})
      .job(12)
      .job(15, {{"state_reason", in_json("AssocGrpGRES")}})
      .job(16, {{"state_reason", in_json("QOSMaxJobsPerUserLimit")}})
      .job(17, {{"state_reason", in_json("BadConstraints")}});
  const SlurmImport i = import(s);
  EXPECT_EQ(names(i), (std::vector<std::string>{"12"}));
  for (const char* const reason :
       {"is held", "waits for another job", "begins later", "has a reservation", "heterogeneous",
        "requeued", "cannot start, says Slurm: BadConstraints", "fits none of the nodes",
        "features with counts", "names some of its nodes", "several GPU types"}) {
    EXPECT_TRUE(has(i.left, reason, 1)) << reason;
  }
  EXPECT_TRUE(has(i.left, "a limit of its association or QOS", 2));
  EXPECT_EQ(names(import(s, {.held = true})), (std::vector<std::string>{"1", "12"}));
  s.job(13, {{"hold", "true"}}).job(14, {{"priority", "null"}});
  EXPECT_EQ(names(import(s)), (std::vector<std::string>{"12", "14"}));
}

TEST_P(SlurmImportJobs, arrays_are_one_job_for_each_task_that_may_start) {
  s.node("n0")
      .job(17, {{"array_job_id", s.number(17)}, {"array_task_string", in_json("3-4,8-12:2")}})
      .job(20, {{"array_job_id", s.number(20)},
                {"array_task_string", in_json("1-5%2")},
                {"array_max_tasks", s.number(2)}})
      .running(21, "n0", 1, 10, {{"array_job_id", s.number(20)}, {"array_task_id", s.number(0)}})
      .job(30, {{"array_job_id", s.number(30)}, {"array_task_string", in_json("1,3,5,...")}})
      .job(31, {{"array_job_id", s.number(29)}, {"array_task_id", s.number(7)}});
  const SlurmImport i = import(s);
  EXPECT_EQ(names(i),
            (std::vector<std::string>{"17_3", "17_4", "17_8", "17_10", "17_12", "20_1", "29_7"}));
  EXPECT_TRUE(has(i.left, "other tasks of its array", 4));
  EXPECT_TRUE(has(i.left, "cut off", 1));
  EXPECT_EQ(i.instance.workload.job_names[0], "20_0");  // the task that runs
}

TEST_P(SlurmImportJobs, what_is_not_counted_is_said) {
  s.node("n0", {{"threads", "2"}})
      .job(1, {{"licenses", in_json("matlab:1")},
               {"burst_buffer", in_json("x")},
               {"network", in_json("x")},
               {"core_spec", "1"},
               {"contiguous", "true"},
               {"tres_per_node", in_json("gres:gpu:1,gres:nvme:2")},
               {"required_switches", "3"},
               {"tasks_per_node", s.number(2)}});
  const SlurmImport i = import(s);
  for (const char* const note :
       {"licenses", "burst buffers", "network", "cores set aside", "contiguous",
        "generic resources", "so many switches", "several threads"}) {
    EXPECT_TRUE(has(i.notes, note, 1)) << note;
  }
}

TEST_P(SlurmImportJobs, licenses_are_a_limit_of_the_cluster) {
  s.node("n0")
      .job(1, {{"licenses", in_json("matlab:2,ansys")}})
      .job(2, {{"licenses", in_json("matlab|ansys")}})
      .job(3, {{"licenses", in_json("other")}})
      .running(4, "n0", 1, 10, {{"licenses", in_json("matlab")}});
  SlurmSources sources = s.sources();
  sources.licenses = {.name = "licenses.txt",
                      .text =
                          "LicenseName=ansys Total=2 Used=0 Free=2 Reserved=1 Remote=no\n"
                          "LicenseName=matlab Total=4 Used=2 Free=2 Reserved=0 Remote=no\n"};
  const SlurmImport i = import_slurm(sources, {.now = 1000});
  const auto& all = i.instance.cluster.licenses;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].count, 1);  // ansys
  EXPECT_EQ(all[1].count, 3);  // matlab: 2 free, 1 of a running job; who has the other is not told
  using Uses = std::vector<model::LicenseUse>;
  EXPECT_EQ(rules(i, 0).licenses, (Uses{{1, 1}}));  // the running job comes first
  EXPECT_EQ(rules(i, 1).licenses, (Uses{{0, 1}, {1, 2}}));
  EXPECT_TRUE(has(i.notes, "licenses, which are not counted", 2));  // jobs 2 and 3
  EXPECT_TRUE(import(s, {.now = 1000}).instance.cluster.licenses.empty());
}

TEST_P(SlurmImportJobs, names_and_users_are_carried) {
  s.node("n0")
      .job(1, {{"name", in_json("train it")}, {"user_name", in_json("ada")}})
      .running(2, "n0", 1, 10, {{"name", in_json("old")}, {"user_name", in_json("bob")}});
  const SlurmImport i = import(s);
  const model::JobTitles& titles = i.instance.workload.titles;
  EXPECT_EQ(titles.name_of(JobId(0)), "old");  // the running job comes first
  EXPECT_EQ(titles.user_of(JobId(0)), "bob");
  EXPECT_EQ(titles.name_of(JobId(1)), "train it");
  EXPECT_EQ(titles.user_of(JobId(1)), "ada");
}

TEST_P(SlurmImportJobs, pins_of_an_earlier_plan_are_not_the_users_wish) {
  for (int n = 0; n < 4; ++n) s.node("n" + std::to_string(n));
  s.job(1, {{"required_nodes", in_json("n2")}, {"admin_comment", in_json("berth:nodes=n2")}})
      .job(2, {{"required_nodes", in_json("n3")}})
      .job(3, {{"eligible_time", s.number(5000)}, {"admin_comment", in_json("berth:start=5000")}})
      .job(4, {{"array_job_id", s.number(4)},
               {"array_task_id", s.number(0)},
               {"array_max_tasks", s.number(2)},
               {"required_nodes", in_json("n1")},
               {"admin_comment", in_json("berth:nodes=n1")}})
      .job(5, {{"array_job_id", s.number(4)},
               {"array_max_tasks", s.number(2)},
               {"array_task_string", in_json("1-3%2")}});
  const SlurmImport i = import(s);
  EXPECT_EQ(names(i), (std::vector<std::string>{"1", "2", "3", "4_0", "4_1"}));
  EXPECT_EQ(i.instance.cluster.gpu_types.size(), 2U);  // only job 2 tells machines apart
  EXPECT_EQ(types(i, 0).size(), 2U);
  EXPECT_TRUE(has(i.notes, "an earlier apply pinned", 3));
  EXPECT_THAT(i.state, testing::HasSubstr(R"("pinned":["1","3","4_0"])"));
}

TEST_P(SlurmImportJobs, files_read_back_are_the_same_instance) {
  s.node("n0").node("n1", {{"features", s.words({"x"})}}).node("c0", {{"gres", in_json("")}});
  s.job(1, {{"tres_per_node", in_json("gres:gpu:2")}, {"features", in_json("x")}})
      .job(2, {{"tasks", s.number(3)}, {"cpus", s.number(3)}})
      .running(3, "n0,n1", 4, 100,
               {{"gres_detail", Samples::list({"gpu:a100:1(IDX:2)", "gpu:a100:2(IDX:0,3)"})}});
  const SlurmImport i = import(s);
  model::Instance back;
  back.cluster = parse_cluster(cluster_text(i.instance.cluster), "c.yaml");
  back.workload = parse_jobs(jobs_text(i.instance), "j.jsonl", back.cluster);
  EXPECT_EQ(model::instance_digest(back), model::instance_digest(i.instance));
  EXPECT_NE(i.state.find(model::instance_digest(back)), std::string::npos);
}

}  // namespace
}  // namespace berth::io
