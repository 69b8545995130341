// SPDX-License-Identifier: Apache-2.0
// Importers of profiles: hand-written files with the traps of the published ones, and those.
#include "berth/io/import_profiles.hpp"

#include "faults.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/profiles_file.hpp"

namespace berth::io {
namespace {

const ProfileFormat& format_of(std::string_view name) {
  const auto formats = profile_formats();
  const auto found = std::ranges::find(formats, name, &ProfileFormat::name);
  EXPECT_NE(found, formats.end()) << name;
  return *found;
}

ProfileImport import_data(std::string_view format, const std::string& file) {
  const ProfileFormat& row = format_of(format);
  return row.read((test::source_root() / "tests/data/profiles" / file).string(),
                  std::string(row.gpu_type));
}

std::string notes_of(const std::vector<TraceNote>& notes) {
  std::string text;
  for (const TraceNote& note : notes) text += std::to_string(note.count) + " " + note.what + "; ";
  return text;
}

/// The profiles as the simulator reads them, applied to one job that may use these GPU types.
speed::Profiles read_back(const std::string& profiles, const std::vector<std::string>& types,
                          const std::string& name) {
  std::string classes, machines, allowed;
  for (const std::string& type : types) {
    classes += (classes.empty() ? "" : ",") + type + ": {gpu_type: " + type + ", gpus: 4}";
    machines += (machines.empty() ? "" : ",") + std::string("{ids: \"") + type +
                "-[0-3]\", class: " + type + "}";
    allowed += (allowed.empty() ? "\"" : ",\"") + type + "\"";
  }
  const Folder folder;
  std::ofstream(folder / "c.yaml")
      << "{schema: 1, classes: {" << classes << "}, pods: [{id: p, racks: [{id: r, machines: ["
      << machines << "]}]}]}\n";
  std::ofstream(folder / "j.jsonl")
      << R"({"id":"j","duration":10,"gpu_types":[)" << allowed << R"(],"tasks":[{"gpus":1}]})"
      << "\n";
  const model::Instance instance = read_instance(folder / "c.yaml", folder / "j.jsonl");
  return parse_profiles(profiles + R"({"job":"j","profile":")" + name + "\"}\n", "p.jsonl",
                        instance);
}

TEST(ImportProfiles, gavel_rates_by_type_gpus_and_consolidation) {
  const ProfileImport import = import_data("gavel-profiles", "gavel.json");
  EXPECT_EQ(import.profiles, 1);
  EXPECT_EQ(import.rows, 9);
  EXPECT_EQ(import.taken, 6);
  EXPECT_EQ(notes_of(import.skipped),
            "1 job types without any rate above 0; 1 are one GPU on several machines; "
            "1 are on several machines only; ");
  EXPECT_EQ(notes_of(import.changed), "1 are faster on several machines: taken as on one; ");
  const auto profiles = read_back(import.text, {"k80", "v100"}, "LM (batch size 5)");
  const auto& table = profiles.tables.at(0);
  EXPECT_EQ(table.at(GpuTypeId(0), 1, 0), 10.0);
  EXPECT_EQ(table.at(GpuTypeId(0), 2, 1), 18.0);
  EXPECT_EQ(table.at(GpuTypeId(1), 2, 0), 150.0);
  EXPECT_EQ(table.at(GpuTypeId(1), 2, 1), 120.0);
}

TEST(ImportProfiles, elasticflow_tables_by_batch) {
  const ProfileImport import = import_data("elasticflow-profiles", "elasticflow");
  EXPECT_EQ(import.profiles, 2);
  EXPECT_EQ(import.rows, 9);
  EXPECT_EQ(import.taken, 5);
  EXPECT_EQ(notes_of(import.skipped), "1 batches without any rate above 0; ");
  EXPECT_EQ(notes_of(import.changed), "4 are empty or 0: the batch does not fit; ");
  const auto small = read_back(import.text, {"A100"}, "tiny b64");
  EXPECT_EQ(small.tables.at(0).at(GpuTypeId(0), 2, 0), 8.5);
  EXPECT_EQ(small.tables.at(0).at(GpuTypeId(0), 4, 0), 0.0);
  EXPECT_EQ(read_back(import.text, {"A100"}, "tiny b256").tables.at(0).at(GpuTypeId(0), 4, 0), 9.0);
}

TEST(ImportProfiles, pollux_times_and_noise) {
  // compute 0.1 + 0.01 b; all-reduce 0.05 + 0.01 (k - 2) on one node, 0.2 + 0.02 (k - 2) on
  // several; 20 samples take 0.3 s on one GPU; noise 20 x 10 / 2 until iteration 10 = 3 s, then 20
  // x 10 / 1.
  const ProfileImport import = import_data("pollux-profiles", "pollux");
  EXPECT_EQ(import.profiles, 1);
  EXPECT_EQ(import.rows, 12);
  EXPECT_EQ(import.taken, 9);
  EXPECT_EQ(notes_of(import.skipped),
            "1 folders have no placements.csv; 2 points are of curves of larger batches; "
            "1 points of curves have no gradient; ");
  const auto profiles = read_back(import.text, {"T4"}, "tiny");
  const auto& goodput = profiles.goodputs.at(0);
  EXPECT_NEAR(goodput.reference, 20 / 0.3, 1e-9);
  EXPECT_NEAR(goodput.time.compute_fixed, 0.1, 1e-12);
  EXPECT_NEAR(goodput.time.compute_per_sample, 0.01, 1e-12);
  EXPECT_NEAR(goodput.time.sync_local_fixed, 0.05, 1e-12);
  EXPECT_NEAR(goodput.time.sync_local_per_gpu, 0.01, 1e-12);
  EXPECT_NEAR(goodput.time.sync_fixed, 0.2, 1e-12);
  EXPECT_NEAR(goodput.time.sync_per_gpu, 0.02, 1e-12);
  ASSERT_EQ(goodput.noise.size(), 2U);
  EXPECT_EQ(goodput.noise[0].noise_scale, 100.0);
  EXPECT_NEAR(goodput.noise[1].work, 3.0, 1e-12);
  EXPECT_EQ(goodput.noise[1].noise_scale, 200.0);
}

TEST(ImportProfiles, faults_name_file_and_field) {
  const auto read = [](const std::string& text) {
    const Folder folder;
    std::ofstream(folder / "t.csv") << text;
    (void)import_elasticflow_profiles(folder / "", "A100");
  };
  const std::string head = "global_batch_size,1,2\n";
  for (const Fault& fault :
       {Fault{"no batch", "batch,1\n64,2\n", 1, "global_batch_size", ""},
        Fault{"no number of GPUs", "global_batch_size,one\n64,2\n", 1, "one", "no number of GPUs"},
        Fault{"text", head + "64,2,fast\n", 2, "2", ""},
        Fault{"negative", head + "64,-2,1\n", 2, "1", ""},
        Fault{"nothing", head, 0, "", "no table with a rate"}}) {
    expect_fault(fault, read);
  }
  EXPECT_THROW((void)import_pollux_profiles("/nonexistent", ""), InputError);
}

TEST(ImportProfiles, published_files) {
  const auto folder = test::traces();
  if (!folder) GTEST_SKIP() << "skipped: no BERTH_TRACES";
  const auto root = *folder / "profiles";
  const auto gavel =
      import_gavel_profiles((root / "gavel/simulation_throughputs.json").string(), "");
  EXPECT_EQ(gavel.rows, 6 * 83 - 6);
  EXPECT_GE(gavel.profiles, 20);
  const auto gavel_back =
      read_back(gavel.text, {"k80", "p100", "v100"}, "ResNet-18 (batch size 16)");
  EXPECT_NEAR(gavel_back.tables.at(0).at(GpuTypeId(2), 1, 0), 32.353384328946916, 1e-12);
  const auto elastic =
      import_elasticflow_profiles((root / "elasticflow/throughputs_A100").string(), "A100");
  EXPECT_NEAR(read_back(elastic.text, {"A100"}, "bert b64").tables.at(0).at(GpuTypeId(0), 2, 0),
              8.643477263279834, 1e-12);
  const auto pollux = import_pollux_profiles((root / "pollux_aws_t4").string(), "");
  EXPECT_EQ(pollux.profiles, 4);
  const auto cifar = read_back(pollux.text, {"T4"}, "cifar10").goodputs.at(0);
  EXPECT_EQ(cifar.smallest_batch, 128.0);
  EXPECT_GT(cifar.time.sync_fixed, cifar.time.sync_local_fixed);
}

}  // namespace
}  // namespace berth::io
