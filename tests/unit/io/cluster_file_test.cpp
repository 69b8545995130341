// SPDX-License-Identifier: Apache-2.0
#include "berth/io/cluster_file.hpp"

#include "faults.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/model/free_machine.hpp"
#include "berth/model/instance.hpp"

namespace berth::io {
namespace {

using model::Cluster;

constexpr const char* kSmall = R"(schema: 1
classes:
  g2: {gpu_type: G2, gpus: 8, cpu_milli: 96000, memory_mib: 393216}
  cpu: {cpu_milli: 32000, memory_mib: 65536}
pods:
  - id: pod-0
    uplink_gbps: 400
    racks:
      - id: rack-0
        uplink_gbps: 100
        machines: [{ids: "m[0008-0011]", class: g2}, {ids: [c1, "c[2-3,7]x"], class: cpu}]
      - {id: rack-1}
  - {id: pod-1}
queues: [{id: research, gpu_quota: 512}, {id: free}]
)";

std::string digest(const Cluster& cluster) {
  return model::instance_digest(model::Instance{.cluster = cluster, .workload = {}});
}

std::vector<std::string> names(const Cluster& cluster) {
  std::vector<std::string> all;
  for (std::size_t m = 0; m < cluster.machines(); ++m) all.emplace_back(cluster.machine_names[m]);
  return all;
}

TEST(ParseCluster, reads_every_key) {
  const Cluster cluster = parse_cluster(kSmall, "c.yaml");
  EXPECT_EQ(names(cluster), (std::vector<std::string>{"m0008", "m0009", "m0010", "m0011", "c1",
                                                      "c2x", "c3x", "c7x"}));
  EXPECT_EQ(cluster.gpu_types, std::vector<std::string>{"G2"});
  EXPECT_EQ(cluster.gpus(), 32);
  EXPECT_EQ(cluster.class_of(MachineId(0)).capacity[model::kMemory], 393216);
  EXPECT_FALSE(cluster.class_of(MachineId(4)).gpu_type.valid());
  ASSERT_EQ(cluster.pods.size(), 2U);
  EXPECT_EQ(cluster.pods[0].uplink_gbps, 400.0);
  EXPECT_TRUE(std::isinf(cluster.pods[1].uplink_gbps));
  ASSERT_EQ(cluster.racks.size(), 2U);
  EXPECT_EQ(cluster.racks[0].uplink_gbps, 100.0);
  EXPECT_EQ(cluster.racks[1].pod, PodId(0));
  EXPECT_EQ(cluster.queues[0].gpu_quota, 512);
  EXPECT_EQ(cluster.queues[1].gpu_quota, -1);
}

TEST(ParseCluster, power_budgets_are_read_written_and_digested) {
  const std::string text = kSmall;
  const auto with = [&](const std::string& after, const std::string& key) {
    std::string other = text;
    return other.insert(other.find(after) + after.size(), key);
  };
  const Cluster without = parse_cluster(text, "c.yaml");
  EXPECT_TRUE(std::isinf(without.pods[0].power_w));
  const Cluster pod = parse_cluster(with("uplink_gbps: 400\n", "    power_w: 9000\n"), "c.yaml");
  const Cluster rack = parse_cluster(with("{id: rack-1", ", power_w: 700.5"), "c.yaml");
  EXPECT_EQ(pod.pods[0].power_w, 9000.0);
  EXPECT_EQ(rack.racks[1].power_w, 700.5);
  EXPECT_EQ(std::set({digest(without), digest(pod), digest(rack)}).size(), 3U);
  for (const Cluster* cluster : {&pod, &rack}) {
    EXPECT_EQ(digest(parse_cluster(cluster_text(*cluster), "again")), digest(*cluster));
  }
}

/// 16 GPUs of type G2 in p, 4 of H1 in q; `rest` begins on line 8.
std::string with_spare(const std::string& rest) {
  return "schema: 1\nclasses:\n  g2: {gpu_type: G2, gpus: 8}\n  h1: {gpu_type: H1, gpus: "
         "4}\npods:\n"
         "  - {id: p, racks: [{id: r, machines: [{ids: \"m[0-1]\", class: g2}]}]}\n"
         "  - {id: q, racks: [{id: s, machines: [{ids: n0, class: h1}, {ids: n1, class: g2}]}]}\n" +
         rest;
}

TEST(ParseCluster, spare_gpus_are_read_written_and_digested) {
  const Cluster without = parse_cluster(with_spare(""), "c.yaml");
  const Cluster one = parse_cluster(
      with_spare("spare:\n  - {pod: q, gpu_type: H1, gpus: 3, penalty: 0.5}\n"), "c.yaml");
  ASSERT_EQ(one.spare.size(), 1U);
  EXPECT_EQ(one.pods[one.spare[0].pod.index()].name, "q");
  EXPECT_EQ(one.gpu_types[one.spare[0].gpu_type.index()], "H1");
  EXPECT_EQ(one.spare[0].gpus, 3);
  EXPECT_EQ(one.spare[0].penalty, 0.5);
  const Cluster all =
      parse_cluster(with_spare("spare:\n  - {gpu_type: H1, percent: 0, penalty: 1}\n"
                               "  - {gpu_type: G2, percent: 20, penalty: 2}\n"),
                    "c.yaml");
  ASSERT_EQ(all.spare.size(), 2U);  // 0 GPUs of H1 are no limit
  EXPECT_EQ(all.spare[0].gpus, 4);  // 3.2 of 16, rounded up
  EXPECT_EQ(all.spare[1].gpus, 2);  // 1.6 of 8
  EXPECT_EQ(all.spare_of(PodId(1), all.gpu_types[0] == "G2" ? GpuTypeId(0) : GpuTypeId(1)),
            &all.spare[1]);
  const std::string exact = "spare:\n  - {pod: p, gpu_type: G2, percent: 6.25, penalty: 1}\n";
  EXPECT_EQ(parse_cluster(with_spare(exact), "c.yaml").spare[0].gpus, 1);
  EXPECT_EQ(std::set({digest(without), digest(one), digest(all)}).size(), 3U);
  for (const Cluster* cluster : {&one, &all}) {
    EXPECT_EQ(digest(parse_cluster(cluster_text(*cluster), "again")), digest(*cluster));
  }
}

constexpr const char* kStates = R"(schema: 1
classes: {g2: {gpu_type: G2, gpus: 8, cpu_milli: 96000, memory_mib: 393216}}
pods: [{id: p, racks: [{id: r, machines: [{ids: "m[0-7]", class: g2}]}]}]
queues:
  - {id: org, gpu_quota: 512}
  - {id: research, gpu_quota: 100, parent: org, over_quota_penalty: 0.5}
machine_states:
  - {ids: "m[1-2]", state: drained}
  - {ids: [m4], state: reserved}
  - {ids: m7, state: drain}
  - ids: "m[5-6]"
    used: {cpu_milli: 4000, memory_mib: 512, gpus: [{index: 0}, {index: 3, milli: 400}]}
)";

