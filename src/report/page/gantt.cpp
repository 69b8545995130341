// SPDX-License-Identifier: Apache-2.0
#include "gantt.hpp"

#include "html.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace berth::report {

std::string gantt(const std::vector<GanttRow>& rows, std::string_view begin,
                  std::string_view caption) {
  constexpr double kRow = 14.0, kWidth = 640.0, kLeft = 150.0, kTop = 18.0;
  constexpr std::size_t kCharacters = 24;
  double last = 1.0 / 3600.0;
  for (const GanttRow& row : rows) {
    for (const GanttSpan& span : row.spans) last = std::max(last, span.to);
  }
  const auto x = [&](double hours) {
    return kLeft + std::max(0.0, hours) / last * (kWidth - kLeft);
  };
  std::string text = fmt::format(
      "<figure><svg class=\"chart\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2} jobs in "
      "time\"><text x=\"{3}\" y=\"12\">{4}</text><text x=\"{0}\" y=\"12\" "
      "text-anchor=\"end\">{5:.4g} h</text>",
      kWidth, kTop + kRow * static_cast<double>(rows.size()), rows.size(), kLeft, html(begin), last);
  double y = kTop;
  for (const GanttRow& row : rows) {
    text += fmt::format(
        "<g><title>{}</title><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        html(row.title), kLeft - 4, y + 10, html(row.name.substr(0, kCharacters)));
    for (const GanttSpan& span : row.spans) {
      text += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"11\"/>", span.look,
          x(span.from), y, std::max(0.7, x(span.to) - x(span.from)));
    }
    text += "</g>\n";
    y += kRow;
  }
  return text + fmt::format("</svg><figcaption>{}</figcaption></figure>\n", html(caption));
}

}  // namespace berth::report
