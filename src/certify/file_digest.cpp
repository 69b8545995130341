// SPDX-License-Identifier: Apache-2.0
#include "file_digest.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace berth::certify {

void FileDigest::add(const model::RawPlacement& placed) {
  for (const model::RawTask& task : placed.tasks) {
    if (task.gpus.empty()) add_line(placed.job, task.machine, -1, 0, placed.start);
    for (const model::RawDevice& d : task.gpus) {
      add_line(placed.job, task.machine, d.index, d.milli, placed.start);
    }
  }
  if (by_name_) digest_lines();
}

std::string FileDigest::hex() {
  digest_lines();
  return sha_.hex();
}

void FileDigest::add_line(const std::string& job, const std::string& machine, std::int64_t device,
                          std::int64_t milli, std::int64_t start) {
  text_.append(job).append(1, '\t').append(machine);
  for (const std::int64_t number : {device, milli, start}) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text_.append(1, '\t').append(digits.data(), end);
  }
  text_ += '\n';
  ends_.push_back(text_.size());
}

void FileDigest::digest_lines() {
  std::vector<std::string_view> lines;
  lines.reserve(ends_.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    lines.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  std::ranges::sort(lines);
  for (const std::string_view line : lines) sha_.text(line);
  text_.clear();
  ends_.clear();
}

}  // namespace berth::certify
