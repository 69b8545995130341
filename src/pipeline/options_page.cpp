// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "berth/pipeline/option_table.hpp"

namespace berth::pipeline {
namespace {

constexpr std::string_view kIntroduction = R"(# Options of a plan

Written from the option table (`berth/pipeline/option_table.hpp`); a test compares this page with it,
and writes it anew when the environment says `BERTH_UPDATE_DOCS=1`. The same table gives
`berth plan` its flags, refuses values out of range, fills `options` of the plan file and the
fingerprint of a checkpoint. Files, threads, the time limit and the log are no options of a plan:
`berth plan --help` lists them. `--policy NAME` (with `--profiles`, `--horizon`) puts what a policy of `berth simulate`
does in the place of Berth's own plan, and keeps the bound ([simulate.md](simulate.md#plans-of-policies)).

*Changes* says what another value changes: the *plan* (a checkpoint can be resumed under the same
value only), the *length* of the search (a checkpoint may be resumed under another value), the
*proof* of the bound alone, or *nothing* but the files that are written.
)";

std::string_view title(OptionGroup group) {
  switch (group) {
    case OptionGroup::common:
      return "Common";
    case OptionGroup::rounds:
      return "Rounds, for studies";
    case OptionGroup::online:
      return "Jobs in order of arrival";
    case OptionGroup::expert:
      break;
  }
  return "Tuned constants, in the library only";
}

std::string_view word(Effect effect) {
  switch (effect) {
    case Effect::plan:
      return "plan";
    case Effect::length:
      return "length";
    case Effect::proof:
      return "proof";
    case Effect::none:
      break;
  }
  return "nothing";
}

std::string values(const OptionRecord& option) {
  if (option.field.words.empty()) return option.range.text();
  return fmt::format("{}", fmt::join(option.field.words, ", "));
}

}  // namespace

std::string options_page() {
  std::string page(kIntroduction);
  const OptionRecord* last = nullptr;
  for (const OptionRecord& option : option_table()) {
    if (last == nullptr || last->group != option.group) {
      page += fmt::format("\n## {}\n\n", title(option.group));
      page += "| option | default | values | unit | changes | what it is |\n";
      page += "|---|---|---|---|---|---|\n";
    }
    last = &option;
    page +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", option.label(), option.field.text({}),
                    values(option), option.unit, word(option.effect), option.help);
  }
  return page;
}

}  // namespace berth::pipeline
