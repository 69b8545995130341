// SPDX-License-Identifier: Apache-2.0
// Host lists, generic resources, features; and what is refused.
#include "faults.hpp"
#include "slurm/features.hpp"
#include "slurm/gres.hpp"
#include "slurm/hostlist.hpp"
#include "slurm/licenses.hpp"
#include "slurm/own_pin.hpp"
#include "slurm/pending_jobs.hpp"
#include "slurm_samples.hpp"

#include <string>
#include <vector>

namespace berth::io {
namespace {

using Words = std::vector<std::string>;

TEST(SlurmHosts, ranges_lists_and_several_brackets) {
  EXPECT_EQ(slurm::expand_hosts("n[0-2,07],c1").names, (Words{"n0", "n1", "n2", "n07", "c1"}));
  EXPECT_EQ(slurm::expand_hosts("r[1-2]n[0-1]x").names,
            (Words{"r1n0x", "r1n1x", "r2n0x", "r2n1x"}));
  std::string brackets = "n";
  for (int i = 0; i < 40'000; ++i) brackets += "[0-0]";
  EXPECT_NE(slurm::expand_hosts(brackets).fault.find("more than 8 brackets"), std::string::npos);
  EXPECT_EQ(slurm::expand_hosts("a[0-0]b[0-0]c[0-0]d[1-1]").names, Words{"a0b0c0d1"});
  EXPECT_TRUE(slurm::expand_hosts("").names.empty());
  EXPECT_TRUE(slurm::expand_hosts("(null)").names.empty());
  EXPECT_FALSE(slurm::expand_hosts("n[0-").fault.empty());
  EXPECT_FALSE(slurm::expand_hosts("n[3-1]").fault.empty());
  EXPECT_FALSE(slurm::expand_hosts("n[0-9999999]").fault.empty());
  const Words names{"n008", "n009", "n010", "c1"};
  EXPECT_EQ(slurm::host_list(names), "n[008-010],c1");
  EXPECT_EQ(slurm::expand_hosts(slurm::host_list(names)).names, names);
}

TEST(SlurmLicenses, with_and_without_numbers) {
  using slurm::LicenseCounts;
  EXPECT_EQ(slurm::parse_licenses(""), LicenseCounts{});
  EXPECT_EQ(slurm::parse_licenses("matlab:2,ansys"), (LicenseCounts{{"matlab", 2}, {"ansys", 1}}));
  EXPECT_EQ(slurm::parse_licenses("m@server:2,m@server"), (LicenseCounts{{"m@server", 3}}));
  for (const char* const bad : {"a|b", "a:x", ":2", "a:-1"}) {
    EXPECT_FALSE(slurm::parse_licenses(bad).has_value()) << bad;
  }
}

TEST(SlurmOwnPin, is_a_word_beside_what_others_wrote) {
  const slurm::OwnPin pin{.nodes = {"n1", "n2", "n3"},
                          .asked = {"n1"},
                          .min_nodes = 2,
                          .max_nodes = 4,
                          .start = 60,
                          .priority = 9,
                          .former_priority = 0};
  const std::string word = slurm::pin_text(pin);
  EXPECT_EQ(word, "berth:nodes=n[1-3];asked=n1;range=2-4;start=60;priority=9/0");
  for (const char* const comment : {"", "see ticket 7", "notberth:x"}) {
    const std::string with = slurm::with_pin(comment, word);
    const auto read = slurm::read_pin(with);
    ASSERT_TRUE(read.has_value()) << with;
    EXPECT_EQ(slurm::pin_text(*read), word);
    EXPECT_EQ(slurm::with_pin(with, word), with);
    EXPECT_EQ(slurm::with_pin(with, ""), comment);
  }
  EXPECT_EQ(slurm::with_pin(word + " later", ""), "later");
  EXPECT_EQ(slurm::with_pin("before " + word + " later", "berth:start=1"),
            "before later berth:start=1");
  for (const char* const bad :
       {"", "berth", "berth:", "x berth:nodes=", "berth:nodes=n[1-", "berth:range=2-4",
        "berth:nodes=n1;range=2", "berth:start=x", "xberth:nodes=n1"}) {
    EXPECT_FALSE(slurm::read_pin(bad).has_value()) << bad;
  }
}

TEST(SlurmGres, in_every_spelling) {
  using slurm::Gres;
  const auto one = [](const char* text) { return slurm::parse_gres(text).value().at(0); };
  EXPECT_EQ(one("gpu"), (Gres{"gpu", "", 1}));
  EXPECT_EQ(one("gpu:4"), (Gres{"gpu", "", 4}));
  EXPECT_EQ(one("gpu:a100"), (Gres{"gpu", "a100", 1}));
  EXPECT_EQ(one("gpu:a100:4(S:0-1)"), (Gres{"gpu", "a100", 4}));
  EXPECT_EQ(one("gpu:3090:2"), (Gres{"gpu", "3090", 2}));
  EXPECT_EQ(one("gres:gpu:a100:4"), (Gres{"gpu", "a100", 4}));
  EXPECT_EQ(one("gres/gpu:a100=4"), (Gres{"gpu", "a100", 4}));
  EXPECT_EQ(one("gres/gpu=4"), (Gres{"gpu", "", 4}));
  EXPECT_EQ(one("gpu:a100:3(IDX:0-1,5)"), (Gres{"gpu", "a100", 3, {0, 1, 5}}));
  EXPECT_EQ(one("gpu:a100(CNT:2)"), (Gres{"gpu", "a100", 2}));
  EXPECT_EQ(one("gpu:0(IDX:N/A)"), (Gres{"gpu", "", 0}));
  EXPECT_EQ(one("craynetwork:no_consume:4K"), (Gres{"craynetwork", "", 4096}));
  EXPECT_EQ(slurm::parse_gres("gpu:a100:2(IDX:0,2),shard:8")->size(), 2U);
  EXPECT_TRUE(slurm::parse_gres("(null)")->empty());
  for (const char* const bad : {"gpu:a:b:c", "gpu:1(IDX:x)", "gpu=x", "gpu:1(S:0"}) {
    EXPECT_FALSE(slurm::parse_gres(bad).has_value()) << bad;
  }
}

TEST(SlurmGres, amounts_of_tres) {
  EXPECT_EQ(slurm::tres_amount("cpu=8,mem=1.5G,node=2", "mem"), 1536);
  EXPECT_EQ(slurm::tres_amount("mem=2T", "mem"), 2 << 20);
  EXPECT_EQ(slurm::tres_amount("mem=500M", "mem"), 500);
  EXPECT_EQ(slurm::tres_amount("cpu=8,gres/gpu=4,gres/gpu:a100=4", "gres/gpu"), 4);
  EXPECT_EQ(slurm::tres_amount("cpu=8", "mem"), std::nullopt);
  EXPECT_EQ(slurm::tres_amount("mem=-1", "mem"), std::nullopt);
}

TEST(SlurmFeatures, operators_from_left_to_right) {
  const Words ib_fast{"ib", "fast"};
  EXPECT_TRUE(slurm::satisfies("", {}));
  EXPECT_TRUE(slurm::satisfies("ib&fast", ib_fast));
  EXPECT_FALSE(slurm::satisfies("ib,slow", ib_fast));
  EXPECT_TRUE(slurm::satisfies("slow|fast", ib_fast));
  EXPECT_FALSE(slurm::satisfies("ib|slow&gone", ib_fast));  // (ib or slow) and gone
  EXPECT_TRUE(slurm::satisfies("ib|(slow&gone)", ib_fast));
  EXPECT_EQ(slurm::read_features("x&[r1|r2]").same_on_all, (Words{"r1", "r2"}));
  for (const char* const bad : {"ib*2", "[r1*2&r2*4]", "(ib", "ib&", "&", "ib)"}) {
    EXPECT_FALSE(slurm::read_features(bad).fault.empty()) << bad;
  }
}

TEST(SlurmArrays, task_lists) {
  EXPECT_EQ(slurm::array_tasks("3-4,9%2"), (std::vector<std::int64_t>{3, 4, 9}));
  EXPECT_EQ(slurm::array_tasks("[0-8:4]"), (std::vector<std::int64_t>{0, 4, 8}));
  EXPECT_TRUE(slurm::array_tasks("1,3,...").empty());
  EXPECT_TRUE(slurm::array_tasks("").empty());
}

TEST(SlurmFaults, of_nodes_and_jobs_name_file_and_field) {
  const auto base = [] { return Samples(Json::wrapped).node("n0").job(1).sources(); };
  const auto with = [&](auto SlurmSources::*which, const std::string& text) {
    SlurmSources sources = base();
    (sources.*which).text = text;
    if ((sources.*which).name.empty()) (sources.*which).name = "given";
    return sources;
  };
  using S = SlurmSources;
  struct Case {
    SlurmSources sources;
    const char* file;
    std::int64_t line;
    const char* field;
    const char* problem;
    const char* hint = "";
  };
  const std::vector<Case> cases{
      {with(&S::nodes, "{"), "nodes.json", 0, "", "not valid JSON", "sinfo --json"},
      {with(&S::nodes, R"({"sinfo":[]})"), "nodes.json", 0, "", "no list \"nodes\"",
       "scontrol show nodes"},
      {with(&S::nodes, R"({"nodes":[{"state":"idle"}]})"), "nodes.json", 0, "nodes[0]",
       "without a \"name\""},
      {with(&S::nodes, R"({"nodes":[{"name":"a"}]})"), "nodes.json", 0, "nodes[0]",
       "has no \"state\""},
      {with(&S::nodes, R"({"nodes":[{"name":"a","cpus":"x"}]})"), "nodes.json", 0, "nodes[0].cpus",
       "expected a number", "\"set\":true"},
      {with(&S::nodes, R"({"nodes":[{"name":"a","cpus":{"set":7}}]})"), "nodes.json", 0, "", ""},
      {with(&S::nodes, R"({"nodes":[{"name":"a","gres":"gpu:1("}]})"), "nodes.json", 0,
       "nodes[0].gres", "cannot read \"gpu:1(\"", "gpu:a100:4"},
      {with(&S::nodes, R"({"nodes":[{"name":"a","state":"idle","cpus":-1}]})"), "nodes.json", 0,
       "nodes[0]", "negative"},
      {with(&S::nodes, R"({"nodes":[{"name":"a","state":"idle"},{"name":"a","state":"idle"}]})"),
       "nodes.json", 0, "node a", "given twice"},
      {with(&S::nodes, R"({"nodes":[{"name":"a[0]","state":"idle"}]})"), "nodes.json", 0,
       "node a[0]", "brackets"},
      {with(&S::nodes, R"({"nodes":[{"name":"a","state":"idle","gres":"gpu:65"}]})"), "nodes.json",
       0, "node a", "65 GPUs", "at most 64"},
      {with(&S::jobs, R"({"jobs":{}})"), "jobs.json", 0, "jobs", "expected a list"},
      {with(&S::jobs, R"({"jobs":[{"job_state":"PENDING"}]})"), "jobs.json", 0, "jobs[0]",
       "without a \"job_id\""},
      {with(&S::jobs, R"({"jobs":[{"job_id":3}]})"), "jobs.json", 0, "jobs[0]", "no \"job_state\""},
      {with(&S::jobs, R"({"jobs":[{"job_id":3,"required_nodes":"n[1-"}]})"), "jobs.json", 0,
       "jobs[0].required_nodes", "brackets"},
      {with(&S::partitions, "nothing"), "given", 0, "PartitionName", "no partitions",
       "scontrol -o"},
      {with(&S::partitions, "PartitionName=a\nMaxTime=x"), "given", 2, "MaxTime",
       "expected a number"},
      {with(&S::partitions, R"({"partitions":[{}]})"), "given", 0, "partitions[0]",
       "without a \"name\""},
      {with(&S::reservations, "ReservationName=a StartTime=soon"), "given", 1, "StartTime",
       "expected a time"},
      {with(&S::topology, "SwitchName=a\nSwitchName=a"), "given", 2, "switchname", "given twice"},
      {with(&S::topology, "Nodes=a"), "given", 1, "nodes", "before any SwitchName"},
      {with(&S::topology, "SwitchName=a Ports=3"), "given", 1, "ports", "unknown key"},
      {with(&S::topology, "- topology: x"), "given", 1, "", "cannot read"},
      {with(&S::topology, "# nothing"), "given", 0, "", "no switches"},
      {with(&S::topology, "SwitchName=a Nodes=n0\nBlockName=b Nodes=n0"), "given", 2, "",
       "in one file"},
      {with(&S::topology, "BlockName=b\nBlockSizes=0"), "given", 2, "blocksizes",
       "numbers of nodes"},
      {with(&S::config, "Select"), "given", 0, "SelectTypeParameters", "missing",
       "scontrol show config"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.problem);
    if (std::string(c.problem).empty()) {
      EXPECT_THROW((void)import_slurm(c.sources, {.now = 1}), InputError);
      continue;
    }
    try {
      (void)import_slurm(c.sources, {.now = 1});
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      SCOPED_TRACE(error.what());
      EXPECT_EQ(error.where().file, c.file);
      EXPECT_EQ(error.where().line, c.line);
      EXPECT_EQ(error.where().field, c.field);
      EXPECT_THAT(error.problem(), testing::HasSubstr(c.problem));
      EXPECT_THAT(error.hint(), testing::HasSubstr(c.hint));
    }
  }
}

TEST(SlurmFaults, of_options) {
  const auto sources = Samples(Json::plain).node("n0").job(1).sources();
  EXPECT_THROW((void)import_slurm(sources, {.partitions = {"gpus"}}), InputError);
  EXPECT_THROW((void)import_slurm(sources, {.pod_factor = 0.5, .cluster_factor = 0.6}), InputError);
  EXPECT_THROW((void)import_slurm(sources, {.pod_factor = 1.5}), InputError);
  EXPECT_THROW((void)import_slurm(sources, {.cpu_as_gpu = "a\nb"}), InputError);
}

}  // namespace
}  // namespace berth::io
