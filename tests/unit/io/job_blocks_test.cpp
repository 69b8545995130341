// SPDX-License-Identifier: Apache-2.0
#include "berth/io/job_blocks.hpp"

#include "faults.hpp"
#include "job_lines.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/archive.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io {
namespace {

using model::Instance;
using model::Workload;

Instance cluster_alone() {
  return {.cluster = parse_cluster(test::kBlockCluster, "c.yaml"), .workload = {}};
}

/// One reader of the whole text: one block.
Instance whole(const std::string& text) {
  Instance instance = cluster_alone();
  instance.workload = parse_jobs(text, "j.jsonl", instance.cluster);
  return instance;
}

/// As ranks read: every block is parsed before any is merged, the last first; tables are merged
/// where no records are, after a journey as bytes.
Instance in_blocks(std::string_view text, std::size_t size) {
  Instance instance = cluster_alone();
  const JobBlockParser parser(instance.cluster);
  TableMerger merger(instance.cluster, "j.jsonl");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string_view> pieces;
  while (!text.empty()) pieces.push_back(take_lines(text, size));
  std::vector<JobBlock> blocks(pieces.size());
  for (std::size_t b = blocks.size(); b-- > 0;) blocks[b] = parser.parse(pieces[b]);
  model::JobSet records;
  for (JobBlock& block : blocks) {
    const auto tables = from_bytes<BlockTables>(to_bytes(block.tables));
    const auto numbers = from_bytes<BlockNumbers>(to_bytes(merger.add(tables)));
    EXPECT_EQ(numbers.first_job, JobId(records.jobs.size()));
    renumber(block.records, numbers);
    append(records, block.records);
    EXPECT_EQ(merger.jobs(), records.jobs.size());
  }
  static_cast<model::WorkloadTables&>(instance.workload) = merger.finish();
  static_cast<model::JobSet&>(instance.workload) = std::move(records);
  return instance;
}

template <class Read>
std::string fault_of(const Read& read) {
  try {
    read();
    return "none";
  } catch (const InputError& error) {
    return error.what();
  }
}

bool same(const model::Job& a, const model::Job& b) {
  const auto ids = [](const model::Job& j) {
    return std::tuple(j.first_group, j.groups, j.gpu_types, j.speed, j.home_factor, j.width_factor,
                      j.home_rack, j.queue, j.priority, j.arrival, j.weight,
                      j.communication.servers, j.communication.mbps, j.running, j.rules, j.time);
  };
  return ids(a) == ids(b);
}

void expect_same(const Instance& one, const Instance& other) {
  const Workload& a = one.workload;
  const Workload& b = other.workload;
  EXPECT_EQ(model::instance_digest(one), model::instance_digest(other));
  EXPECT_EQ(one.cluster.gpu_types, other.cluster.gpu_types);
  EXPECT_EQ(one.cluster.immovable.size(), other.cluster.immovable.size());
  EXPECT_EQ(to_bytes(a.job_names), to_bytes(b.job_names));
  EXPECT_TRUE(std::ranges::equal(a.jobs, b.jobs, same));
  EXPECT_TRUE(std::ranges::equal(a.groups, b.groups, [](const auto& x, const auto& y) {
    return x.shape == y.shape && x.count == y.count && x.label == y.label;
  }));
  EXPECT_TRUE(a.shapes == b.shapes);
  EXPECT_EQ(a.factors, b.factors);
  EXPECT_EQ(a.speeds, b.speeds);
  EXPECT_EQ(a.speed_types, b.speed_types);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_TRUE(std::ranges::equal(a.running, b.running, [](const auto& x, const auto& y) {
    return x.job == y.job && x.pinned == y.pinned && x.first_task == y.first_task;
  }));
  EXPECT_TRUE(a.running_tasks == b.running_tasks);
  EXPECT_EQ(a.time_rules, b.time_rules);
  EXPECT_EQ(a.utilities, b.utilities);
  EXPECT_EQ(a.configurations, b.configurations);
  EXPECT_EQ(a.dependencies, b.dependencies);
}

TEST(JobBlocks, merged_are_what_one_reader_makes_of_the_text) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::Dice dice(seed);
    const std::string text = test::JobLines(dice, 0).text(150);
    const Instance expected = whole(text);
    for (const std::size_t size : {1, 300, 2000}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << size);
      expect_same(in_blocks(text, size), expected);
    }
  }
}

