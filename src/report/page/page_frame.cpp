// SPDX-License-Identifier: Apache-2.0
#include "page_frame.hpp"

#include "html.hpp"
#include "page_files.hpp"

#include <fmt/format.h>

#include "berth/model/digest.hpp"

namespace berth::report {
namespace {

/// Digest of an element's text as a content policy names it.
std::string policy_digest(std::string_view text) {
  const std::string hex = model::Sha256().text(text).hex();
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return "'sha256-" + base64(bytes) + "'";
}

}  // namespace

std::string page_head(std::string_view title, std::string_view script) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src {}; script-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style>"
      "</head>\n<body>\n",
      policy_digest(kPageStyle), script.empty() ? "'none'" : policy_digest(script), html(title),
      kPageStyle);
}

std::string page_links(std::span<const std::pair<std::string_view, std::string_view>> sections,
                       std::string_view body) {
  std::string text = "<nav aria-label=\"Sections\"><ul>";
  for (const auto& [id, name] : sections) {
    if (body.find(fmt::format("<section id=\"{}\"", id)) == std::string_view::npos) continue;
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, name);
  }
  return text + "</ul></nav>\n";
}

}  // namespace berth::report
