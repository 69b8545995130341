// SPDX-License-Identifier: Apache-2.0
#include "berth/report/page.hpp"

#include "../machine_use.hpp"
#include "html.hpp"
#include "page_files.hpp"
#include "page_frame.hpp"
#include "sections.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace berth::report {
namespace {

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

}  // namespace

std::string page(const PageContent& content) {
  const std::vector<MachineUse> uses = machine_uses(content.now);
  const std::string body = headline_section(content, uses) + gap_section(content) +
                           map_section(content, uses) + time_section(content) +
                           fragments_section(content, uses) + waiting_section(content) +
                           queue_section(content) + price_section(content) +
                           moves_section(content) + course_section(content);
  std::string text = page_head("Berth: a plan", kPageScript) + "<header><h1>Berth</h1><pre>" + html_lines(header(content.now)) +
                     "</pre></header>\n" + page_links(kSections, body) + "<main>\n" + body + "</main>\n";
  text += fmt::format("<footer><p>plan <code>{}</code></p><p>files <code>{}</code></p></footer>\n",
                      html(content.file.plan_digest.value_or("-")),
                      html(content.file.instance_digest.value_or("-")));
  text += "<script type=\"application/json\" id=\"map-data\">" + map_data(content, uses) +
          "</script>\n<script>";
  return text.append(kPageScript) + "</script>\n</body></html>\n";
}

}  // namespace berth::report
