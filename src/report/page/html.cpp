// SPDX-License-Identifier: Apache-2.0
#include "html.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::report {
namespace {

/// Bytes of the UTF-8 character at text[at]; 0: none starts there.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xc2 && first <= 0xdf ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::string_view reference(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string clean(std::string_view text) {
  const std::string shown = printable(text);
  std::string result;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t length = utf8_length(shown, at);
    result += length == 0 ? std::string("\xef\xbf\xbd") : shown.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string html(std::string_view text) {
  std::string result;
  for (const char c : clean(text)) {
    const std::string_view as = reference(c);
    if (as.empty()) {
      result += c;
    } else {
      result += as;
    }
  }
  return result;
}

std::string html_lines(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += html(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return result;
}

std::string html_name(std::string_view name) { return "<bdi>" + html(name) + "</bdi>"; }

std::string script_text(std::string_view clean) {
  std::string result;
  for (const char c : clean) {
    if (std::string_view("\"\\<>&").find(c) != std::string_view::npos) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      word = (word << 8) | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      result += i <= count ? kDigits[(word >> (18 - 6 * i)) & 63] : '=';
    }
  }
  return result;
}

std::string figure(std::string_view name, double value, const std::string& shown) {
  return fmt::format("<data data-figure=\"{}\" value=\"{}\">{}</data>", html(name), value,
                     html(shown));
}

std::string figure(std::string_view name, std::int64_t value) {
  return fmt::format("<data data-figure=\"{0}\" value=\"{1}\">{1}</data>", html(name), value);
}

std::string bar(double fraction, double more) {
  const double first = std::clamp(fraction, 0.0, 1.0);
  const double second = std::clamp(more, 0.0, 1.0 - first);
  std::string text =
      "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<rect class=\"track\" width=\"100\" height=\"8\"/>";
  text += fmt::format("<rect class=\"fill\" width=\"{:.2f}\" height=\"8\"/>", 100.0 * first);
  if (second > 0.0) {
    text += fmt::format("<rect class=\"more\" x=\"{:.2f}\" y=\"2\" width=\"{:.2f}\" height=\"4\"/>",
                        100.0 * first, 100.0 * second);
  }
  return text + "</svg>";
}

HtmlTable::HtmlTable(std::string_view caption, const std::vector<std::string>& heads,
                     std::size_t words)
    : words_(words),
      text_(fmt::format("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
                        "<table><caption>{0}</caption><thead><tr>",
                        html(caption))) {
  for (std::size_t c = 0; c < heads.size(); ++c) {
    text_ += fmt::format("<th scope=\"col\"{}>{}</th>", c < words_ ? "" : " class=\"n\"",
                         html(heads[c]));
  }
  text_ += "</tr></thead><tbody>\n";
}

void HtmlTable::add(const std::vector<std::string>& cells) {
  text_ += "<tr>";
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c == 0) {
      text_ += "<th scope=\"row\">" + cells[c] + "</th>";
    } else {
      text_ += (c < words_ ? "<td>" : "<td class=\"n\">") + cells[c] + "</td>";
    }
  }
  text_ += "</tr>\n";
}

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 "
      "id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
      id, html(title), body);
}

}  // namespace berth::report