TEST(ParseCluster, reads_states_and_queues_in_queues) {
  const Cluster cluster = parse_cluster(kStates, "c.yaml");
  EXPECT_FALSE(cluster.queues[0].parent.valid());
  EXPECT_TRUE(cluster.queues[0].hard());
  EXPECT_EQ(cluster.queues[1].parent, QueueId(0));
  EXPECT_EQ(cluster.queues[1].over_quota_penalty, 0.5);
  EXPECT_FALSE(cluster.queues[1].hard());
  EXPECT_EQ(cluster.state_of(MachineId(0)), model::MachineState::up);
  EXPECT_EQ(cluster.state_of(MachineId(2)), model::MachineState::drained);
  EXPECT_EQ(cluster.state_of(MachineId(4)), model::MachineState::reserved);
  EXPECT_EQ(cluster.state_of(MachineId(7)), model::MachineState::drain);
  EXPECT_TRUE(cluster.immovable_on(MachineId(4)).empty());
  const model::FreeMachine used(cluster, MachineId(6));
  EXPECT_EQ(used.cpu(), 92000);
  EXPECT_EQ(used.resources()[model::kMemory], 393216 - 512);
  EXPECT_EQ(used.whole(), 0xF6U);
  EXPECT_EQ(used.devices()[3], 600);
  EXPECT_EQ(used.milli(), 6600);
  EXPECT_EQ(model::FreeMachine(cluster, MachineId(1)).milli(), 0);
}

