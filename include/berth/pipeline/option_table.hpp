// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {

/// What a change of an option's value affects.
enum class Effect : std::uint8_t {
  plan,    ///< the placements: a checkpoint can be resumed under the same value only
  length,  ///< the length of the search: a checkpoint may be resumed under another value
  proof,   ///< the bound only
  none,    ///< only when and where files are written
};

enum class OptionGroup : std::uint8_t {
  common,
  rounds,  ///< of the STRADS rounds; on the command line for studies
  online,  ///< used when jobs are placed as they arrive
  expert,  ///< tuned constants, not on the command line
};

/// Range of an option's number; of a list, of each number.
struct OptionRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< `least` itself is excluded
  bool below_most = false;   ///< `most` itself is excluded

  [[nodiscard]] bool contains(double value) const;  ///< false for NaN
  [[nodiscard]] std::string text() const;  ///< "[0, 1)"; empty when every number is allowed
};

/// Access to one field of PlanOptions, as text and as numbers.
struct OptionField {
  std::string_view type;                    ///< INT, UINT, FLOAT, LIST, TEXT, WORD or FLAG
  std::span<const std::string_view> words;  ///< the values of a WORD
  std::string (*text)(const PlanOptions&);  ///< shortest text that reads back to an equal value
  /// false, without any change, if the text is no value
  bool (*read)(PlanOptions&, std::string_view);
  std::vector<double> (*numbers)(const PlanOptions&);  ///< none for TEXT, WORD and FLAG
};

/// Everything about one option. The command line, `validate`, the plan file's record, the
/// checkpoint's fingerprint and docs/options.md come from these rows (after HiGHS' OptionRecord).
/// The default is that of the field.
struct OptionRecord {
  std::string_view name;  ///< its flag without the two dashes
  OptionField field;
  std::string_view unit = {};  ///< may be empty
  OptionRange range = {};
  std::string_view help = {};
  Effect effect = Effect::plan;
  OptionGroup group = OptionGroup::common;
  std::string_view needs = {};     ///< option without which this one has no effect
  std::string_view excludes = {};  ///< option that excludes this one

  /// Its name for users: with dashes if it is on the command line.
  [[nodiscard]] std::string label() const;
  /// Its name in files: '_' for '-'.
  [[nodiscard]] std::string key() const;
  /// Why the value in `options` is refused; empty when it is valid.
  [[nodiscard]] std::string fault(const PlanOptions& options) const;
  /// Parses the word into `options`. Returns why it is refused; empty when it is valid.
  [[nodiscard]] std::string assign(PlanOptions& options, std::string_view word) const;
};

/// All options of a plan, by group.
std::span<const OptionRecord> option_table();

/// @pre an option of this name exists
const OptionRecord& option_named(std::string_view name);

/// All options that change the plan, as "name=value" separated by spaces: equal for equal plans.
std::string fingerprint(const PlanOptions& options);

/// What the plan file records: of the common options those that change plan or proof, the online
/// ones when jobs are placed as they arrive, of all others those that are not the defaults.
std::map<std::string, std::string> recorded(const PlanOptions& options);

/// The text of docs/options.md.
std::string options_page();

}  // namespace berth::pipeline
