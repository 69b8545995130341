// SPDX-License-Identifier: Apache-2.0
#include "berth/io/import_trace.hpp"

#include "faults.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io {
namespace {

const TraceFormat& format_of(std::string_view name) {
  const auto formats = trace_formats();
  const auto found = std::ranges::find(formats, name, &TraceFormat::name);
  EXPECT_NE(found, formats.end()) << name;
  return *found;
}

std::string data_file(const std::string& name) {
  return (test::source_root() / "tests/data/traces" / name).string();
}

TraceImport import_file(const char* format, const std::string& file, TraceOptions options = {},
                        const std::string& profiles = {}) {
  return import_trace(format_of(format), data_file(file),
                      profiles.empty() ? profiles : data_file(profiles),
                      equal_machines({.machines = 2}), options);
}

/// Lines of the jobs file; what is written is read back as the same instance.
std::vector<std::string> lines_of(const TraceImport& import) {
  const Folder folder;
  write_cluster(folder / "c.yaml", import.instance.cluster);
  write_jobs(folder / "j.jsonl", import.instance);
  EXPECT_EQ(instance_digest(read_instance(folder / "c.yaml", folder / "j.jsonl")),
            instance_digest(import.instance));
  std::istringstream text(folder.bytes("j.jsonl"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// "count x reason @ row of the first"
std::vector<std::string> notes_of(const std::vector<TraceNote>& notes) {
  std::vector<std::string> lines;
  for (const TraceNote& note : notes) {
    lines.push_back(std::to_string(note.count) + " x " + note.what + " @ " +
                    std::to_string(note.first_line));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(ImportAcme, times_with_a_zone_and_pods) {
  const TraceImport import = import_file("acme", "acme.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"kalos","queue":"Other","tasks":[{"shape":"worker","count":2,"gpus":8,"cpu_milli":120000,"memory_mib":512000}],"duration":5})",
          R"({"id":"seren","arrival":10,"queue":"Pretrain","tasks":[{"shape":"worker","gpus":8,"cpu_milli":128000}],"duration":60,"not_before":10})",
          R"({"id":"cpu","arrival":20,"queue":"Other","tasks":[{"shape":"worker","cpu_milli":4000,"memory_mib":10240}],"duration":4,"not_before":20})"}));
  EXPECT_EQ(notes_of(import.skipped), (Lines{"1 x never started or have not ended @ 4"}));
  EXPECT_EQ(notes_of(import.changed), Lines{});
}

TEST(ImportBatsim, delays_and_walltimes) {
  const TraceImport import = import_file("batsim", "batsim.json", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"2","tasks":[{"shape":"worker","gpus":1}],"duration":100,"limit":100})",
          R"({"id":"w0!1","arrival":5,"tasks":[{"shape":"worker","gpus":2}],"duration":89,"limit":400,"not_before":5})",
          R"({"id":"4","arrival":5,"tasks":[{"shape":"worker","gpus":1}],"duration":250,"not_before":5})",
          R"({"id":"5","arrival":6,"tasks":[{"shape":"worker","gpus":4}],"duration":21,"not_before":6})",
          R"({"id":"424242","arrival":16000,"tasks":[{"shape":"worker","gpus":1}],"duration":89,"limit":149,"not_before":16000})"}));
  EXPECT_EQ(notes_of(import.skipped),
            (Lines{"1 x have a profile whose time a platform decides @ 4"}));
  EXPECT_EQ(notes_of(import.changed), (Lines{"1 x reach their walltime: killed then @ 3"}));
}

TEST(ImportChronus, deadlines_and_values_in_minutes) {
  const TraceImport import = import_file("chronus", "chronus.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"2","queue":"vc_a","tasks":[{"shape":"worker","gpus":4}],"value":10,"duration":600,"deadline":14100})",
          R"({"id":"1","arrival":600,"queue":"vc_a","tasks":[{"shape":"worker","gpus":1}],"value":10,"duration":600,"not_before":600,"utility":{"steps":[[0,1],[9540,0.8],[11340,0.5],[13740,0.2],[17340,0]]}})",
          R"({"id":"3","arrival":1200,"queue":"vc_b","tasks":[{"shape":"worker","gpus":1}],"duration":600,"not_before":1200})",
          R"({"id":"5","arrival":1800,"queue":"vc_b","tasks":[{"shape":"worker","gpus":1}],"value":0,"duration":600,"not_before":1800})"}));
  EXPECT_EQ(notes_of(import.skipped), (Lines{"1 x ask for no GPU @ 5"}));
  EXPECT_EQ(notes_of(import.changed),
            (Lines{"1 x deadlines before the job can end: left out, the job has value 0 @ 6"}));
}