TEST(ParseCluster, the_name_of_a_rack_or_a_pod_stands_for_its_machines) {
  const std::string pods =
      "schema: 1\nclasses: {c: {cpu_milli: 10}}\n"
      "pods: [{id: p0, racks: [{id: r0, machines: [{ids: \"m[0-1]\", class: c}]},\n"
      "                        {id: r1, machines: [{ids: r2, class: c}]}]},\n"
      "       {id: p1, racks: [{id: r2, machines: [{ids: \"m[2-3]\", class: c}]}, {id: r3}]}]\n";
  const auto states = [&](const std::string& ids) {
    return digest(
        parse_cluster(pods + "machine_states: [{ids: " + ids + ", state: drained}]\n", "c"));
  };
  EXPECT_EQ(states("r0"), states("\"m[0-1]\""));
  EXPECT_EQ(states("p0"), states("[\"m[0-1]\", r2]"));
  EXPECT_EQ(states("[r0, p1]"), states("\"m[0-3]\""));
  EXPECT_EQ(states("\"r[0-1]\""), states("p0"));
  EXPECT_NE(states("r2"), states("p1")) << "a machine of the name comes first";
  EXPECT_EQ(states("r3"), digest(parse_cluster(pods, "c"))) << "a rack without machines";
}

TEST(ParseCluster, written_states_read_back) {
  const Cluster cluster = parse_cluster(kStates, "c.yaml");
  const std::string text = cluster_text(cluster);
  EXPECT_EQ(digest(parse_cluster(text, "again")), digest(cluster)) << text;
  EXPECT_EQ(cluster_text(parse_cluster(text, "again")), text);
  const auto end = std::string_view(kStates).find("machine_states");
  const auto plain = std::string(std::string_view(kStates).substr(0, end));
  EXPECT_NE(digest(parse_cluster(plain, "c")), digest(cluster));
}

TEST(ParseCluster, no_machines_are_a_cluster_too) {
  EXPECT_EQ(parse_cluster("schema: 1\n", "c.yaml").machines(), 0U);
  EXPECT_EQ(parse_cluster("schema: 1\nclasses: {}\npods: []\nqueues:\n", "c.yaml").machines(), 0U);
}

TEST(ParseCluster, written_text_reads_back_as_the_same_cluster) {
  const Cluster cluster = parse_cluster(kSmall, "c.yaml");
  const std::string text = cluster_text(cluster);
  EXPECT_THAT(text, testing::HasSubstr("\"m[0008-0011]\""));
  EXPECT_EQ(digest(parse_cluster(text, "again")), digest(cluster));
  EXPECT_EQ(cluster_text(parse_cluster(text, "again")), text);
}

