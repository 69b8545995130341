// SPDX-License-Identifier: Apache-2.0
#include "berth/report/page.hpp"

#include "../machine_use.hpp"
#include "html.hpp"
#include "page_files.hpp"
#include "sections.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

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

std::string head() {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src {}; "
      "script-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>Berth: a plan</title>\n<style>{}</style>"
      "</head>\n<body>\n",
      policy_digest(kPageStyle), policy_digest(kPageScript), kPageStyle);
}

/// Links to the sections that the body has.
std::string contents(std::string_view body) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kSections{
      {{"headline", "Plan"},
       {"gap", "Gap"},
       {"map-section", "Machines"},
       {"fragments", "Free"},
       {"time", "Time"},
       {"waiting", "Waiting"},
       {"queues", "Quotas"},
       {"prices", "Prices"},
       {"moves", "Moves"},
       {"course", "Course"}}};
  std::string text = "<nav aria-label=\"Sections\"><ul>";
  for (const auto& [id, name] : kSections) {
    if (body.find(fmt::format("<section id=\"{}\"", id)) == std::string_view::npos) continue;
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, name);
  }
  return text + "</ul></nav>\n";
}

}  // namespace

std::string page(const PageContent& content) {
  const std::vector<MachineUse> uses = machine_uses(content.now);
  const std::string body = headline_section(content, uses) + gap_section(content) +
                           map_section(content, uses) + time_section(content) +
                           fragments_section(content, uses) + waiting_section(content) +
                           queue_section(content) + price_section(content) +
                           moves_section(content) + course_section(content);
  std::string text = head() + "<header><h1>Berth</h1><pre>" + html_lines(header(content.now)) +
                     "</pre></header>\n" + contents(body) + "<main>\n" + body + "</main>\n";
  text += fmt::format("<footer><p>plan <code>{}</code></p><p>files <code>{}</code></p></footer>\n",
                      html(content.file.plan_digest.value_or("-")),
                      html(content.file.instance_digest.value_or("-")));
  text += "<script type=\"application/json\" id=\"map-data\">" + map_data(content, uses) +
          "</script>\n<script>";
  return text.append(kPageScript) + "</script>\n</body></html>\n";
}

}  // namespace berth::report
