// SPDX-License-Identifier: Apache-2.0
// Plots of runs: marks are where the numbers say, and no text breaks the file.
#include "svg_plot.hpp"

#include "run_plots.hpp"
#include "tiny.hpp"

#include <string>

#include <gtest/gtest.h>

namespace berth::test {
namespace {

/// The points attribute of the line with this name.
std::string points_of(const std::string& svg, const std::string& name) {
  const std::string begin = "data-name=\"" + name + "\" points=\"";
  const std::size_t at = svg.find(begin);
  if (at == std::string::npos) return "no such line";
  const std::size_t first = at + begin.size();
  return svg.substr(first, svg.find('"', first) - first);
}

TEST(SvgPlot, points_are_where_the_axes_say) {
  const sim::Plot plot{"t", "x", "y", {{"a", {{10, 0}, {20, 50}, {30, 100}}}}};
  const std::string svg = sim::svg_of(plot);
  EXPECT_NE(svg.find("data-x0=\"10\" data-x1=\"30\" data-y1=\"100\""), std::string::npos);
  EXPECT_EQ(points_of(svg, "a"), "0.00,300.00 300.00,150.00 600.00,0.00");
  EXPECT_EQ(svg, sim::svg_of(plot));
}

TEST(SvgPlot, decades_on_a_log_axis) {
  const std::string svg = sim::svg_of({"t", "x", "y", {{"a", {{1, 0}, {10, 1}, {100, 2}}}}, true});
  EXPECT_NE(svg.find("data-x0=\"0\" data-x1=\"2\" data-y1=\"2\""), std::string::npos);
  EXPECT_EQ(points_of(svg, "a"), "0.00,300.00 300.00,150.00 600.00,0.00");
  EXPECT_NE(svg.find(">100</text>"), std::string::npos);
}

TEST(SvgPlot, plots_without_points_or_height) {
  EXPECT_NE(sim::svg_of({"t", "x", "y", {{"a", {}}}}).find("</svg>"), std::string::npos);
  const std::string flat = sim::svg_of({"t", "x", "y", {{"a", {{5, 0}}}}});
  EXPECT_EQ(points_of(flat, "a"), "0.00,300.00");
}

TEST(SvgPlot, hostile_texts_are_escaped) {
  EXPECT_EQ(sim::xml_text("<script>&\"x\"</script>"),
            "&lt;script&gt;&amp;&quot;x&quot;&lt;/script&gt;");
  EXPECT_EQ(sim::xml_text("\x1b[31m\n\xff\xc0\x80 \xed\xa0\x80 \xef\xbf\xbe"), "?[31m???? ??? ???");
  EXPECT_EQ(sim::xml_text("Größe \xe2\x82\xac \xf0\x9f\x98\x80"),
            "Größe \xe2\x82\xac \xf0\x9f\x98\x80");
  const std::string svg = sim::svg_of({"</svg>", "x", "y", {{"\"><a", {{0, 1}}}}});
  EXPECT_EQ(svg.find("</svg>"), svg.size() - 7);
  EXPECT_EQ(svg.find("<a"), std::string::npos);
}

TEST(RunPlots, completion_times_by_nearest_rank) {
  Tiny tiny;
  sim::Run run;
  for (int j = 0; j < 4; ++j) {
    model::JobRecord record{.job = JobId(j)};
    if (j < 3) record.runs.push_back({.end = (j + 1) * 10 * sim::kSecond});
    run.records.push_back(record);
  }
  const auto plots = sim::plots_of(tiny.instance.cluster, run, "fifo");
  ASSERT_EQ(plots.size(), 3U);
  const auto& points = plots[2].plot.lines[0].points;  // a job that did not run does not count
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[1].x, 20.0);
  EXPECT_DOUBLE_EQ(points[1].y, 100.0 * 2 / 3);
}

}  // namespace
}  // namespace berth::test