/// Classes and GPU types are numbered as machines use them, however the file lists them.
TEST(ParseCluster, the_order_of_classes_and_unused_ones_make_no_difference) {
  const std::string pods =
      "pods: [{id: p, racks: [{id: r, machines: [{ids: m, class: b}, {ids: n, class: a},\n"
      "  {ids: o, class: b}, {ids: q, class: a2}, {ids: s, class: c}]}]}]\n";
  const std::string a = "  a: {gpu_type: A, gpus: 2}\n", b = "  b: {gpu_type: B, gpus: 2}\n";
  const std::string c = "  c: {cpu_milli: 1}\n", a2 = "  a2: {gpu_type: A, gpus: 2}\n";
  const std::string unused = "  z: {gpu_type: Z, gpus: 8}\n";
  const Cluster one =
      parse_cluster("schema: 1\nclasses:\n" + unused + c + a + a2 + b + pods, "one.yaml");
  EXPECT_EQ(one.gpu_types, (std::vector<std::string>{"B", "A"}));
  ASSERT_EQ(one.classes.size(), 3U);  // a2 is a by another name
  EXPECT_EQ(one.classes[0].name, "b");
  EXPECT_EQ(one.classes[1].name, "a");
  EXPECT_EQ(one.classes[2].name, "c");
  const std::vector<ClassId> used{ClassId(0), ClassId(1), ClassId(0), ClassId(1), ClassId(2)};
  EXPECT_EQ(one.machine_class, used);
  EXPECT_EQ(one.class_of(MachineId(0)).gpu_type, GpuTypeId(0));
  const Cluster other = parse_cluster("schema: 1\nclasses:\n" + a2 + b + c + a + pods, "o.yaml");
  EXPECT_EQ(cluster_text(other), cluster_text(one));
  EXPECT_EQ(digest(other), digest(one));
}

TEST(ParseCluster, odd_names_survive_writing) {
  Cluster cluster = parse_cluster(
      R"({schema: 1, classes: {"a: b": {}, "null": {cpu_milli: 1}}, pods: [{id: "0", racks: [{id: "#r \"q\" \\",
          machines: [{ids: ["9", "10", "011", "012", "x", "a#b", "y9", "x1", "true", "é-1", "é-2",
                            "99999999999999998", "99999999999999999", "100000000000000000"],
          class: "a: b"}, {ids: "13", class: "null"}]}]}]})",
      "c.yaml");
  const std::string text = cluster_text(cluster);
  EXPECT_EQ(digest(parse_cluster(text, "again")), digest(cluster)) << text;
}

TEST(WriteCluster, refuses_a_name_that_would_read_as_a_range) {
  Cluster cluster = parse_cluster(kSmall, "c.yaml");
  NameTable table;
  for (std::size_t m = 0; m < cluster.machines(); ++m) table.add("m[" + std::to_string(m) + "]");
  cluster.machine_names = table;
  EXPECT_THROW(cluster_text(cluster), InputError);
}

TEST(WriteCluster, files_and_gzip) {
  const Folder folder;
  const Cluster cluster = parse_cluster(kSmall, "c.yaml");
  write_cluster(folder / "c.yaml.gz", cluster);
  EXPECT_EQ(digest(read_cluster(folder / "c.yaml.gz")), digest(cluster));
}

/// A sound head of four lines; `rest` begins on line 5.
std::string after_head(const std::string& rest) {
  return "schema: 1\nclasses:\n  g2: {gpu_type: G2, gpus: 8}\npods:\n" + rest;
}
std::string with_class(const std::string& content) {
  return "schema: 1\nclasses:\n  g2:\n    " + content + "\n";
}
std::string with_machines(const std::string& content) {
  return after_head("  - id: p\n    racks:\n      - id: r\n        machines:\n" + content);
}

class BadCluster : public testing::TestWithParam<Fault> {};

TEST_P(BadCluster, is_refused_with_line_and_field) {
  expect_fault(GetParam(), [](const std::string& text) { parse_cluster(text, "c.yaml"); });
}