TEST(JobBlocks, the_first_fault_is_the_one_that_one_reader_finds) {
  int faults = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    test::Dice dice(seed);
    const std::string text = test::JobLines(dice, dice.one_of({1, 5, 20})).text(60);
    const std::string expected = fault_of([&] { whole(text); });
    faults += expected != "none" ? 1 : 0;
    for (const std::size_t size : {1, 500}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << size);
      EXPECT_EQ(fault_of([&] { in_blocks(text, size); }), expected);
    }
  }
  EXPECT_GT(faults, 100);
}

/// Numbers follow the first appearance in the file, also of what two blocks have in another order.
TEST(JobBlocks, number_what_jobs_share_as_it_appears) {
  const std::string text =
      "{\"id\":\"a\",\"tasks\":[{\"shape\":\"x\",\"gpus\":1}],\"gpu_types\":[\"P\",\"Q\"]}\n"
      "{\"id\":\"b\",\"tasks\":[{\"shape\":\"y\",\"gpus\":2},{\"shape\":\"x\",\"gpus\":1}],"
      "\"gpu_types\":[\"R\",\"P\"],\"speed\":{\"R\":2,\"P\":3}}\n"
      "{\"id\":\"c\",\"tasks\":[{\"gpus\":2}],\"gpu_types\":[\"Q\"],\"speed\":{\"P\":3,\"R\":2}}\n";
  const Instance instance = in_blocks(text, 1);
  const Workload& w = instance.workload;
  EXPECT_EQ(instance.cluster.gpu_types, (std::vector<std::string>{"A", "B", "P", "Q", "R"}));
  EXPECT_EQ(w.labels, (std::vector<std::string>{"x", "y", "task"}));
  EXPECT_EQ(w.jobs[1].gpu_types, 0b10100U);
  EXPECT_EQ(w.jobs[2].gpu_types, 0b1000U);
  EXPECT_EQ(w.groups[2].shape, ShapeId(0));
  EXPECT_EQ(w.groups[3].shape, ShapeId(1));
  EXPECT_EQ(w.jobs[1].speed, 1U);
  EXPECT_EQ(w.jobs[2].speed, 1U);
  EXPECT_EQ(w.speed(w.jobs[2], GpuTypeId(2)), 3.0);
  EXPECT_EQ(w.speed(w.jobs[2], GpuTypeId(4)), 2.0);
}

/// Rows of times refer to rows of other tables, and jobs to jobs of earlier and later blocks.
TEST(JobBlocks, number_times_and_jobs_that_end_before_alike) {
  std::string text;
  for (const char* members :
       {R"("a","duration":5,"utility":{"steps":[[0,1],[9,0]]},"after":["d","b"])",
        R"("b","duration":5,"utility":{"linear":[[0,1],[9,0]]})",
        R"("c","duration":5,"utility":{"steps":[[0,1],[9,0]]},"after":["b"])",
        R"("d","configurations":[{"counts":{"task":2}}])",
        R"("e","duration":5,"configurations":[{"counts":{"task":3}}],"after":["a"])",
        R"("f","configurations":[{"counts":{"task":2}}])"}) {
    text += "{\"tasks\":[{}],\"id\":" + std::string(members) + "}\n";
  }
  const Instance instance = in_blocks(text, 1);
  expect_same(instance, whole(text));
  EXPECT_EQ(instance.workload.jobs[0].time, instance.workload.jobs[2].time);
  EXPECT_EQ(instance.workload.jobs[3].time, instance.workload.jobs[5].time);
  EXPECT_EQ(instance.workload.dependencies.size(), 4U);
}

