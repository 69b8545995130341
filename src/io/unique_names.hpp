// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "csv.hpp"
#include "words.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace berth::io {

/// Refuses a name that an earlier line of the table had.
class UniqueNames {
 public:
  void add(const Csv& csv, const Csv::Column& column) {
    const auto [entry, fresh] = lines_.try_emplace(csv.name(column), csv.line());
    if (!fresh) {
      csv.fail(column.name, in_quotes(entry->first) + " is given twice",
               "first on line " + std::to_string(entry->second));
    }
  }

 private:
  std::unordered_map<std::string, std::int64_t> lines_;
};

}  // namespace berth::io