const Fault kBadText[] = {
    {"empty", "", 0, "", "is empty"},
    {"not_a_map", "- 1\n", 1, "", "expected keys and values"},
    {"broken", "schema: 1\npods: [\n", 3, "", "not valid YAML"},
    {"range_without_quotes",
     "schema: 1\npods: [{id: p, racks: [{id: r, machines: [{ids: b[01-04], class: g}]}]}]\n", 2, "",
     "not valid YAML", "put names with brackets in quotes"},
    {"not_utf8", "schema: 1 # \xff\n", 0, "", "UTF-8"},
    {"no_schema", "pods: []\n", 1, "", "\"schema\" is missing"},
    {"schema_2", "\nschema: 2\n", 2, "schema", "unknown schema \"2\"", "schema 1"},
    {"unknown_key", "schema: 1\npodds: []\n", 2, "podds", "unknown key", "did you mean \"pods\"?"},
    {"unknown_key_far", "schema: 1\nxyzzy: []\n", 2, "xyzzy", "unknown key", "known: schema,"},
    {"repeated_key", "schema: 1\npods: []\npods: []\n", 3, "pods", "given twice"},
    {"pods_no_list", "schema: 1\npods: 3\n", 2, "pods", "expected a list"},
};
INSTANTIATE_TEST_SUITE_P(Text, BadCluster, testing::ValuesIn(kBadText));

const Fault kBadClass[] = {
    {"too_many_gpus", with_class("gpu_type: G2\n    gpus: 65"), 5, "classes.g2.gpus", "at most 64"},
    {"negative", with_class("cpu_milli: -1"), 4, "classes.g2.cpu_milli", "must not be negative"},
    {"absurd", with_class("memory_mib: 1099511627777"), 4, "classes.g2.memory_mib",
     "1099511627777 is more than the largest allowed"},
    {"beyond_64_bits", with_class("cpu_milli: 99999999999999999999"), 4, "classes.g2.cpu_milli",
     "expected a whole number"},
    {"fraction", with_class("cpu_milli: 0.5"), 4, "classes.g2.cpu_milli", "whole number"},
    {"nan", with_class("cpu_milli: .nan"), 4, "classes.g2.cpu_milli", "whole number"},
    {"no_type", with_class("gpus: 8"), 4, "classes.g2", "\"gpu_type\" is missing"},
    {"type_without_gpus", with_class("gpu_type: G2"), 4, "classes.g2.gpu_type", "without GPUs"},
    {"misspelt", with_class("gpu_typ: G2"), 4, "classes.g2.gpu_typ", "unknown key",
     "did you mean \"gpu_type\"?"},
    {"cpus", with_class("cpus: 64"), 4, "classes.g2.cpus", "unknown key",
     "did you mean \"cpu\"?"},
    {"cpu_twice", with_class("cpu: 1\n    cpu_milli: 1000"), 4, "classes.g2.cpu",
     "\"cpu\" and \"cpu_milli\" are both given", "keep one of them"},
    {"cpu_too_fine", with_class("cpu: 0.0005"), 4, "classes.g2.cpu", "in thousandths at the finest"},
    {"cpu_words", with_class("cpu: 64c"), 4, "classes.g2.cpu", "expected cores"},
    {"memory_without_unit", with_class("memory: 64"), 4, "classes.g2.memory",
     "expected a number and its unit: \"512MiB\""},
    {"memory_gb", with_class("memory: 64GB"), 4, "classes.g2.memory", "found \"64GB\""},
    {"memory_not_whole", with_class("memory: 0.3MiB"), 4, "classes.g2.memory", "\"0.3MiB\""},
    {"twice", "schema: 1\nclasses:\n  a: {}\n  b: {}\n  a: {}\n", 5, "classes.a",
     "class \"a\" is given twice", "first on line 3"},
};
INSTANTIATE_TEST_SUITE_P(Class, BadCluster, testing::ValuesIn(kBadClass));

