// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::report {

/// Text in elements and quoted attributes: control characters as `printable` shows them, the
/// characters of markup as references, bytes that are not UTF-8 as U+FFFD.
std::string html(std::string_view text);
/// The same with line breaks kept.
std::string html_lines(std::string_view text);
/// A name from a file: markup escaped, its direction of writing kept from the text around it.
std::string html_name(std::string_view name);
/// The text with control characters as `printable` shows them and valid UTF-8 only.
std::string clean(std::string_view text);
/// Clean text as the inside of a JSON string in a script element: no character ends the element.
std::string script_text(std::string_view clean);
std::string base64(std::string_view bytes);

/// `<data>` element whose value a program reads: `data-figure` names it.
std::string figure(std::string_view name, double value, const std::string& shown);
std::string figure(std::string_view name, std::int64_t value);

/// Bar that fills `fraction` of its width, and behind that `more` in hatching.
std::string bar(double fraction, double more = 0.0);

/// A table with one row of heads; cells are HTML. The first column is the heads of the rows, and
/// cells of columns beyond `words` first ones are numbers.
class HtmlTable {
 public:
  HtmlTable(std::string_view caption, const std::vector<std::string>& heads, std::size_t words = 1);
  void add(const std::vector<std::string>& cells);
  [[nodiscard]] std::string text() const { return text_ + "</tbody></table></div>\n"; }

 private:
  std::size_t words_;
  std::string text_;
};

/// A line of a chart: its name and its points.
struct ChartLine {
  std::string name;  ///< plain text
  std::vector<double> x, y;
};
/// Lines as SVG with the least and largest values at the axes, told apart by dashes too; steps:
/// each value holds until the next. At most 6 lines.
std::string chart(std::string_view title, std::string_view x_title,
                  std::span<const ChartLine> lines, bool steps);

/// A section of the page with its head. Empty body: no section.
std::string section(std::string_view id, std::string_view title, const std::string& body);

}  // namespace berth::report
