// SPDX-License-Identifier: Apache-2.0
// Every field of PlanOptions has a row, and what is made from the rows keeps its promises: ranges,
// fingerprint, record, docs/options.md.
#include "berth/pipeline/option_table.hpp"

#include "test_paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/base/error.hpp"

namespace berth::pipeline {
namespace {

/// Whatever a field may be made from.
struct Anything {
  template <class T>
  operator T() const;  // never called
};

/// Number of fields of an aggregate: the most initialisers that it takes.
template <class T, class... Some>
constexpr std::size_t fields() {
  if constexpr (requires { T{Some{}..., Anything{}}; }) {
    return fields<T, Some..., Anything>();
  } else {
    return sizeof...(Some);
  }
}

template <class... Structs>
constexpr std::size_t fields_of_all() {
  return (fields<Structs>() + ...);
}

/// Options with another value in this row, within its range.
PlanOptions flipped(const OptionRecord& row) {
  std::vector<std::string> candidates{"1", "2", "0.25", "0.75", "yes", "no", "some.file"};
  for (const std::string_view word : row.field.words) candidates.emplace_back(word);
  for (const std::string& word : candidates) {
    PlanOptions options;
    const bool taken = row.assign(options, word).empty();
    if (taken && row.field.text(options) != row.field.text({})) return options;
  }
  ADD_FAILURE() << "no other value for " << row.label();
  return {};
}

std::string refusal(const PlanOptions& options) {
  try {
    validate(options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(OptionTable, has_a_row_for_every_field) {
  using coordinator::GroupOptions;
  using coordinator::RoundOptions;
  using solver::SearchEffort;
  // Each struct within another is a field there; the effort is one of groups and one of dives.
  constexpr std::size_t kNested = 17;
  // JobPriceOptions::evaluations, BranchOptions::leaves and ::solves, ShardOptions::running;
  // ::most_cells of the first two
  constexpr std::size_t kSetByOthers = 6;
  constexpr std::size_t kFields =
      fields_of_all<PlanOptions, partition::PartitionOptions, solver::PriceOptions,
                    solver::ShardOptions, solver::DiveOptions, SearchEffort, solver::PackOptions,
                    solver::RepackOptions, RoundOptions, strads::ScheduleOptions, GroupOptions,
                    SearchEffort, solver::RequiredJobRepairOptions, solver::ExactSearchOptions,
                    solver::OnlineOptions, solver::JobPriceOptions, solver::BranchOptions,
                    CheckpointOptions>();
  EXPECT_EQ(option_table().size(), kFields - kNested - kSetByOthers);
}

TEST(OptionTable, has_rows_that_change_one_field_each) {
  for (const OptionRecord& row : option_table()) {
    const PlanOptions options = flipped(row);
    for (const OptionRecord& other : option_table()) {
      const bool same = other.field.text(options) == other.field.text({});
      EXPECT_EQ(same, other.name != row.name) << row.label() << " and " << other.label();
    }
  }
}

TEST(OptionTable, has_texts_that_read_back) {
  for (const OptionRecord& row : option_table()) {
    const PlanOptions options = flipped(row);
    PlanOptions read;
    EXPECT_EQ(row.assign(read, row.field.text(options)), "") << row.label();
    EXPECT_EQ(row.field.text(read), row.field.text(options));
  }
}

TEST(OptionTable, names_options_that_exist_and_explains_all) {
  for (const OptionRecord& row : option_table()) {
    EXPECT_FALSE(row.help.empty()) << row.label();
    for (const std::string_view name : {row.needs, row.excludes}) {
      const auto known = [&](const OptionRecord& other) { return other.name == name; };
      EXPECT_TRUE(name.empty() || std::ranges::any_of(option_table(), known)) << row.label();
    }
  }
}

TEST(Fingerprint, changes_with_every_option_that_changes_the_plan_and_no_other) {
  const std::string usual = fingerprint({});
  for (const OptionRecord& row : option_table()) {
    EXPECT_EQ(fingerprint(flipped(row)) != usual, row.effect == Effect::plan) << row.label();
  }
  EXPECT_EQ(option_named("rounds.theta").effect, Effect::plan);
  EXPECT_EQ(option_named("rounds").effect, Effect::length);
  EXPECT_EQ(option_named("tree-nodes").effect, Effect::proof);
  EXPECT_EQ(option_named("checkpoint-every").effect, Effect::none);
}

/// The command line says "<label>: <what assign returns>".
TEST(Validation, refuses_what_the_command_line_refuses_with_the_same_words) {
  EXPECT_EQ(refusal({}), "not refused");
  int limits = 0;
  for (const OptionRecord& row : option_table()) {
    for (const double outside : {row.range.least - 1.0, row.range.most + 1.0}) {
      PlanOptions options;
      if (!row.field.read(options, fmt::format("{}", outside))) continue;  // infinite, or unsigned
      if (row.range.contains(outside)) continue;
      ++limits;
      PlanOptions asked;
      const std::string fault = row.assign(asked, fmt::format("{}", outside));
      EXPECT_NE(fault, "") << row.label();
      EXPECT_EQ(refusal(options), row.label() + ": " + fault);
    }
  }
  EXPECT_GT(limits, 80);
  PlanOptions options;
  options.gap = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(options), "--gap: nan is not in [0, 1); unit: fraction, 0.001 is 0.1 %");
}

TEST(Validation, says_what_a_word_should_have_been) {
  PlanOptions options;
  EXPECT_EQ(option_named("shards").assign(options, "many"),
            "many is not a whole number, or it is too large");
  EXPECT_EQ(option_named("seed").assign(options, "-4"),
            "-4 is not a whole number of 0 or more, or it is too large");
  EXPECT_EQ(option_named("gap").assign(options, "small"), "small is not a number");
  EXPECT_EQ(option_named("objective").assign(options, "profit"),
            "profit is not one of value, allocate");
  EXPECT_EQ(option_named("prices.pool-eps").assign(options, "0.1,"),
            "0.1, is not a list of numbers");
  EXPECT_EQ(option_named("prices.pool-eps").assign(options, "0.1,0.05"), "");
  EXPECT_EQ(options.prices.pool_eps, (std::vector<double>{0.1, 0.05}));
}

TEST(Record, has_common_options_always_and_others_where_they_are_not_the_defaults) {
  using Words = std::map<std::string, std::string>;
  EXPECT_EQ(recorded({}), (Words{{"objective", "value"},
                                 {"order", "value"},
                                 {"shards", "0"},
                                 {"gap", "0.0001"},
                                 {"effort", "1"},
                                 {"bound_steps", "-1"},
                                 {"tree_nodes", "-1"},
                                 {"seed", "0"}}));
  PlanOptions options;
  options.rounds.selection.rule = strads::SelectionRule::largest;
  options.shard.dive.eps = 0.001;
  options.checkpoint.every = 7;
  options.online_order = true;
  const Words words = recorded(options);
  EXPECT_EQ(words.at("offer_choice"), "largest");
  EXPECT_EQ(words.at("dive.eps"), "0.001");
  EXPECT_EQ(words.at("batch"), "1");
  EXPECT_FALSE(words.contains("checkpoint_every"));
}

TEST(OptionsPage, is_what_the_docs_show) {
  const auto path = test::source_root() / "docs" / "options.md";
  if (std::getenv("BERTH_UPDATE_DOCS") != nullptr) std::ofstream(path) << options_page();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), options_page()) << "write it anew: BERTH_UPDATE_DOCS=1 option_table_test";
}

}  // namespace
}  // namespace berth::pipeline
