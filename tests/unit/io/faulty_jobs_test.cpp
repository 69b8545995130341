// SPDX-License-Identifier: Apache-2.0
// Jobs files with an error: each is refused with line and field.
#include "faults.hpp"
#include "two_type_jobs.hpp"

#include <string>

#include <gtest/gtest.h>

namespace berth::io {
namespace {

using test::with_jobs;

/// The fault is on line 3, after a valid job and a blank line.
std::string third(const std::string& line) {
  return R"({"id":"first","tasks":[{"gpus":1}]})"
         "\n\n" +
         line + "\n";
}
std::string job(const std::string& members) {
  return third(R"({"id":"j","tasks":[{"gpus":1}],)" + members + "}");
}
std::string task(const std::string& members) {
  return third(R"({"id":"j","tasks":[{"gpus":1},{"shape":"w",)" + members + "}]}");
}

class BadJobs : public testing::TestWithParam<Fault> {};

TEST_P(BadJobs, are_refused_with_line_and_field) { expect_fault(GetParam(), with_jobs); }

const Fault kBadLines[] = {
    {"cut", third(R"({"id":"j","tasks":[{"gpus":1})"), 3, "", "not valid JSON"},
    {"tail", third(R"({"id":"j","tasks":[{"gpus":1}]} {})"), 3, "", "not valid JSON"},
    {"many_lines", "{\n\"id\":\"j\"}\n", 1, "", "not valid JSON", "one whole job a line"},
    {"not_utf8", third("{\"id\":\"\xff\",\"tasks\":[{}]}"), 3, "", "UTF-8"},
    {"nan", job(R"("weight":NaN)"), 3, "", "not valid JSON"},
    {"infinite", job(R"("weight":1e999)"), 3, "", "not valid JSON"},
    {"list", third("[1]"), 3, "", "expected an object"},
    {"comment", third("# evening jobs"), 3, "", "a comment", "remove the line"},
    {"deep", third(std::string(5000, '[')), 3, "", "not valid JSON"},
    {"no_id", third(R"({"tasks":[{"gpus":1}]})"), 3, "id", "is missing"},
    {"empty_id", third(R"({"id":"","tasks":[{"gpus":1}]})"), 3, "id", "empty"},
    {"number_id", third(R"({"id":7,"tasks":[{"gpus":1}]})"), 3, "id", "expected text"},
    {"tab_id", third(R"({"id":"a\tb","tasks":[{"gpus":1}]})"), 3, "id", "control character"},
    {"twice", third(R"({"id":"first","tasks":[{"gpus":1}]})"), 3, "id",
     "job \"first\" is given twice", "first on line 1"},
    {"key_twice", job(R"("weight":1,"weight":2)"), 3, "weight", "given twice"},
    {"unknown_key", job(R"("wieght":1)"), 3, "wieght", "unknown key", "did you mean \"weight\"?"},
};
INSTANTIATE_TEST_SUITE_P(Lines, BadJobs, testing::ValuesIn(kBadLines));

const Fault kBadTasks[] = {
    {"none", third(R"({"id":"j"})"), 3, "tasks", "is missing"},
    {"empty", third(R"({"id":"j","tasks":[]})"), 3, "tasks", "at least one task"},
    {"no_list", third(R"({"id":"j","tasks":{}})"), 3, "tasks", "expected a list"},
    {"negative_nic", task(R"("nic_mbps":-1)"), 3, "tasks[1].nic_mbps", "must not be negative"},
    {"negative_gpus", task(R"("gpus":-1)"), 3, "tasks[1].gpus", "must not be negative, found -1"},
    {"absurd_gpus", task(R"("gpus":1000001)"), 3, "tasks[1].gpus", "at most 1000000"},
    {"count_0", task(R"("count":0)"), 3, "tasks[1].count", "at least 1"},
    {"count_negative", task(R"("count":-4)"), 3, "tasks[1].count", "negative"},
    {"count_absurd", task(R"("count":1000001)"), 3, "tasks[1].count", "at most 1000000"},
    {"cpu_absurd", task(R"("cpu_milli":1099511627777)"), 3, "tasks[1].cpu_milli", "at most"},
    {"cpu_beyond", task(R"("cpu_milli":18446744073709551615)"), 3, "tasks[1].cpu_milli",
     "at most 1099511627776, found 18446744073709551615"},
    {"fraction", task(R"("gpus":0.5)"), 3, "tasks[1].gpus", "expected a whole number, found 0.5"},
    {"text", task(R"("gpus":"2")"), 3, "tasks[1].gpus", "expected a number"},
    {"share_above_1", task(R"("gpu_milli":1001)"), 3, "tasks[1].gpu_milli", "at most 1000",
     "\"gpus\""},
    {"gpus_and_share", task(R"("gpus":1,"gpu_milli":500)"), 3, "tasks[1]", "\"gpu_milli\"",
     "whole GPUs or one share"},
    {"mem", task(R"("mem":1)"), 3, "tasks[1].mem", "unknown key", "did you mean \"memory\"?"},
    {"memory", task(R"("memory":1)"), 3, "tasks[1].memory", "a number and its unit"},
    {"memory_unit", task(R"("memory":"1.5TB")"), 3, "tasks[1].memory", "\"1.5TiB\""},
    {"memory_twice", task(R"("memory":"1GiB","memory_mib":1024)"), 3, "tasks[1]",
     "\"memory\" and \"memory_mib\" are both given", "keep one of them"},
    {"cpu_negative", task(R"("cpu":-1)"), 3, "tasks[1].cpu", "expected cores"},
    {"cpu_text", task(R"("cpu":"8")"), 3, "tasks[1].cpu", "expected a number"},
    {"misspelt", task(R"("gpu":1)"), 3, "tasks[1].gpu", "unknown key", "did you mean \"gpus\"?"},
    {"same_label", third(R"({"id":"j","tasks":[{"gpus":1},{"gpus":2}]})"), 3, "tasks[1]",
     "two task groups are called \"task\"", "\"shape\""},
};
INSTANTIATE_TEST_SUITE_P(Tasks, BadJobs, testing::ValuesIn(kBadTasks));

const Fault kBadMembers[] = {
    {"queue", job(R"("queue":"reserch")"), 3, "queue", "unknown queue \"reserch\"",
     "did you mean \"research\"?"},
    {"home_rack", job(R"("home":{"rack":"rock-1"})"), 3, "home.rack", "unknown rack \"rock-1\"",
     "did you mean \"rack-1\"?"},
    {"home_pod", job(R"("home":{"pod":"pod-9"})"), 3, "home.pod", "unknown pod", "pod-0"},
    {"home_both", job(R"("home":{"pod":"pod-0","rack":"rack-0"})"), 3, "home", "rack and a pod"},
    {"home_none", job(R"("home":{})"), 3, "home", "neither"},
    {"home_factor_above_1", job(R"("home":{"rack":"rack-0","factor":{"rack":1.5}})"), 3,
     "home.factor.rack", "at most 1"},
    {"home_factor_rises", job(R"("home":{"rack":"rack-0","factor":{"pod":0.5,"cluster":0.6}})"), 3,
     "home.factor", "cluster 0.6 is more than the narrower level's 0.5", "never rise"},
    {"home_factor_machine", job(R"("home":{"rack":"rack-0","factor":{"machine":1}})"), 3,
     "home.factor.machine", "unknown key"},
    {"width_factor_rises", job(R"("width_factor":{"machine":0.5,"rack":1})"), 3, "width_factor",
     "rack 1 is more"},
    {"width_factor_by_both_names", job(R"("spread":{"rack":1},"width_factor":{"rack":1})"), 3,
     "width_factor", "both are given", "keep \"width_factor\""},
    {"width_factor_by_both_names_2", job(R"("width_factor":{"rack":1},"spread":{"rack":1})"), 3,
     "spread", "both are given"},
    {"spread_rises", job(R"("spread":{"machine":0.5,"rack":1})"), 3, "spread", "rack 1 is more"},
    {"width_factor_negative", job(R"("width_factor":{"cluster":-0.5})"), 3, "width_factor.cluster",
     "negative"},
    {"speed_negative", job(R"("speed":{"A":-1})"), 3, "speed.A", "negative"},
    {"speed_absurd", job(R"("speed":{"A":1e30})"), 3, "speed.A", "at most"},
    {"speed_twice", job(R"("speed":{"A":1,"A":2})"), 3, "speed.A", "given twice"},
    {"weight_negative", job(R"("weight":-1)"), 3, "weight", "negative"},
    {"value_absurd", job(R"("value":1e300)"), 3, "value", "at most"},
    {"value_null", job(R"("value":null)"), 3, "value", "expected a number"},
    {"arrival_negative", job(R"("arrival":-1)"), 3, "arrival", "negative"},
    {"priority_absurd", job(R"("priority":1e12)"), 3, "priority", "at most 2147483647"},
    {"required_text", job(R"("required":"yes")"), 3, "required", "true or false"},
    {"domain", job(R"("domain":"racks")"), 3, "domain", "unknown level", "did you mean \"rack\"?"},
    {"types_no_list", job(R"("gpu_types":"A")"), 3, "gpu_types", "expected a list"},
    {"type_number", job(R"("gpu_types":["A",3])"), 3, "gpu_types[1]", "expected text"},
};
INSTANTIATE_TEST_SUITE_P(Members, BadJobs, testing::ValuesIn(kBadMembers));

std::string running(const std::string& tasks) {
  return third(R"({"id":"j","tasks":[{"shape":"w","gpus":2}],"running":{"tasks":[)" + tasks +
               "]}}");
}

const Fault kBadRunning[] = {
    {"unknown_machine", running(R"({"shape":"w","machine":"x","gpus":[{"index":0},{"index":1}]})"),
     3, "running.tasks[0].machine", "unknown machine \"x\""},
    {"unknown_shape", running(R"({"machine":"m0","gpus":[{"index":0},{"index":1}]})"), 3,
     "running.tasks[0].shape", "no task group \"task\""},
    {"too_few_devices", running(R"({"shape":"w","machine":"m0","gpus":[{"index":0}]})"), 3,
     "running.tasks[0].gpus", "has 1 devices, its shape asks for 2"},
    {"device_twice", running(R"({"shape":"w","machine":"m0","gpus":[{"index":0},{"index":0}]})"), 3,
     "running.tasks[0].gpus[1]", "twice"},
    {"other_share",
     running(R"({"shape":"w","machine":"m0","gpus":[{"index":0},{"index":1,"milli":500}]})"), 3,
     "running.tasks[0].gpus", "takes 500 thousandths, its shape asks for 1000"},
    {"no_such_device", running(R"({"shape":"w","machine":"n","gpus":[{"index":3},{"index":4}]})"),
     3, "running.tasks", "machine \"n\" does not hold all"},
    {"one_too_many",
     running(R"({"shape":"w","machine":"m0","gpus":[{"index":0},{"index":1}]},)"
             R"({"shape":"w","machine":"m0","gpus":[{"index":2},{"index":3}]})"),
     3, "running.tasks", "runs 2 tasks of \"w\", the job has 1", "gang"},
    {"none", running(""), 3, "running", "has tasks", "drop"},
    {"wrong_type",
     third(R"({"id":"j","tasks":[{"gpus":1}],"gpu_types":["B"],"running":{"tasks":[)"
           R"({"machine":"m0","gpus":[{"index":0}]}]}})"),
     3, "running.tasks", "do not allow", "pinned"},
    {"too_wide",
     third(R"({"id":"j","tasks":[{"count":2,"gpus":1}],"domain":"machine","running":{"tasks":[)"
           R"({"machine":"m0","gpus":[{"index":0}]},{"machine":"m1","gpus":[{"index":0}]}]}})"),
     3, "running.tasks", "wider than", "pinned"},
    {"negative_cost",
     third(R"({"id":"j","tasks":[{}],"running":{"tasks":[{"machine":"m0"}],"stop_cost":-1}})"), 3,
     "running.stop_cost", "negative"},
    {"pattern", job(R"("communication":{"pattern":"mesh","gbps":1})"), 3, "communication.pattern",
     "unknown pattern", "ring"},
    {"no_gbps", job(R"("communication":{"pattern":"ring"})"), 3, "communication.gbps", "missing"},
    {"no_servers", job(R"("communication":{"pattern":"ps","gbps":1})"), 3, "communication",
     "\"servers\" is missing"},
    {"ring_of_servers", job(R"("communication":{"pattern":"ring","gbps":1,"servers":"w"})"), 3,
     "communication", "only pattern ps"},
    {"servers_alone", job(R"("communication":{"pattern":"ps","gbps":1,"servers":"task"})"), 3,
     "communication.servers", "servers and no workers"},
};
INSTANTIATE_TEST_SUITE_P(Running, BadJobs, testing::ValuesIn(kBadRunning));

TEST(ParseJobs, what_runs_must_have_room_together) {
  expect_fault(
      {"overlap",
       R"({"id":"a","tasks":[{"gpus":1}],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]}})"
       "\n"
       R"({"id":"b","tasks":[{"gpu_milli":1}],"running":{"pinned":true,"tasks":[{"machine":"m0","gpus":[{"index":0,"milli":1}]}]}})",
       2, "running.tasks", "does not hold all"},
      with_jobs);
}

TEST(ParseJobs, refuses_more_than_64_gpu_types) {
  std::string types;
  for (int t = 0; t < 63; ++t) types += (t == 0 ? "\"T" : ",\"T") + std::to_string(t) + "\"";
  expect_fault({"types", job("\"gpu_types\":[" + types + "]"), 3, "gpu_types", "more than 64", ""},
               with_jobs);
}

}  // namespace
}  // namespace berth::io
