// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/io/file.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/workload.hpp"

/// Reads a jobs file (docs/formats.md) in blocks of whole lines, which can be parsed on any rank or
/// thread and in any order: a `LineReader` cuts the text, a `JobBlockParser` turns a block into
/// records, and a `JobMerger` joins the records in file order. The result equals that of one reader
/// of the whole text, bit for bit.
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

/// Turns blocks of lines into records. Uses only those parts of the cluster that no jobs file
/// changes: construct parsers and mergers from one cluster, before any block is merged.
class JobBlockParser {
 public:
  explicit JobBlockParser(const model::Cluster& cluster);  ///< which must outlive it
  JobBlockParser(JobBlockParser&&) noexcept;
  ~JobBlockParser();

  /// Packs the block's jobs as bytes, up to its first bad line and with that line's error. Numbers
  /// of shapes, labels and so on count within the block. Several threads may call it at once.
  /// O(text)
  [[nodiscard]] std::string parse(std::string_view lines) const;

 private:
  struct ParserState;
  std::unique_ptr<ParserState> state_;
};

/// Consecutive jobs of the file. Task groups of the first job begin at 0.
struct MergedJobs {
  std::size_t first = 0;  ///< JobId of the first job
  std::vector<model::Job> jobs;
  std::vector<model::TaskGroup> groups;
};

/// Joins blocks in the order of the file.
class JobMerger {
 public:
  /// Adds GPU types and pinned jobs of the blocks to the cluster. `file` is for messages.
  JobMerger(model::Cluster& cluster, std::string file);
  JobMerger(JobMerger&&) noexcept;
  ~JobMerger();

  /// @param blocks  any number, end to end, in file order
  /// @throws InputError about the first bad line; do not call add again then. O(jobs of the blocks)
  void add(std::string_view blocks);

  /// Moves the jobs merged since the last call out of the merger; names and tables stay. @pre add
  /// threw nothing
  MergedJobs take();

  /// Reserves memory for all jobs, given the fraction of them merged so far.
  void reserve(double part);

  /// Returns names and tables, and the jobs if none were taken.
  /// @throws InputError: an id given twice, machines without room for their running jobs
  model::Workload finish();

 private:
  struct MergerState;
  std::unique_ptr<MergerState> state_;
};

}  // namespace berth::io
