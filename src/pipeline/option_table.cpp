// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/option_table.hpp"

#include "option_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/base/option_range.hpp"

namespace berth::pipeline {
namespace {

/// Why a word is no value of this type.
std::string not_read(const OptionField& field, std::string_view word) {
  if (field.type == "WORD") {
    return fmt::format("{} is not one of {}", word, fmt::join(field.words, ", "));
  }
  const bool whole = field.type == "INT" || field.type == "UINT";
  const char* const kind = field.type == "UINT"   ? "a whole number of 0 or more"
                           : whole                ? "a whole number"
                           : field.type == "LIST" ? "a list of numbers"
                                                  : "a number";
  return fmt::format("{} is not {}{}", word, kind, whole ? ", or it is too large" : "");
}

/// "0.05" for "5%"; any other word as it is.
std::string without_percent(std::string_view word) {
  if (!word.ends_with('%')) return std::string(word);
  const std::string_view digits = word.substr(0, word.size() - 1);
  double number = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool read = error == std::errc{} && end == digits.data() + digits.size();
  return read ? fmt::format("{}", number / 100.0) : std::string(word);
}

bool is_default(const OptionRecord& option, const PlanOptions& options) {
  return option.field.text(options) == option.field.text({});
}

bool is_recorded(const OptionRecord& option, const PlanOptions& options) {
  if (option.effect == Effect::none) return false;
  if (option.group == OptionGroup::common) return true;
  if (option.group == OptionGroup::online) return options.online_order;
  return !is_default(option, options);
}

}  // namespace

bool OptionRange::contains(double value) const {
  const bool high = above_least ? value > least : value >= least;
  return high && (below_most ? value < most : value <= most);
}

std::string OptionRange::text() const {
  if (std::isinf(least) && std::isinf(most)) return {};
  const auto number = [](double n) { return fmt::format("{:.12g}", n); };
  const std::string low = (above_least ? "(" : "[") + number(least);
  if (std::isinf(most)) return low + ", infinity)";
  return low + ", " + number(most) + (below_most ? ")" : "]");
}

std::string OptionRecord::label() const {
  return (group == OptionGroup::expert ? "" : "--") + std::string(name);
}

std::string OptionRecord::key() const {
  std::string key(name);
  std::ranges::replace(key, '-', '_');
  return key;
}

std::string OptionRecord::fault(const PlanOptions& options) const {
  const std::vector<double> numbers = field.numbers(options);
  if (std::ranges::all_of(numbers, [&](double n) { return range.contains(n); })) return {};
  std::string text = fmt::format("{} is not in {}", field.text(options), range.text());
  if (!unit.empty()) text += fmt::format("; unit: {}", unit);
  return text;
}

std::string OptionRecord::assign(PlanOptions& options, std::string_view word) const {
  const std::string plain =
      unit.starts_with("fraction") ? without_percent(word) : std::string(word);
  return field.read(options, plain) ? fault(options) : not_read(field, word);
}

std::span<const OptionRecord> option_table() {
  static const std::vector<OptionRecord> table = [] {
    std::vector<OptionRecord> all;
    for (auto group : {rows::common, rows::rounds, rows::online, rows::expert}) {
      std::ranges::move(group(), std::back_inserter(all));
    }
    return all;
  }();
  return table;
}

const OptionRecord& option_named(std::string_view name) {
  const auto found = std::ranges::find(option_table(), name, &OptionRecord::name);
  BERTH_EXPECT(found != option_table().end());
  return *found;
}

void validate(const PlanOptions& options) {
  for (const OptionRecord& option : option_table()) {
    const std::string fault = option.fault(options);
    if (!fault.empty()) throw InputError({.file = "", .line = 0, .field = option.label()}, fault);
  }
}

std::string fingerprint(const PlanOptions& options) {
  std::vector<std::string> words;
  for (const OptionRecord& option : option_table()) {
    if (option.effect != Effect::plan) continue;
    words.push_back(fmt::format("{}={}", option.key(), option.field.text(options)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::map<std::string, std::string> recorded(const PlanOptions& options) {
  std::map<std::string, std::string> record;
  for (const OptionRecord& option : option_table()) {
    if (is_recorded(option, options)) record[option.key()] = option.field.text(options);
  }
  return record;
}

}  // namespace berth::pipeline