const Fault kBadPlace[] = {
    {"pod_without_id", after_head("  - racks: []\n"), 5, "pods[0]", "\"id\" is missing"},
    {"empty_id", after_head("  - id: \"\"\n"), 5, "pods[0].id", "must not be empty"},
    {"null_id", after_head("  - id:\n"), 5, "pods[0].id", "has no value"},
    {"tab_in_id", after_head("  - id: \"a\\tb\"\n"), 5, "pods[0].id", "control character"},
    {"pod_twice", after_head("  - id: p\n  - id: q\n  - id: p\n"), 7, "pods[2].id",
     "pod \"p\" is given twice", "first on line 5"},
    {"rack_twice",
     after_head("  - {id: p, racks: [{id: r}]}\n  - id: q\n    racks:\n"
                "      - id: r\n"),
     8, "pods[1].racks[0].id", "rack \"r\" is given twice", "first on line 5"},
    {"uplink_negative", after_head("  - id: p\n    uplink_gbps: -1\n"), 6, "pods[0].uplink_gbps",
     "must not be negative"},
    {"uplink_nan", after_head("  - id: p\n    uplink_gbps: nan\n"), 6, "pods[0].uplink_gbps",
     "finite"},
    {"uplink_infinite", after_head("  - id: p\n    uplink_gbps: inf\n"), 6, "pods[0].uplink_gbps",
     "finite"},
    {"queue_twice", "schema: 1\nqueues:\n  - id: q\n  - id: q\n", 4, "queues[1].id",
     "queue \"q\" is given twice"},
    {"quota_negative", "schema: 1\nqueues:\n  - id: q\n    gpu_quota: -5\n", 4,
     "queues[0].gpu_quota", "negative"},
};
INSTANTIATE_TEST_SUITE_P(Place, BadCluster, testing::ValuesIn(kBadPlace));