TEST(ImportGavel, steps_by_throughputs) {
  const TraceImport import =
      import_file("gavel", "gavel.trace", {.resources = true}, "gavel_throughputs.json");
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"line-2","tasks":[{"shape":"worker","gpus":2}],"speed":{"k80":0,"v100":0},"duration":25})",
          R"({"id":"line-1","arrival":11,"tasks":[{"shape":"worker","gpus":1}],"speed":{"k80":0.125,"p100":0.5},"duration":100,"not_before":11})"}));
  EXPECT_EQ(notes_of(import.skipped),
            (Lines{"1 x have a job type and number of GPUs without throughput @ 3"}));
  EXPECT_EQ(notes_of(import.changed), Lines{});
}

TEST(ImportHelios, jobs_that_never_started) {
  const TraceImport import = import_file("helios", "helios.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"12","queue":"vcB","tasks":[{"shape":"worker","cpu_milli":8000}],"duration":9})",
          R"({"id":"11","arrival":1,"queue":"vcA","tasks":[{"shape":"worker","count":2,"gpus":8,"cpu_milli":32000}],"duration":60,"not_before":1})",
          R"({"id":"13","arrival":60,"queue":"vcB","tasks":[{"shape":"worker","gpus":4,"cpu_milli":8000}],"duration":9,"not_before":60})"}));
  EXPECT_EQ(notes_of(import.skipped), (Lines{"1 x have no duration @ 6", "1 x never started @ 5"}));
  EXPECT_EQ(notes_of(import.changed),
            (Lines{"1 x GPUs are no multiple of the tasks: cut as if it named no tasks @ 4"}));
}

TEST(ImportKalos, iterations) {
  const TraceImport import = import_file("kalos", "kalos.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"8","tasks":[{"shape":"worker","gpus":4,"cpu_milli":12500}],"duration":104})",
          R"({"id":"7","arrival":303,"tasks":[{"shape":"worker","count":32,"gpus":8,"cpu_milli":15000}],"duration":21,"not_before":303})"}));
  EXPECT_EQ(notes_of(import.skipped), Lines{});
  EXPECT_EQ(notes_of(import.changed), Lines{});
}

TEST(ImportOpenbTrace, shares_and_models) {
  const TraceImport import = import_file("openb-trace", "openb.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"share","tasks":[{"gpu_milli":460,"cpu_milli":6000,"memory_mib":12288}],"duration":5})",
          R"({"id":"cpu","arrival":5,"tasks":[{"shape":"worker","cpu_milli":6000,"memory_mib":12288}],"duration":5,"not_before":5})",
          R"({"id":"whole","arrival":10,"tasks":[{"shape":"worker","gpus":2,"cpu_milli":12000,"memory_mib":16384}],"gpu_types":["V100M16","V100M32"],"duration":90,"not_before":10})"}));
  EXPECT_EQ(notes_of(import.skipped), (Lines{"1 x were never scheduled or have no end @ 4"}));
  EXPECT_EQ(notes_of(import.changed), Lines{});
}

TEST(ImportPai, slots) {
  const TraceImport import = import_file("pai", "pai.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"line-3","tasks":[{"shape":"worker","gpus":4}],"duration":1001})",
          R"({"id":"line-2","arrival":100,"tasks":[{"shape":"worker","gpus":1}],"duration":6302,"not_before":100})"}));
  EXPECT_EQ(notes_of(import.skipped), Lines{});
  EXPECT_EQ(notes_of(import.changed), Lines{});
}

