// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::sim {

struct PlotPoint {
  double x = 0.0, y = 0.0;  ///< finite
};

struct PlotLine {
  std::string name;
  std::vector<PlotPoint> points;  ///< ascending x
  bool dashed = false;
};

/// Lines over one pair of axes. y begins at 0.
struct Plot {
  std::string title, x_label, y_label;
  std::vector<PlotLine> lines;  ///< the first four have colours of their own
  bool log_x = false;           ///< decades; x > 0
};

/// The plot as an SVG file, readable on light and on dark ground. Any text is escaped; bytes that
/// XML does not allow become "?". The group `plot` has the ends of the axes (data-x0, -x1, -y1: a
/// point (x0, 0) is at the group's (0, 300), (x1, y1) at (600, 0); on a log axis x0 and x1 are
/// exponents of ten). Equal plots are equal bytes. O(points)
std::string svg_of(const Plot& plot);

/// A text for XML.
std::string xml_text(std::string_view text);

}  // namespace berth::sim
