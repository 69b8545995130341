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

/// A jobs file (docs/formats.md) in blocks of whole lines, which can be parsed anywhere and in any
/// order: a `LineReader` cuts the text, a `JobBlockParser` makes records of a block, and a
/// `JobMerger` puts these together in the order of the file, to what one reader of the whole text
/// would have made of it, bit for bit.
namespace berth::io {

inline constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

/// Takes whole lines off the front of the text: those of the first `size` bytes, or one line when
/// it is longer. What is left at the end of the text counts as a line.
std::string_view take_lines(std::string_view& text, std::size_t size);

/// The text of a file by whole lines, without a byte order mark.
class LineReader {
 public:
  explicit LineReader(const std::string& path) : pieces_(path) {}  ///< @throws InputError

  /// Appends the next lines: about `size` bytes, or one line when it is longer. False: there was
  /// nothing left. @throws InputError (gzip that is damaged from here on)
  bool append(std::string& lines, std::size_t size);

  [[nodiscard]] double part_read() const { return pieces_.part_read(); }  ///< 0 to 1

 private:
  PieceReader pieces_;
  std::string rest_;  ///< a line whose end was not read yet
  bool first_ = true;
};

/// Makes records of blocks. Of the cluster only what no jobs file changes is used: parsers and
/// mergers are made from the same cluster, before any block is merged.
class JobBlockParser {
 public:
  explicit JobBlockParser(const model::Cluster& cluster);  ///< which must outlive it
  JobBlockParser(JobBlockParser&&) noexcept;
  ~JobBlockParser();

  /// The block's jobs as bytes, up to its first bad line and with what is wrong there. Numbers of
  /// shapes, labels and so on are the block's own. Several threads may call it at once. O(text)
  [[nodiscard]] std::string parse(std::string_view lines) const;

 private:
  struct ParserState;
  std::unique_ptr<ParserState> state_;
};

/// Consecutive jobs, as they follow in the file. Groups of the first begin at 0.
struct MergedJobs {
  std::size_t first = 0;  ///< JobId of the first
  std::vector<model::Job> jobs;
  std::vector<model::TaskGroup> groups;
};

/// Puts blocks together, the first first.
class JobMerger {
 public:
  /// GPU types and pinned jobs of the blocks are added to the cluster. `file` is for messages.
  JobMerger(model::Cluster& cluster, std::string file);
  JobMerger(JobMerger&&) noexcept;
  ~JobMerger();

  /// @param blocks  any number, end to end, as they follow in the file
  /// @throws InputError about the first bad line; merge no more then. O(jobs of the blocks)
  void add(std::string_view blocks);

  /// The jobs merged since the last call leave the merger; names and tables stay. @pre add threw
  /// nothing
  MergedJobs take();

  /// Makes room for all jobs when those merged so far are this part of them.
  void reserve(double part);

  /// Names and tables, and the jobs if none were taken.
  /// @throws InputError: an id given twice, machines that do not hold what runs on them
  model::Workload finish();

 private:
  struct MergerState;
  std::unique_ptr<MergerState> state_;
};

}  // namespace berth::io