TEST(ImportPhilly, unsorted_rows_and_gaps) {
  const TraceImport import = import_file("philly", "philly.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"line-3","queue":"vc-a","tasks":[{"shape":"worker","count":2,"gpus":8}],"duration":61})",
          R"({"id":"line-2","arrival":600,"queue":"vc-b","tasks":[{"shape":"worker","gpus":1}],"duration":120,"not_before":600})",
          R"({"id":"line-4","arrival":600,"queue":"vc-b","tasks":[{"shape":"worker","gpus":1}],"duration":1,"not_before":600})",
          R"({"id":"line-8","arrival":1800,"queue":"vc-a","tasks":[{"shape":"worker","gpus":8},{"shape":"rest","gpus":3}],"duration":30,"not_before":1800})"}));
  EXPECT_EQ(notes_of(import.skipped), (Lines{"1 x ask for no GPU @ 7", "1 x have no duration @ 5",
                                             "1 x have no submission @ 6"}));
  EXPECT_EQ(notes_of(import.changed), (Lines{"1 x runs of no time: take 1 s @ 4"}));
}

TEST(ImportPhillyLog, attempts) {
  const TraceImport import = import_file("philly-log", "philly_log.json", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"uneven","queue":"vc-b","tasks":[{"shape":"worker","gpus":3}],"duration":60})",
          R"({"id":"retried","arrival":100,"queue":"vc-a","tasks":[{"shape":"worker","count":2,"gpus":2}],"duration":90,"not_before":100})"}));
  EXPECT_EQ(notes_of(import.skipped), (Lines{"1 x have no submission @ 6", "1 x have not ended @ 4",
                                             "2 x never started @ 2"}));
  EXPECT_EQ(notes_of(import.changed),
            (Lines{"2 x attempts of different size: the last one's GPUs @ 1",
                   "1 x attempts without an end: not counted @ 5",
                   "1 x several attempts: one run of all their time @ 1"}));
}

TEST(ImportPollux, curves_and_steps) {
  const TraceImport import = import_file("pollux", "pollux.csv", {.resources = true}, "pollux");
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"tiny-0","tasks":[{"shape":"worker","gpus":6}],"duration":13})",
          R"({"id":"tiny-1","arrival":10,"tasks":[{"shape":"worker","gpus":2}],"duration":50,"not_before":10})"}));
  EXPECT_EQ(notes_of(import.skipped),
            (Lines{"1 x have a number of GPUs that was not measured @ 4",
                   "1 x have an application without profile: missing @ 5"}));
  EXPECT_EQ(notes_of(import.changed), Lines{});
}

TEST(ImportSacct, arrays_and_limits) {
  const TraceImport import = import_file("sacct", "sacct.csv", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"102_1","queue":"short","tasks":[{"shape":"worker","cpu_milli":36000}],"duration":70,"limit":70})",
          R"({"id":"101","arrival":1,"queue":"gpu","tasks":[{"shape":"worker","count":2,"gpus":2,"cpu_milli":36000,"memory_mib":92000}],"duration":300,"limit":3600,"not_before":1})"}));
  EXPECT_EQ(notes_of(import.skipped), (Lines{"1 x never started or have not ended @ 4"}));
  EXPECT_EQ(notes_of(import.changed),
            (Lines{"1 x runs beyond their limit: the limit is as long as the run @ 3"}));
}

TEST(ImportShockwave, commas_and_service_levels) {
  const TraceImport import = import_file("shockwave", "shockwave.trace", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"line-2","weight":2,"tasks":[{"shape":"worker","gpus":2}],"duration":100,"deadline":150})",
          R"({"id":"line-1","arrival":5,"tasks":[{"shape":"worker","gpus":1}],"duration":1418,"not_before":5})"}));
  EXPECT_EQ(notes_of(import.skipped), Lines{});
  EXPECT_EQ(notes_of(import.changed), Lines{});
}

