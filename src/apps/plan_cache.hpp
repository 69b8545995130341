// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read_placement.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace berth::apps {

/// Where what was read is kept.
struct CacheFlags {
  std::string folder;  ///< empty: the user's, for large files only
  bool off = false;
};
/// Adds --cache and --no-cache.
void add_cache(CLI::App& command, CacheFlags& flags);

/// Images of what was read of an instance and a plan, so that the next command about the same bytes
/// need not read them again (docs/decisions/0106-an-index-keyed-by-content.md). An image is found
/// by the SHA-256 of the files and of the program, belongs to the user alone, and ends in the
/// SHA-256 of itself: one that does not hold is told and not used. With and without it the result
/// is equal.
class PlanCache {
 public:
  /// O(1) when the files are known since they changed last, else O(bytes of the files): their
  /// digests, on two threads. Inactive for pipes, for files below 16 MiB in all (unless a folder is
  /// given), and where the user has no folder.
  PlanCache(const CacheFlags& flags, std::vector<std::string> files);

  [[nodiscard]] std::optional<PlannedInstance> find(Heap heap);

  /// Keeps what was read of the files, and the newest images besides, a few in all. No effect when
  /// a file has changed since, and when the folder cannot be written.
  void keep(const PlannedInstance& read) const;

 private:
  struct State {
    std::string digest;                  ///< of the states of all files
    std::chrono::nanoseconds changed{};  ///< the latest change of any, since 1970
  };
  [[nodiscard]] std::optional<State> state() const;
  [[nodiscard]] std::string note() const;
  [[nodiscard]] std::optional<std::string> remembered_key() const;
  void remember() const;
  [[nodiscard]] std::optional<PlannedInstance> open(const std::string& name, Heap heap) const;
  [[nodiscard]] std::optional<std::string> key() const;
  [[nodiscard]] std::string path(const std::string& key) const;

  std::vector<std::string> files_;
  std::string folder_;              ///< empty: inactive
  std::optional<State> state_;      ///< of the files as they were at first
  std::optional<std::string> key_;  ///< of their content
  bool is_remembered_ = false;      ///< the key, from a note about their states
};

}  // namespace berth::apps
