// SPDX-License-Identifier: Apache-2.0
#include "berth/base/wrapped.hpp"

#include <algorithm>

namespace berth {

std::string wrapped(std::string_view line, std::size_t indent) {
  std::string text;
  for (std::size_t limit = kColumns; line.size() > limit; limit = kColumns - indent) {
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    std::size_t blank = line.rfind(' ', limit);
    if (blank == std::string_view::npos || blank <= first) blank = line.find(' ', first);
    if (blank == std::string_view::npos) break;
    text.append(line.substr(0, blank)).append("\n").append(indent, ' ');
    line.remove_prefix(std::min(line.find_first_not_of(' ', blank), line.size()));
  }
  return text.append(line);
}

}  // namespace berth
