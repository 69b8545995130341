// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::report {

/// A stretch of a row, in hours from the begin of the chart.
struct GanttSpan {
  double from = 0.0, to = 0.0;
  std::string_view look;  ///< class of the style sheet: fill, later, more
};

struct GanttRow {
  std::string name;   ///< plain text
  std::string title;  ///< what the row says when it is pointed at; plain text
  std::vector<GanttSpan> spans;
};

/// Rows of bars over time as SVG, with hours at its head. @param begin  what hour 0 is
std::string gantt(const std::vector<GanttRow>& rows, std::string_view begin,
                  std::string_view caption);

}  // namespace berth::report
