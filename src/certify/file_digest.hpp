// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/digest.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// The plan digest of a plan file's own content: SHA-256 over its lines `job TAB machine TAB device
/// TAB milli TAB start` as the file states them, sorted bytewise.
class FileDigest {
 public:
  /// @param by_name  jobs come in ascending order of their names, so lines are digested at once;
  /// otherwise all lines are kept, about 60 bytes a device
  explicit FileDigest(bool by_name) : by_name_(by_name) {}

  void add(const model::RawPlacement& placed);
  std::string hex();  ///< call after all jobs

 private:
  void add_line(const std::string& job, const std::string& machine, std::int64_t device,
                std::int64_t milli, std::int64_t start);
  void digest_lines();

  bool by_name_;
  std::string text_;               ///< lines not digested yet
  std::vector<std::size_t> ends_;  ///< of the lines
  model::Sha256 sha_;
};

}  // namespace berth::certify
