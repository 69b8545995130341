// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "berth/io/job_blocks.hpp"

namespace berth::io {

std::string_view take_lines(std::string_view& text, std::size_t size) {
  std::size_t end = text.size();
  if (size < text.size()) {
    const std::size_t last = text.substr(0, size).rfind('\n');
    end = last != text.npos ? last : std::min(text.find('\n', size), text.size() - 1);
    ++end;
  }
  const std::string_view lines = text.substr(0, end);
  text.remove_prefix(end);
  return lines;
}

bool LineReader::append(std::string& lines, std::size_t size) {
  constexpr std::size_t kMostLine = std::size_t{256} << 20;  // a running job of a million tasks
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  const std::size_t begin = lines.size();
  lines += std::exchange(rest_, {});
  for (std::size_t known = lines.size(); pieces_.append(lines, size); known = lines.size()) {
    const std::size_t last = std::string_view(lines).substr(known).rfind('\n');
    if (last == std::string_view::npos) {
      if (lines.size() - begin > kMostLine) pieces_.refuse("a line of more than 256 MiB");
      continue;
    }
    rest_ = lines.substr(known + last + 1);
    lines.resize(known + last + 1);
    break;
  }
  const bool some = lines.size() > begin;
  if (std::exchange(first_, false) &&
      std::string_view(lines).substr(begin).starts_with(byte_order_mark)) {
    lines.erase(begin, byte_order_mark.size());
  }
  return some;
}

}  // namespace berth::io
