// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/io/file.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

/// Reads a jobs file (docs/formats.md) in blocks of whole lines, which can be parsed on any rank or
/// thread and in any order: a `LineReader` cuts the text, a `JobBlockParser` turns a block into
/// records, and a `TableMerger` numbers what the jobs of all blocks share, in file order. The
/// result equals that of one reader of the whole text, bit for bit.
namespace berth::io {

/// 256 KiB of text a block; chosen, not tuned
inline constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

/// Removes whole lines from the front of the text and returns them: those in the first `size`
/// bytes, or one line when it is longer. A last line without a line break counts as a line.
std::string_view take_lines(std::string_view& text, std::size_t size);

/// Reads a file by whole lines, without a byte order mark.
class LineReader {
 public:
  explicit LineReader(const std::string& path) : pieces_(path) {}  ///< @throws InputError

  /// Appends the next lines: about `size` bytes, or one line when it is longer. False at the end of
  /// the file. @throws InputError (gzip that is damaged from here on)
  bool append(std::string& lines, std::size_t size);

  [[nodiscard]] double part_read() const { return pieces_.part_read(); }  ///< 0 to 1

 private:
  PieceReader pieces_;
  std::string rest_;  ///< the beginning of a line whose end has not been read yet
  bool first_ = true;
};

/// Speeds of a job that are not 1, ascending by GPU type.
using SpeedRow = std::vector<std::pair<std::uint32_t, double>>;

/// Tables of a block: names of jobs, shared values, and the data from which numbers are assigned;
/// everything but its records. Line numbers start at 1 at the beginning of the block; numbers of
/// shared rows, jobs and running jobs start at 0 and count within the block.
struct BlockTables {
  /// A GPU type that no machine has, and the line that first names it.
  struct NewType {
    std::string name;
    std::uint32_t line = 0;
    std::string field;
  };
  struct LineFault {
    std::uint32_t line = 0;
    std::string field, problem, hint;
  };

  /// A job that must have ended before a job of the block starts.
  struct NamedDependency {
    JobId job;  ///< of the block
    std::string after;
  };

  model::WorkloadTables shared;               ///< its tables `speeds` and `dependencies` are empty
  std::vector<NamedDependency> dependencies;  ///< in file order
  std::vector<ShapeId> running_shapes;        ///< by running task
  std::vector<std::uint32_t> lines;           ///< by job
  std::vector<SpeedRow> speeds;               ///< of Job::speed 1, 2, ...
  std::vector<NewType> gpu_types;             ///< numbered after those of the cluster
  std::uint32_t line_count = 0;
  std::uint32_t first_spread = 0;  ///< first line with the old key "spread"; 0: none
  std::optional<LineFault> fault;  ///< error of the first bad line; the jobs are those before it
};

template <class Archive>
void describe(Archive& archive, BlockTables::NewType& type) {
  archive(type.name, type.line, type.field);
}
template <class Archive>
void describe(Archive& archive, BlockTables::LineFault& fault) {
  archive(fault.line, fault.field, fault.problem, fault.hint);
}
template <class Archive>
void describe(Archive& archive, BlockTables::NamedDependency& dependency) {
  archive(dependency.job, dependency.after);
}
template <class Archive>
void describe(Archive& archive, BlockTables& t) {
  archive(t.shared, t.running_shapes, t.lines, t.speeds, t.gpu_types, t.line_count);
  archive(t.first_spread, t.fault, t.dependencies);
}

/// The jobs of a block of lines.
struct JobBlock {
  BlockTables tables;
  model::JobSet records;
};

/// Numbers in the whole file for the numbers within a block.
struct BlockNumbers {
  JobId first_job;                 ///< of the block's job 0
  std::int32_t first_running = 0;  ///< of the block's running job 0
  /// By the block's number. Those of types include the cluster's.
  std::vector<std::uint32_t> types = {}, shapes = {}, factors = {}, rules = {}, labels = {},
                             speeds = {}, time_rules = {};
};

template <class Archive>
void describe(Archive& archive, BlockNumbers& n) {
  archive(n.first_job, n.first_running, n.types, n.shapes, n.factors, n.rules, n.labels, n.speeds,
          n.time_rules);
}

/// Replaces the block's numbers in its records. O(jobs and task groups of the block)
void renumber(model::JobSet& records, const BlockNumbers& numbers);

/// Turns blocks of lines into records. Uses only those parts of the cluster that no jobs file
/// changes: construct parsers and mergers from one cluster, before any block is merged.
class JobBlockParser {
 public:
  explicit JobBlockParser(const model::Cluster& cluster);  ///< which must outlive it
  JobBlockParser(JobBlockParser&&) noexcept;
  ~JobBlockParser();

  /// The block's jobs up to its first bad line, and that line's error. Several threads may call it
  /// at once. O(text)
  [[nodiscard]] JobBlock parse(std::string_view lines) const;

 private:
  struct ParserState;
  std::unique_ptr<ParserState> state_;
};

/// Joins the tables of blocks in the order of the file.
class TableMerger {
 public:
  /// Adds GPU types and pinned jobs of the blocks to the cluster. `file` is for messages.
  TableMerger(model::Cluster& cluster, std::string file);
  TableMerger(TableMerger&&) noexcept;
  ~TableMerger();

  /// @throws InputError about the first bad line; do not call add again then. O(tables of the
  /// block)
  BlockNumbers add(const BlockTables& block);

  /// Jobs in the blocks so far.
  [[nodiscard]] std::size_t jobs() const;

  /// Reserves memory for all names, given the fraction of the file merged so far.
  void reserve(double part);

  /// @throws InputError: an id given twice, machines without room for their running jobs
  model::WorkloadTables finish();

 private:
  struct MergerState;
  std::unique_ptr<MergerState> state_;
};

/// Reserves memory for the records of all jobs, given the fraction of them that is there.
void reserve(model::JobSet& records, double part);

/// Appends records that follow those of `whole` in the file.
void append(model::JobSet& whole, const model::JobSet& block);

}  // namespace berth::io
