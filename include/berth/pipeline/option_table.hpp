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

/// What another value of an option changes.
enum class Effect : std::uint8_t {
  plan,    ///< the placements: a checkpoint can be resumed under the same value only
  length,  ///< how long the search goes on: a checkpoint may be resumed under another value
  proof,   ///< the bound alone
  none,    ///< nothing but when and where files are written
};

enum class OptionGroup : std::uint8_t {
  common,
  rounds,  ///< of the STRADS rounds; on the command line for studies
  online,  ///< used when jobs are placed as they arrive
  expert,  ///< tuned constants, not on the command line
};

/// Numbers that an option may have; of a list, each of them.
struct OptionRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< `least` itself is out
  bool below_most = false;   ///< `most` itself is out

  [[nodiscard]] bool contains(double value) const;  ///< never of NaN
  [[nodiscard]] std::string text() const;           ///< "[0, 1)"; empty when all numbers are in
};

/// One field of PlanOptions, as text and as numbers.
struct OptionField {
  std::string_view type;                         ///< INT, UINT, FLOAT, LIST, TEXT, WORD or FLAG
  std::span<const std::string_view> words;       ///< what a WORD may be
  std::string (*text)(const PlanOptions&);       ///< shortest that reads back to the same value
  bool (*read)(PlanOptions&, std::string_view);  ///< false, and nothing done: no such value
  std::vector<double> (*numbers)(const PlanOptions&);  ///< none for TEXT, WORD and FLAG
};

/// All there is to know about one option. The command line, `validate`, the plan file's record, the
/// checkpoint's fingerprint and docs/options.md come from these rows (the model is HiGHS'
/// OptionRecord). The default is that of the field.
struct OptionRecord {
  std::string_view name;  ///< on the command line with two dashes before it
  OptionField field;
  std::string_view unit = {};  ///< may be empty
  OptionRange range = {};
  std::string_view help = {};
  Effect effect = Effect::plan;
  OptionGroup group = OptionGroup::common;
  std::string_view needs = {};     ///< option without which this one says nothing
  std::string_view excludes = {};  ///< option it cannot be given with

  /// As a user knows it: with dashes where it is on the command line.
  [[nodiscard]] std::string label() const;
  /// Its name in files: '_' for '-'.
  [[nodiscard]] std::string key() const;
  /// Why the value in `options` is refused; empty when it is not.
  [[nodiscard]] std::string fault(const PlanOptions& options) const;
  /// Reads the word into `options`. Why it is refused; empty when it is not.
  [[nodiscard]] std::string assign(PlanOptions& options, std::string_view word) const;
};

/// All options of a plan, by group.
std::span<const OptionRecord> option_table();

/// @pre there is one of this name
const OptionRecord& option_named(std::string_view name);

/// Every option that changes the plan, "name=value" by spaces: equal for equal plans.
std::string fingerprint(const PlanOptions& options);

/// What the plan file records: of the common options those that change plan or proof, the online
/// ones when jobs are placed as they arrive, of all others those that are not the defaults.
std::map<std::string, std::string> recorded(const PlanOptions& options);

/// docs/options.md.
std::string options_page();

}  // namespace berth::pipeline
