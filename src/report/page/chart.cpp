// SPDX-License-Identifier: Apache-2.0
#include "html.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace berth::report {
namespace {

constexpr double kWidth = 640.0, kHeight = 200.0, kLeft = 84.0, kBottom = 28.0, kTop = 10.0;

/// Least and largest value of all lines.
struct ChartRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(const std::vector<double>& values) {
    for (const double v : values) low = std::min(low, v), high = std::max(high, v);
  }
  [[nodiscard]] double part(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

std::string points(const ChartLine& line, const ChartRange& x, const ChartRange& y, bool steps) {
  const auto at = [&](double px, double py) {
    return fmt::format("{:.1f},{:.1f} ", kLeft + x.part(px) * (kWidth - kLeft - 8.0),
                       kTop + (1.0 - y.part(py)) * (kHeight - kTop - kBottom));
  };
  std::string text;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (steps && i > 0) text += at(line.x[i], line.y[i - 1]);
    text += at(line.x[i], line.y[i]);
  }
  return text;
}

std::string label(double x, double y, std::string_view anchor, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     html(text));
}

}  // namespace

std::string chart(std::string_view title, std::string_view x_title,
                  std::span<const ChartLine> lines, bool steps) {
  ChartRange x, y;
  for (const ChartLine& line : lines) x.add(line.x), y.add(line.y);
  if (!(x.low <= x.high)) return {};
  std::string text = fmt::format(
      "<figure><svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: from "
      "{:.8g} "
      "to {:.8g}\">",
      kWidth, kHeight, html(title), y.low, y.high);
  text += fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>", kLeft, kTop,
                      kHeight - kBottom, kWidth - 8.0);
  text += label(kLeft - 6, kTop + 10, "end", fmt::format("{:.8g}", y.high));
  text += label(kLeft - 6, kHeight - kBottom, "end", fmt::format("{:.8g}", y.low));
  text += label(kLeft, kHeight - 8, "start", fmt::format("{:.8g}", x.low));
  text += label(kWidth - 8, kHeight - 8, "end", fmt::format("{:.8g}", x.high));
  text += label((kLeft + kWidth) / 2, kHeight - 8, "middle", std::string(x_title));
  std::string names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format("<polyline class=\"line line{}\" points=\"{}\"/>", i % 6,
                        points(lines[i], x, y, steps));
    names += fmt::format(
        "<li><svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path class=\"line "
        "line{}\" d=\"M0 4H24\"/></svg> {}</li>",
        i % 6, html_name(lines[i].name));
  }
  return text + "</svg><figcaption>" + html(title) + "<ul class=\"keys\">" + names +
         "</ul></figcaption></figure>\n";
}

}  // namespace berth::report