TEST(JobBlocks, an_id_in_two_blocks_is_given_twice) {
  std::string text = "\n";
  for (const char* id : {"a", "b", "c", "b", "a"}) {
    text += "{\"id\":\"" + std::string(id) + "\",\"tasks\":[{}]}\n";
  }
  EXPECT_EQ(fault_of([&] { in_blocks(text, 1); }),
            "j.jsonl:5: id: job \"b\" is given twice; first on line 3");
}

/// Each block is within the limit; the type that is too many is named where it comes first.
TEST(JobBlocks, number_new_gpu_types_alike_in_whatever_order_a_line_lists_them) {
  const auto types = [](const std::string& text) {
    model::Cluster cluster;
    parse_jobs(text, "j.jsonl", cluster);
    return cluster.gpu_types;
  };
  const std::vector<std::string> expected{"P", "Q", "R", "S"};
  EXPECT_EQ(types(R"({"id":"a","tasks":[{}],"gpu_types":["Q","P"],"speed":{"S":2,"R":3}})"),
            expected);
  EXPECT_EQ(types(R"({"id":"a","speed":{"R":3,"S":2},"gpu_types":["P","Q"],"tasks":[{}]})"),
            expected);
}

TEST(JobBlocks, count_gpu_types_together) {
  std::string text;
  for (int t = 0; t < 80; ++t) {
    text += "{\"id\":\"" + std::to_string(t) + "\",\"tasks\":[{}],\"speed\":{\"T" +
            std::to_string(t % 70) + "\":2}}\n";
  }
  const std::string fault = fault_of([&] { in_blocks(text, 1); });
  EXPECT_EQ(fault, fault_of([&] { whole(text); }));
  EXPECT_THAT(fault, testing::StartsWith("j.jsonl:63: speed: more than 64 GPU types"));
}

/// What else is wrong in the line of that type comes after it.
TEST(JobBlocks, a_gpu_type_too_many_goes_before_other_faults_of_its_line) {
  std::string text;
  for (int t = 0; t < 62; ++t) {
    text += R"({"id":")" + std::to_string(t) + R"(","tasks":[{}],"gpu_types":["T)" +
            std::to_string(t) + "\"]}\n";
  }
  text += R"({"id":"j","tasks":[{}],"gpu_types":["U"],"running":{"tasks":[{"machine":"x"}]}})";
  for (const std::size_t size : {std::size_t{1}, text.size()}) {
    EXPECT_THAT(fault_of([&] { in_blocks(text, size); }),
                testing::StartsWith("j.jsonl:63: gpu_types: more than 64 GPU types"));
  }
}

TEST(TakeLines, takes_whole_lines) {
  std::string_view text = "ab\ncd\nlonger\n\nx";
  const auto next = [&](std::size_t size) { return std::string(take_lines(text, size)); };
  EXPECT_EQ(next(7), "ab\ncd\n");
  EXPECT_EQ(next(2), "longer\n");
  EXPECT_EQ(next(1), "\n");
  EXPECT_EQ(next(1), "x");
  EXPECT_EQ(next(1), "");
}

TEST(LineReader, gives_whole_lines_without_a_byte_order_mark) {
  const Folder folder;
  const std::string long_line(1000, 'x');
  for (const char* name : {"l", "l.gz"}) {
    for (const std::string end : {"", "\n"}) {
      const std::string text = "first\r\n\n" + long_line + "\nlast" + end;
      write_atomically(folder / name, [&](AtomicFile& file) { file.write("\xEF\xBB\xBF" + text); });
      LineReader reader(folder / name);
      std::string all, block;
      for (; reader.append(block, 16); block.clear()) {
        all += block;
        EXPECT_TRUE(block.ends_with('\n') || all.size() == text.size()) << block;
      }
      EXPECT_EQ(all, text);
      EXPECT_EQ(reader.part_read(), 1.0);
    }
  }
}

}  // namespace
}  // namespace berth::io
