// SPDX-License-Identifier: Apache-2.0
// Every key of docs/formats.md does what the page says: the plan with it differs from the plan
// without it (or with another value) as promised.
#include "toy_plan.hpp"
#include "with_petsc.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth::pipeline {
namespace {

struct Key {
  const char* name;
  std::string cluster, jobs;         ///< one of them has `$`
  const char *one, *other;           ///< texts for it
  const char *plan, *plan_of_other;  ///< "job@machine,machine job@machine = objective"
};

/// One rack of machines m0, m1, ... with 8 GPUs of type A. @param more  of the class
std::string rack(int machines, const std::string& more = "", const std::string& end = "") {
  return fmt::format(
      "{{schema: 1, classes: {{g: {{gpu_type: A, gpus: 8, cpu_milli: 8000, memory_mib: 800{}}}}},\n"
      "pods: [{{id: p, racks: [{{id: r, machines: [{{ids: \"m[0-{}]\", class: g}}]}}]}}]{}}}",
      more, machines - 1, end);
}

/// Machines of their own, m0 and m1, in racks r0 and r1. @param pods  1 or 2
std::string racks(int pods, const std::string& of_m1 = "gpu_type: A, gpus: 8",
                  const std::string& of_r1 = "", const std::string& of_p1 = "") {
  return fmt::format(
      "{{schema: 1, classes: {{g: {{gpu_type: A, gpus: 8}}, h: {{{}}}}},\n"
      "pods: [{{id: p0, racks: [{{id: r0, machines: [{{ids: m0, class: g}}]}}{}\n"
      "{{id: r1{}, machines: [{{ids: m1, class: h}}]}}]{}}}]}}",
      of_m1, pods == 1 ? "," : "]},\n{id: p1, racks: [", of_r1, of_p1);
}

const std::string kEight = R"({"id":"a","tasks":[{"gpus":8}]})";
const std::string kTwo = kEight + "\n" + R"({"id":"b","tasks":[{"gpus":8}]$})";
const std::string kInQueue = R"({"id":"a","queue":"q","tasks":[{"gpus":8}]})"
                             "\n"
                             R"({"id":"b","queue":"q","tasks":[{"gpus":8}]})";
const std::string kGang = R"({"id":"a","tasks":[{"count":2,"gpus":8}]$})";
const std::string kDraws = R"({"id":"a","tasks":[{"count":2,"gpus":8,"power_w":800}]})";
const std::string kRing = R"({"id":"a","tasks":[{"count":2,"gpus":8}],)"
                          R"("communication":{"pattern":"ring","gbps":10}})";

/// `count` jobs a, b, ... with this as the only task.
std::string jobs(int count, const std::string& task) {
  std::string text;
  for (int j = 0; j < count; ++j) {
    text += fmt::format("{{\"id\":\"{}\",\"tasks\":[{{{}}}]}}\n", static_cast<char>('a' + j), task);
  }
  return text;
}

const std::vector<Key> kOfClusters{
    {"gpu_type", racks(1, "gpu_type: $, gpus: 8"),
     R"({"id":"a","gpu_types":["B"],"tasks":[{"gpus":8}]})", "A", "B", "= 0", "a@m1 = 8"},
    {"gpus", racks(1, "gpu_type: A, gpus: $"), jobs(1, R"("gpus":9)"), "8", "9", "= 0", "a@m1 = 9"},
    {"cpu_milli", racks(1, "gpu_type: A, gpus: 8$"), jobs(1, R"("gpus":8,"cpu_milli":1000)"), "",
     ", cpu_milli: 1000", "= 0", "a@m1 = 8"},
    {"memory_mib", racks(1, "gpu_type: A, gpus: 8$"), jobs(1, R"("gpus":8,"memory_mib":10)"), "",
     ", memory_mib: 10", "= 0", "a@m1 = 8"},
    {"nic_mbps", rack(1, "$"), jobs(2, R"("gpus":4,"nic_mbps":60)"), "", ", nic_mbps: 100",
     "a@m0 b@m0 = 8", "a@m0 = 4"},
    {"nic_mbps of 0", rack(1, "$"), jobs(1, R"("gpus":4,"nic_mbps":1)"), "", ", nic_mbps: 0",
     "a@m0 = 4", "= 0"},
    {"power_w", rack(1, "$"), jobs(2, R"("gpus":4,"power_w":60)"), "", ", power_w: 100",
     "a@m0 b@m0 = 8", "a@m0 = 4"},
    {"power_w of 0", rack(1, "$"), jobs(1, R"("gpus":4,"power_w":1)"), "", ", power_w: 0",
     "a@m0 = 4", "= 0"},
    {"gpu_slices",
     "{schema: 1, classes: {g: {gpu_type: A, gpus: 1$}}, pods: [{id: p, racks: "
     "[{id: r, machines: [{ids: m0, class: g}]}]}]}",
     jobs(2, R"("gpu_milli":500)"), "", ", gpu_slices: 1", "a@m0 b@m0 = 1", "a@m0 = 0.5"},
    {"uplink_gbps of a rack", racks(1, "gpu_type: A, gpus: 8", "$"), kRing, "", ", uplink_gbps: 9",
     "a@m0,m1 = 16", "= 0"},
    {"uplink_gbps of a pod", racks(2, "gpu_type: A, gpus: 8", "", "$"), kRing, "",
     ", uplink_gbps: 9", "a@m0,m1 = 16", "= 0"},
    {"power_w of a rack", racks(1, "gpu_type: A, gpus: 8", "$"), kDraws, "", ", power_w: 799.9",
     "a@m0,m1 = 16", "= 0"},
    {"power_w of a pod", racks(2, "gpu_type: A, gpus: 8", "", "$"), kDraws, ", power_w: 800",
     ", power_w: 799", "a@m0,m1 = 16", "= 0"},
    {"power_w of a rack, beside used content",
     "{schema: 1, classes: {g: {gpu_type: A, gpus: 8}}, pods: [{id: p, racks: [{id: r, power_w: "
     "800,"
     " machines: [{ids: m0, class: g}]}]}], machine_states: [{ids: m0, used: {power_w: $}}]}",
     jobs(1, R"("gpus":8,"power_w":790)"), "10", "11", "a@m0 = 8", "= 0"},
    {"machines[].class",
     "{schema: 1, classes: {g: {gpu_type: A, gpus: 8}, c: {cpu_milli: 1}}, "
     "pods: [{id: p, racks: [{id: r, machines: [{ids: m0, class: $}]}]}]}",
     kEight, "c", "g", "= 0", "a@m0 = 8"},
    {"gpu_quota", rack(2, "", ", queues: [{id: q$}]"), kInQueue, "", ", gpu_quota: 8",
     "a@m0 b@m1 = 16", "a@m0 = 8"},
    {"parent", rack(2, "", ", queues: [{id: all, gpu_quota: 8}, {id: q$}]"), kInQueue, "",
     ", parent: all", "a@m0 b@m1 = 16", "a@m0 = 8"},
    {"over_quota_penalty", rack(2, "", ", queues: [{id: q, gpu_quota: 8$}]"), kInQueue, "",
     ", over_quota_penalty: 0.25", "a@m0 = 8", "a@m0 b@m1 = 14"},
    {"state drained", rack(1, "", ", machine_states: [{ids: m0$}]"), kEight, "", ", state: drained",
     "a@m0 = 8", "= 0"},
    {"state drain: a running job moves at the move cost",
     rack(2, "", ", machine_states: [{ids: m0, state: $}]"),
     R"({"id":"a","tasks":[{"gpus":8}],"running":{"tasks":[{"machine":"m0","gpus":[)"
     R"({"index":0},{"index":1},{"index":2},{"index":3},{"index":4},{"index":5},{"index":6},)"
     R"({"index":7}]}],"move_cost":3,"stop_cost":1}})",
     "up", "drain", "a@m0 = 8", "a@m1 = 5"},
    {"state drain: a running job stops at the stop cost",
     rack(1, "", ", machine_states: [{ids: m0, state: $}]"),
     R"({"id":"a","tasks":[{"gpus":1}],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}],)"
     R"("stop_cost":2}})",
     "up", "drain", "a@m0 = 1", "= -2"},
    {"state reserved", rack(1, "", ", machine_states: [{ids: m0, state: $}]"), kEight, "up",
     "reserved", "a@m0 = 8", "= 0"},
    {"the name of a rack in machine_states",
     racks(2, "gpu_type: A, gpus: 8", "", "").substr(0, racks(2).size() - 1) +
         ", machine_states: [{ids: $, state: drained}]}",
     kEight, "r1", "r0", "a@m0 = 8", "a@m1 = 8"},
    {"the name of a pod in machine_states",
     racks(2).substr(0, racks(2).size() - 1) + ", machine_states: [{ids: $, state: drained}]}",
     kEight, "p1", "p0", "a@m0 = 8", "a@m1 = 8"},
    {"used.gpus", rack(1, "", ", machine_states: [{ids: m0, used: {$}}]"), kEight, "",
     "gpus: [{index: 0}]", "a@m0 = 8", "= 0"},
    {"used.gpus[].milli",
     rack(1, "", ", machine_states: [{ids: m0, used: {gpus: [{index: 3, milli: $}]}}]"),
     jobs(1, R"("gpus":7)") + R"({"id":"b","tasks":[{"gpu_milli":400}]})", "600", "601",
     "a@m0 b@m0 = 7.4", "a@m0 = 7"},
    {"used.cpu_milli", rack(1, "", ", machine_states: [{ids: m0, used: {cpu_milli: $}}]"),
     jobs(1, R"("gpus":1,"cpu_milli":5000)"), "3000", "3001", "a@m0 = 1", "= 0"},
    {"used.memory_mib", rack(1, "", ", machine_states: [{ids: m0, used: {memory_mib: $}}]"),
     jobs(1, R"("gpus":1,"memory_mib":500)"), "300", "301", "a@m0 = 1", "= 0"},
    {"used.nic_mbps",
     rack(1, ", nic_mbps: 10", ", machine_states: [{ids: m0, used: {nic_mbps: $}}]"),
     jobs(1, R"("gpus":1,"nic_mbps":5)"), "5", "6", "a@m0 = 1", "= 0"},
    {"used.power_w", rack(1, ", power_w: 10", ", machine_states: [{ids: m0, used: {power_w: $}}]"),
     jobs(1, R"("gpus":1,"power_w":5)"), "5", "6", "a@m0 = 1", "= 0"},
};

const std::vector<Key> kOfJobs{
    {"tasks[].count", rack(1), R"({"id":"a","tasks":[{"count":$,"gpus":4}]})", "2", "3",
     "a@m0,m0 = 8", "= 0"},
    {"tasks[].gpus", rack(1), jobs(1, R"("gpus":$)"), "8", "9", "a@m0 = 8", "= 0"},
    {"tasks[].gpu_milli", rack(1), jobs(9, R"("gpu_milli":$)"), "500", "1000",
     "a@m0 b@m0 c@m0 d@m0 e@m0 f@m0 g@m0 h@m0 i@m0 = 4.5",
     "a@m0 b@m0 c@m0 d@m0 e@m0 f@m0 g@m0 h@m0 = 8"},
    {"tasks[].cpu_milli", rack(1), jobs(2, R"("gpus":1,"cpu_milli":$)"), "4000", "4001",
     "a@m0 b@m0 = 2", "a@m0 = 1"},
    {"tasks[].memory_mib", rack(1), jobs(2, R"("gpus":1,"memory_mib":$)"), "400", "401",
     "a@m0 b@m0 = 2", "a@m0 = 1"},
    {"tasks[].nic_mbps", rack(1, ", nic_mbps: 10"), jobs(2, R"("gpus":1,"nic_mbps":$)"), "5", "6",
     "a@m0 b@m0 = 2", "a@m0 = 1"},
    {"tasks[].power_w", rack(1, ", power_w: 10"), jobs(2, R"("gpus":1,"power_w":$)"), "5", "6",
     "a@m0 b@m0 = 2", "a@m0 = 1"},
    {"arrival", rack(1),
     R"({"id":"a","arrival":$,"tasks":[{"gpus":8}]})"
     "\n"
     R"({"id":"b","arrival":5,"tasks":[{"gpus":8}]})",
     "5", "6", "a@m0 = 8", "b@m0 = 8"},
    {"queue", rack(1, "", ", queues: [{id: q, gpu_quota: 0}]"),
     R"({"id":"a","tasks":[{"gpus":8}]$})", "", R"(,"queue":"q")", "a@m0 = 8", "= 0"},
    {"priority", rack(1), kTwo, "", R"(,"priority":1)", "a@m0 = 8", "b@m0 = 8"},
    {"priority below 0", rack(1),
     R"({"id":"a"$,"tasks":[{"gpus":8}]})"
     "\n"
     R"({"id":"b","tasks":[{"gpus":8}]})",
     "", R"(,"priority":-1)", "a@m0 = 8", "b@m0 = 8"},
    {"weight", rack(1), kTwo, "", R"(,"weight":1.5)", "a@m0 = 8", "b@m0 = 12"},
    {"value", rack(1), kTwo, "", R"(,"value":9)", "a@m0 = 8", "b@m0 = 9"},
    {"value instead of weight", rack(1), kTwo, R"(,"weight":9)", R"(,"weight":9,"value":7)",
     "b@m0 = 72", "a@m0 = 8"},
    {"required", rack(1), kTwo, R"(,"weight":0.5)", R"(,"weight":0.5,"required":true)", "a@m0 = 8",
     "b@m0 = 4"},
    {"gpu_types", racks(1, "gpu_type: B, gpus: 8"),
     R"({"id":"a","speed":{"A":2},"tasks":[{"gpus":8}]$})", "", R"(,"gpu_types":["B"])",
     "a@m0 = 16", "a@m1 = 8"},
    {"speed", racks(1, "gpu_type: B, gpus: 8"),
     R"({"id":"a","speed":{"A":1.5$},"tasks":[{"gpus":8}]})", "", R"(,"B":2)", "a@m0 = 12",
     "a@m1 = 16"},
    {"domain machine", rack(2), kGang, "", R"(,"domain":"machine")", "a@m0,m1 = 16", "= 0"},
    {"domain rack", racks(1), kGang, "", R"(,"domain":"rack")", "a@m0,m1 = 16", "= 0"},
    {"domain pod", racks(2), kGang, "", R"(,"domain":"pod")", "a@m0,m1 = 16", "= 0"},
    {"home.pod", racks(2),
     R"({"id":"a","home":{"pod":"$","factor":{"cluster":0.5}},"tasks":[{"gpus":8}]})", "p0", "p1",
     "a@m0 = 8", "a@m1 = 8"},
    {"home.rack", racks(1),
     R"({"id":"a","home":{"rack":"$","factor":{"pod":0.5}},"tasks":[{"gpus":8}]})", "r0", "r1",
     "a@m0 = 8", "a@m1 = 8"},
    {"home.factor.cluster", racks(2, "gpu_type: A, gpus: 4"),
     R"({"id":"a","home":{"pod":"p1"$},"tasks":[{"gpus":8}]})", "", R"(,"factor":{"cluster":0.5})",
     "a@m0 = 8", "a@m0 = 4"},
    {"home.factor.pod", racks(1, "gpu_type: A, gpus: 4"),
     R"({"id":"a","home":{"rack":"r1"$},"tasks":[{"gpus":8}]})", "", R"(,"factor":{"pod":0.5})",
     "a@m0 = 8", "a@m0 = 4"},
    {"home.factor.rack", rack(1), R"({"id":"a","home":{"rack":"r"$},"tasks":[{"gpus":8}]})", "",
     R"(,"factor":{"rack":0.5})", "a@m0 = 8", "a@m0 = 4"},
    {"width factor of a machine", rack(1), R"({"id":"a","tasks":[{"count":2,"gpus":4}]$})", "",
     R"(,"spread":{"machine":0.5})", "a@m0,m0 = 8", "a@m0,m0 = 4"},
    {"width factor of a rack", rack(2), kGang, "", R"(,"spread":{"rack":0.5})", "a@m0,m1 = 16",
     "a@m0,m1 = 8"},
    {"width factor of a pod", racks(1), kGang, "", R"(,"spread":{"pod":0.5})", "a@m0,m1 = 16",
     "a@m0,m1 = 8"},
    {"width factor of the cluster", racks(2), kGang, "", R"(,"spread":{"cluster":0.5})",
     "a@m0,m1 = 16", "a@m0,m1 = 8"},
    {"communication ring", racks(1, "gpu_type: A, gpus: 8", ", uplink_gbps: 9"), kGang, "",
     R"(,"communication":{"pattern":"ring","gbps":10})", "a@m0,m1 = 16", "= 0"},
    {"communication ps", racks(1, "gpu_type: A, gpus: 8", ", uplink_gbps: 9"),
     R"({"id":"a","tasks":[{"shape":"w","gpus":8},{"shape":"s","gpus":8}]$})", "",
     R"(,"communication":{"pattern":"ps","gbps":10,"servers":"s"})", "a@m0,m1 = 16", "= 0"},
    {"running", rack(2), R"({"id":"a","value":8,"tasks":[{"gpus":1}]$})", "",
     R"(,"running":{"tasks":[{"machine":"m1","gpus":[{"index":0}]}],"move_cost":1})", "a@m0 = 8",
     "a@m1 = 8"},
    {"running.pinned", rack(1),
     R"({"id":"a","value":8,"tasks":[{"gpus":1}],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]$}})"
     "\n"
     R"({"id":"b","weight":2,"tasks":[{"gpus":8}]})",
     "", R"(,"pinned":true)", "b@m0 = 16", "= 0"},
    {"running.stop_cost", rack(1),
     R"({"id":"a","value":8,"tasks":[{"gpus":1}],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]$}})"
     "\n"
     R"({"id":"b","weight":2,"tasks":[{"gpus":8}]})",
     R"(,"stop_cost":7)", R"(,"stop_cost":9)", "b@m0 = 9", "a@m0 = 8"},
    {"running.move_cost", racks(1, "gpu_type: B, gpus: 8"),
     R"({"id":"a","value":8,"speed":{"B":2},"tasks":[{"gpus":1}],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]$}})",
     R"(,"move_cost":7)", R"(,"move_cost":9)", "a@m1 = 9", "a@m0 = 8"},
};

/// Two racks of two machines each, m0 .. m3, with 8 GPUs of type A; r0 and r1 in pods p0 and p1.
const std::string kFour =
    "{schema: 1, classes: {g: {gpu_type: A, gpus: 8}},\n"
    "pods: [{id: p0, racks: [{id: r0, machines: [{ids: \"m[0-1]\", class: g}]}]},\n"
    "{id: p1, racks: [{id: r1, machines: [{ids: \"m[2-3]\", class: g}]}]}]}";

/// A gang of 4 tasks that prefers one machine, then one rack, then one pod.
const std::string kFourTasks = R"({"id":"a","tasks":[{"count":4,"gpus":1}],)"
                               R"("width_factor":{"rack":0.75,"pod":0.5,"cluster":0.25}$})";

/// Jobs a and b of one GPU each, on one machine or two.
std::string pair(const std::string& of_a, const std::string& of_b) {
  return R"({"id":"a","tasks":[{"gpus":1}])" + of_a + "}\n" + R"({"id":"b","tasks":[{"gpus":1}])" +
         of_b + "}";
}

const std::vector<Key> kOfRules{
    {"max_tasks_per.machine", kFour, kFourTasks, "", R"(,"max_tasks_per":{"machine":3})",
     "a@m0,m0,m0,m0 = 4", "a@m0,m0,m0,m1 = 3"},
    {"max_tasks_per.rack", kFour, kFourTasks, "", R"(,"max_tasks_per":{"rack":3})",
     "a@m0,m0,m0,m0 = 4", "a@m0,m0,m0,m2 = 1"},
    {"max_tasks_per.pod", kFour, kFourTasks, "", R"(,"max_tasks_per":{"pod":2})",
     "a@m0,m0,m0,m0 = 4", "a@m0,m0,m2,m2 = 1"},
    {"max_tasks_per.pod that no plan keeps", kFour, kFourTasks, R"(,"max_tasks_per":{"pod":1})",
     R"(,"max_tasks_per":{"pod":4})", "= 0", "a@m0,m0,m0,m0 = 4"},
    {"min_domains.machine", kFour, kFourTasks, "", R"(,"min_domains":{"machine":2})",
     "a@m0,m0,m0,m0 = 4", "a@m0,m0,m0,m1 = 3"},
    {"min_domains.machine, more than a rack has", kFour, kFourTasks, "",
     R"(,"min_domains":{"machine":3})", "a@m0,m0,m0,m0 = 4", "a@m0,m0,m1,m2 = 1"},
    {"min_domains.rack", kFour, kFourTasks, "", R"(,"min_domains":{"rack":2})", "a@m0,m0,m0,m0 = 4",
     "a@m0,m0,m0,m2 = 1"},
    {"min_domains.pod", kFour, kFourTasks, R"(,"min_domains":{"pod":2})",
     R"(,"min_domains":{"pod":3})", "a@m0,m0,m0,m2 = 1", "= 0"},
    {"exclusive", rack(2), pair("$", ""), "", R"(,"exclusive":"machine")", "a@m0 b@m0 = 2",
     "a@m0 b@m1 = 2"},
    {"exclusive where there is one machine", rack(1), pair(R"(,"weight":2)", "$"), "",
     R"(,"exclusive":"machine")", "a@m0 b@m0 = 3", "a@m0 = 2"},
    {"exclusive and worth more", rack(1), pair("", R"(,"weight":2$)"), "",
     R"(,"exclusive":"machine")", "a@m0 b@m0 = 3", "b@m0 = 2"},
    {"exclusive beside a pinned job", rack(1),
     pair(R"(,"running":{"pinned":true,"tasks":[{"machine":"m0","gpus":[{"index":0}]}]})", "$"), "",
     R"(,"exclusive":"machine")", "b@m0 = 1", "= 0"},
    {"not_with", rack(2), pair(R"(,"labels":["x"])", R"(,"not_with":["$"])"), "y", "x",
     "a@m0 b@m0 = 2", "a@m0 b@m1 = 2"},
    {"not_with where there is one machine", rack(1),
     pair(R"(,"labels":["x"])", R"(,"weight":2,"not_with":["$"])"), "y", "x", "a@m0 b@m0 = 3",
     "b@m0 = 2"},
    {"labels", rack(1), pair(R"(,"not_with":["x"])", R"(,"weight":2$)"), R"(,"labels":["y"])",
     R"(,"labels":["y","x"])", "a@m0 b@m0 = 3", "b@m0 = 2"},
};

const std::string kStaysEight = R"({"id":"a","tasks":[{"gpus":8}]$})"
                                "\n"
                                R"({"id":"b","weight":0.5,"tasks":[{"gpus":8}]})";

/// Of plans with a horizon; a plan of one moment is the same without them.
const std::vector<Key> kOfTimes{
    {"duration, with which speed is no value", rack(1),
     R"({"id":"a","speed":{"A":2},"tasks":[{"gpus":8}]$})", "", R"(,"duration":60)", "a@m0 = 16",
     "a@m0 = 16"},
    {"not_before", rack(1), kStaysEight, "", R"(,"not_before":99)", "a@m0 = 8", "a@m0 = 8"},
    {"limit and deadline", rack(1), kStaysEight, "", R"(,"limit":9,"deadline":10)", "a@m0 = 8",
     "a@m0 = 8"},
    {"after", rack(1), kStaysEight, "", R"(,"after":["b"])", "a@m0 = 8", "a@m0 = 8"},
    {"utility", rack(1), kStaysEight, "", R"(,"limit":9,"utility":{"steps":[[0,0.1]]})", "a@m0 = 8",
     "a@m0 = 8"},
    {"configurations", rack(1), kStaysEight, "",
     R"(,"configurations":[{"counts":{"task":2},"value":99}])", "a@m0 = 8", "a@m0 = 8"},
    {"preemptible", rack(1), kStaysEight, "",
     R"(,"preemptible":true,"checkpoint_every":5,"restart_cost":5)", "a@m0 = 8", "a@m0 = 8"},
    {"windows", rack(1, "", "$"), kEight, "",
     ", windows: [{machines: m0, from: 0, to: 99, kind: maintenance}]", "a@m0 = 8", "a@m0 = 8"},
    {"gpu_hours", rack(2, "", ", queues: [{id: q$}]"), kInQueue, "", ", gpu_hours: 0",
     "a@m0 b@m1 = 16", "a@m0 b@m1 = 16"},
    {"deadline of a drain", rack(2, "", ", machine_states: [{ids: m0, state: drain$}]"),
     R"({"id":"a","value":8,"tasks":[{"gpus":1}],"running":{"tasks":[)"
     R"({"machine":"m0","gpus":[{"index":0}]}],"move_cost":3,"since":5}})",
     "", ", deadline: 99", "a@m1 = 5", "a@m1 = 5"},
};

std::string words(const test::ToyPlan& plan) {
  std::string text;
  for (const auto& [job, machines] : plan.machines) {
    text += job + "@" + fmt::format("{}", fmt::join(machines, ",")) + " ";
  }
  return text + fmt::format("= {:.6g}", plan.objective);
}

std::string filled(std::string text, const std::string& into) {
  for (auto at = text.find('$'); at != std::string::npos; at = text.find('$', at + into.size())) {
    text.replace(at, 1, into);
  }
  return text;
}

class Keys : public berth::test::WithPetsc<> {
 protected:
  static void expect_plans(const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      SCOPED_TRACE(key.name);
      for (const auto& [text, plan] :
           {std::pair{key.one, key.plan}, std::pair{key.other, key.plan_of_other}}) {
        EXPECT_EQ(words(test::toy_plan(filled(key.cluster, text), filled(key.jobs, text))), plan);
      }
    }
  }
};

TEST_F(Keys, of_clusters_do_what_the_page_says) { expect_plans(kOfClusters); }
TEST_F(Keys, of_jobs_do_what_the_page_says) { expect_plans(kOfJobs); }
TEST_F(Keys, of_times_change_no_plan_of_one_moment) { expect_plans(kOfTimes); }
TEST_F(Keys, of_rules_about_machines_do_what_the_page_says) { expect_plans(kOfRules); }

}  // namespace
}  // namespace berth::pipeline