TEST(ImportSwf, unknown_fields) {
  const TraceImport import = import_file("swf", "workload.swf", {.resources = true});
  EXPECT_EQ(
      lines_of(import),
      (Lines{
          R"({"id":"3","tasks":[{"shape":"worker","gpus":8}],"duration":300,"limit":300})",
          R"({"id":"1","arrival":10,"queue":"queue-3","tasks":[{"shape":"worker","gpus":4}],"duration":100,"limit":200,"not_before":10})",
          R"({"id":"5","arrival":20,"tasks":[{"shape":"worker","gpus":1}],"duration":50,"not_before":20})"}));
  EXPECT_EQ(notes_of(import.skipped),
            (Lines{"1 x have no processors @ 6", "1 x have no run time @ 4"}));
  EXPECT_EQ(notes_of(import.changed),
            (Lines{"1 x runs beyond their limit: the limit is as long as the run @ 5"}));
}

TEST(ImportTrace, keeps_fractions_of_a_second) {
  const TraceImport import = import_file("batsim", "batsim.json", {.units_per_second = 1'000'000});
  const model::Workload& jobs = import.instance.workload;
  ASSERT_EQ(jobs.jobs.size(), 5U);
  EXPECT_EQ(jobs.jobs[1].arrival, 4'709'165);  // 4.709164021244639 s
  EXPECT_EQ(jobs.time_of(jobs.jobs[1]).duration, 88'510'000);
  EXPECT_EQ(jobs.time_of(jobs.jobs[1]).limit, 399'500'000);
  EXPECT_EQ(jobs.jobs[4].arrival, 16'000'000'000);
}

TEST(ImportTrace, selects_jobs_in_order_of_submission) {
  const TraceImport import = import_file("philly", "philly.csv", {.skip = 1, .jobs = 2});
  EXPECT_EQ(import.rows, 7);
  const model::Workload& jobs = import.instance.workload;
  ASSERT_EQ(jobs.jobs.size(), 2U);
  EXPECT_EQ(jobs.job_names[0], "line-2");
  EXPECT_EQ(jobs.jobs[0].arrival, 0);
  EXPECT_EQ(import.origin, 1577837400.0);
  EXPECT_EQ(import_file("philly", "philly.csv", {.skip = 9}).instance.workload.jobs.size(), 0U);
}

TEST(ImportTrace, cuts_jobs_into_tasks) {
  const TraceImport import = import_file("philly", "philly.csv", {.gpus_per_task = 1});
  EXPECT_EQ(import.instance.workload.groups[0].count, 16);
}

TEST(ImportTrace, leaves_out_jobs_without_gpus) {
  const TraceImport import = import_file("sacct", "sacct.csv");
  EXPECT_EQ(import.instance.workload.jobs.size(), 1U);
  EXPECT_EQ(notes_of(import.skipped)[0], "1 x ask for no GPU (--resources takes them) @ 3");
}

TEST(ImportTrace, refuses_bad_options) {
  const auto expect_refused = [](const char* field, const TraceOptions& options) {
    expect_fault({field, "", 0, field, "must be"},
                 [&](const std::string&) { (void)import_file("pai", "pai.csv", options); });
  };
  expect_refused("skip", {.skip = -1});
  expect_refused("jobs", {.jobs = -1});
  expect_refused("gpus-per-task", {.gpus_per_task = 0});
  expect_refused("units-per-second", {.units_per_second = 0});
}

/// Imports a text as a file of this format.
void import_text(const char* format, const std::string& text) {
  const Folder folder;
  folder.put("trace", text);
  (void)import_trace(format_of(format), folder / "trace", {}, {}, {});
}

TEST(ImportTrace, names_line_and_field_of_a_fault) {
  const std::string philly = "timestamp,duration,num_gpus,gpu_time,cluster\n";
  const std::string swf = "; comment\n 1 2 3 4 5";
  const std::string chronus =
      "job_id,user,num_gpu,submit_time,duration,expect_time_list,expect_value_list,job_type\n";
  const struct {
    const char* format;
    Fault fault;
  } cases[] = {
      {"philly", {"date", philly + "2020-13-01 00:00:00,1,1,1,v\n", 2, "timestamp", "a date"}},
      {"philly", {"gpus", philly + "2020-12-01 00:00:00,1,1.5,1,v\n", 2, "num_gpus", "whole"}},
      {"philly", {"header", "timestamp,duration\n", 1, "num_gpus", "no such column"}},
      {"philly", {"short", philly + "2020-12-01 00:00:00,1\n", 2, "cluster", "too short"}},
      {"philly-log", {"json", "[{\"jobid\":\"a\"}]", 0, "[0].vc", "missing"}},
      {"philly-log", {"no json", "[{", 0, "", ""}},
      {"swf", {"word", swf + " x", 2, "cpu", "a number"}},
      {"swf", {"long", swf + " 6 7 8 9 10 11 12 13 14 15 16 17 18 19", 2, "", "18 fields"}},
      {"chronus", {"type", chronus + "1,u,1,1,1,5,10,late\n", 2, "job_type", "strict"}},
      {"chronus", {"values", chronus + "1,u,1,1,1,5-6,10,soft\n", 2, "expect_time_list", "many"}},
      {"batsim",
       {"profile", R"({"jobs":[{"id":1,"subtime":0,"res":1,"profile":"p"}],"profiles":{}})", 0,
        "jobs[0].profile", "no such profile"}},
      {"shockwave", {"tabs", "LM\tcmd\n", 1, "arrival", "too short"}},
  };
  for (const auto& [format, fault] : cases) {
    expect_fault(fault, [&](const std::string& text) { import_text(format, text); });
  }
}

struct RealTrace {
  const char* format;
  const char* file;
  const char* profiles;
  std::int64_t rows;
  std::size_t jobs;
};

class ImportRealTrace : public testing::TestWithParam<RealTrace> {};

TEST_P(ImportRealTrace, has_its_published_size) {
  const auto traces = test::traces();
  if (!traces) GTEST_SKIP() << "skipped: no BERTH_TRACES";
  const RealTrace& real = GetParam();
  const std::string profiles =
      real.profiles == nullptr ? std::string() : (*traces / real.profiles).string();
  const TraceImport import =
      import_trace(format_of(real.format), (*traces / real.file).string(), profiles,
                   equal_machines({.machines = 2}), {.resources = true});
  EXPECT_EQ(import.rows, real.rows);
  EXPECT_EQ(import.instance.workload.jobs.size(), real.jobs);
}

constexpr const char* kGavelProfiles = "profiles/gavel/simulation_throughputs.json";

INSTANTIATE_TEST_SUITE_P(
    Published, ImportRealTrace,
    testing::Values(
        RealTrace{"philly", "philly/philly.csv.gz", nullptr, 52849, 52849},
        RealTrace{"philly-log", "philly/cluster_job_log.example.json", nullptr, 1, 1},
        RealTrace{"kalos", "acme/converted_kalos_trace.csv", nullptr, 159, 159},
        RealTrace{"acme", "format_examples/acme_trace_seren.example.csv", nullptr, 2, 2},
        RealTrace{"acme", "format_examples/acme_trace_kalos.example.csv", nullptr, 2, 2},
        RealTrace{"helios", "format_examples/helios_cluster_log.example.csv", nullptr, 3, 3},
        RealTrace{"openb-trace", "openb/openb_pod_list_default.csv", nullptr, 8152, 7255},
        RealTrace{"pai", "pai/pai_1k.csv", nullptr, 1000, 1000},
        RealTrace{"chronus", "chronus_philly_slo/trace_job_Philly_MIX2.csv.gz", nullptr, 30940,
                  30746},
        RealTrace{"gavel", "philly/gavel_msr/seed=0/b436b2.trace", kGavelProfiles, 2000, 1874},
        RealTrace{"pollux", "pollux_workloads/benchmark/workloads/workload-1.csv",
                  "profiles/pollux_aws_t4", 160, 145},
        RealTrace{
            "shockwave",
            "shockwave/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace",
            nullptr, 120, 120},
        RealTrace{"swf", "swf/hpc2n.swf", nullptr, 3170, 3145},
        RealTrace{"swf", "swf/NASA-iPSC-1993-3.1-cln.swf.gz", nullptr, 18239, 18239},
        RealTrace{"batsim", "batsim/medium_late/medium_late.json", nullptr, 801, 801},
        RealTrace{"batsim", "batsim/workloads/test_various_profile_types.json", nullptr, 11, 1},
        RealTrace{"sacct", "sacct/sample_eagle_data.csv", nullptr, 1000, 1000}));
}  // namespace
}  // namespace berth::io