const Fault kBadMachines[] = {
    {"unknown_class", with_machines("          - {ids: m, class: g3}\n"), 9,
     "pods[0].racks[0].machines[0].class", "unknown class \"g3\"", "did you mean \"g2\"?"},
    {"no_class", with_machines("          - ids: m\n"), 9, "pods[0].racks[0].machines[0]",
     "\"class\" is missing"},
    {"twice",
     with_machines("          - {ids: \"m[0-3]\", class: g2}\n"
                   "          - {ids: m2, class: g2}\n"),
     10, "", "machine \"m2\" is given twice", "first on line 9"},
    {"backwards", with_machines("          - {ids: \"m[3-0]\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "runs backwards"},
    {"braces", with_machines("          - {ids: \"m{01..04}\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "\"{\" is in no name; many machines are \"m[01-32]\""},
    {"dots", with_machines("          - {ids: \"m1..4\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "\"..\" is in no name"},
    {"star", with_machines("          - {ids: \"m[1-2]*\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "\"*\" is in no name"},
    {"comma", with_machines("          - {ids: \"m1,m2\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "\",\" is in no name"},
    {"blank", with_machines("          - {ids: \"m 1\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "\" \" is in no name"},
    {"unclosed", with_machines("          - {ids: \"m[3\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "one pair of brackets"},
    {"widths", with_machines("          - {ids: \"m[00-100]\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "same number of digits"},
    {"letters", with_machines("          - {ids: [x, \"m[a-c]\"], class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids[1]", "expected numbers"},
    {"absurd", with_machines("          - {ids: \"m[0-999999999]\", class: g2}\n"), 9,
     "pods[0].racks[0].machines[0].ids", "more than 16777216 machines"},
};
INSTANTIATE_TEST_SUITE_P(Machines, BadCluster, testing::ValuesIn(kBadMachines));

const Fault kBadSpare[] = {
    {"no_type", with_spare("spare:\n  - {gpus: 1, penalty: 1}\n"), 9, "spare[0]",
     "\"gpu_type\" is missing"},
    {"no_penalty", with_spare("spare:\n  - {gpu_type: H1, gpus: 1}\n"), 9, "spare[0]",
     "\"penalty\" is missing"},
    {"no_amount", with_spare("spare:\n  - {gpu_type: H1, penalty: 1}\n"), 9, "spare[0]",
     "either \"gpus\" or \"percent\""},
    {"two_amounts", with_spare("spare:\n  - {gpu_type: H1, gpus: 1, percent: 5, penalty: 1}\n"), 9,
     "spare[0]", "either \"gpus\" or \"percent\""},
    {"unknown_type", with_spare("spare:\n  - {gpu_type: H2, gpus: 1, penalty: 1}\n"), 9,
     "spare[0].gpu_type", "unknown GPU type \"H2\"", "did you mean"},
    {"unknown_pod", with_spare("spare:\n  - {pod: x, gpu_type: H1, gpus: 1, penalty: 1}\n"), 9,
     "spare[0].pod", "unknown pod \"x\""},
    {"type_not_there", with_spare("spare:\n  - {pod: p, gpu_type: H1, gpus: 1, penalty: 1}\n"), 9,
     "spare[0].pod", "pod \"p\" has no GPUs of type \"H1\""},
    {"too_many", with_spare("spare:\n  - {gpu_type: H1, gpus: 5, penalty: 1}\n"), 9,
     "spare[0].gpus", "more than the pod has", "it has 4"},
    {"percent", with_spare("spare:\n  - {gpu_type: H1, percent: 101, penalty: 1}\n"), 9,
     "spare[0].percent", "more than 100 percent"},
    {"penalty", with_spare("spare:\n  - {gpu_type: H1, gpus: 1, penalty: -1}\n"), 9,
     "spare[0].penalty", "negative"},
    {"twice",
     with_spare("spare:\n  - {gpu_type: H1, gpus: 1, penalty: 1}\n"
                "  - {pod: q, gpu_type: H1, gpus: 2, penalty: 1}\n"),
     10, "spare[1]", "are given twice", "first on line 9"},
};
INSTANTIATE_TEST_SUITE_P(Spare, BadCluster, testing::ValuesIn(kBadSpare));

/// A machine m of 8 GPUs; `rest` begins on line 5.
std::string with_states(const std::string& rest) {
  return "schema: 1\nclasses: {g2: {gpu_type: G2, gpus: 8, cpu_milli: 10}}\n"
         "pods: [{id: p, racks: [{id: r, machines: [{ids: m, class: g2}]}]}]\nmachine_states:\n" +
         rest;
}

TEST(ParseCluster, reads_and_writes_nics_and_slices) {
  const Cluster cluster = parse_cluster(R"(schema: 1
classes:
  a: {gpu_type: A, gpus: 2, nic_mbps: 25000, gpu_slices: 7}
  b: {gpu_type: A, gpus: 2}
  c: {cpu_milli: 1, nic_mbps: 0}
pods: [{id: p, racks: [{id: r, machines: [{ids: m, class: a}, {ids: n, class: b},
                                            {ids: o, class: c}]}]}]
machine_states:
  - {ids: m, used: {nic_mbps: 5000, gpus: [{index: 1, milli: 400}]}}
  - {ids: n, used: {nic_mbps: 5}}
)",
                                        "c.yaml");
  EXPECT_EQ(cluster.classes[0].capacity[model::kNic], 25000);
  EXPECT_EQ(cluster.classes[0].gpu_slices, 7);
  EXPECT_EQ(cluster.classes[1].capacity[model::kNic], model::kNoLimit);
  EXPECT_EQ(cluster.classes[1].gpu_slices, 0);
  EXPECT_EQ(cluster.classes[2].capacity[model::kNic], 0);
  const model::FreeMachine m(cluster, MachineId(0));
  EXPECT_EQ(m.resources()[model::kNic], 20000);
  EXPECT_EQ(m.devices()[1], 1000 - 428);  // 3 of 7 slices cover 400 thousandths
  EXPECT_EQ(model::FreeMachine(cluster, MachineId(1)).resources()[model::kNic], model::kNoLimit);
  EXPECT_EQ(digest(parse_cluster(cluster_text(cluster), "again.yaml")), digest(cluster));
  Cluster other = cluster;
  other.classes[0].gpu_slices = 6;
  EXPECT_NE(digest(other), digest(cluster));
  other.classes[0] = cluster.classes[0];
  other.classes[0].capacity[model::kNic] = 25001;
  EXPECT_NE(digest(other), digest(cluster));
}

const Fault kBadLimits[] = {
    {"slices_without_gpus", "schema: 1\nclasses:\n  c: {gpu_slices: 7}\n", 3,
     "classes.c.gpu_slices", "without GPUs"},
    {"no_slices", "schema: 1\nclasses:\n  c: {gpu_type: A, gpus: 1, gpu_slices: 0}\n", 3,
     "classes.c.gpu_slices", "a GPU has 1 to 31", "shares may have any size"},
    {"many_slices", "schema: 1\nclasses:\n  c: {gpu_type: A, gpus: 1, gpu_slices: 32}\n", 3,
     "classes.c.gpu_slices", "32 slices"},
    {"nic_negative", "schema: 1\nclasses:\n  c: {nic_mbps: -1}\n", 3, "classes.c.nic_mbps",
     "must not be negative"},
    {"too_much_nic",
     "schema: 1\nclasses: {c: {nic_mbps: 10}}\n"
     "pods: [{id: p, racks: [{id: r, machines: [{ids: m, class: c}]}]}]\n"
     "machine_states: [{ids: m, used: {nic_mbps: 11}}]\n",
     4, "machine_states[0].ids", "has less than \"used\" takes"},
    {"slices_over_full",
     "schema: 1\nclasses: {c: {gpu_type: A, gpus: 1, gpu_slices: 2}}\n"
     "pods: [{id: p, racks: [{id: r, machines: [{ids: m, class: c}]}]}]\n"
     "machine_states: [{ids: m, used: {gpus: [{index: 0, milli: 300}, {index: 0, milli: 200},\n"
     "  {index: 0, milli: 1}]}}]\n",
     4, "machine_states[0].ids", "has less than \"used\" takes"},
};
INSTANTIATE_TEST_SUITE_P(Limits, BadCluster, testing::ValuesIn(kBadLimits));

const Fault kBadStates[] = {
    {"unknown_machine", with_states("  - {ids: n, state: drained}"), 5, "machine_states[0].ids",
     "unknown machine \"n\""},
    {"unknown_state", with_states("  - {ids: m, state: draining}"), 5, "machine_states[0].state",
     "unknown state", "drained"},
    {"twice", with_states("  - {ids: m, state: drained}\n  - {ids: m, state: up}"), 6,
     "machine_states[1].ids", "given twice", "first on line 5"},
    {"twice_by_rack", with_states("  - {ids: m, state: drained}\n  - {ids: r, state: up}"), 6,
     "machine_states[1].ids", "machine \"m\" is given twice", "first on line 5"},
    {"twice_by_pod", with_states("  - {ids: [r, p], state: drained}"), 5,
     "machine_states[0].ids[1]", "machine \"m\" is given twice", "first on line 5"},
    {"too_much_cpu", with_states("  - {ids: m, used: {cpu_milli: 11}}"), 5, "machine_states[0].ids",
     "has less than \"used\" takes"},
    {"no_such_device", with_states("  - {ids: m, used: {gpus: [{index: 8}]}}"), 5,
     "machine_states[0].ids", "has less than \"used\" takes"},
    {"device_over_full",
     with_states("  - {ids: m, used: {gpus: [{index: 1, milli: 600}, {index: 1, milli: 600}]}}"), 5,
     "machine_states[0].ids", "has less than \"used\" takes"},
    {"parent_later", "schema: 1\nqueues:\n  - {id: a, parent: b}\n  - {id: b}\n", 3,
     "queues[0].parent", "unknown queue \"b\"", "a parent comes before"},
    {"own_parent", "schema: 1\nqueues:\n  - {id: a, parent: a}\n", 3, "queues[0].parent",
     "unknown queue \"a\""},
    {"penalty_without_quota", "schema: 1\nqueues:\n  - {id: a, over_quota_penalty: 1}\n", 3,
     "queues[0].over_quota_penalty", "never over it"},
};
INSTANTIATE_TEST_SUITE_P(States, BadCluster, testing::ValuesIn(kBadStates));

}  // namespace
}  // namespace berth::io
