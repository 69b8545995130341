// SPDX-License-Identifier: Apache-2.0
#include "dependencies.hpp"
#include "interner.hpp"
#include "job_tables.hpp"
#include "running_room.hpp"
#include "words.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/io/job_blocks.hpp"

namespace berth::io {

namespace {

/// Number in the whole of each row of a block, by the block's number; appends new rows to the
/// whole.
template <class Row, class Rows>
void merge_rows(const std::vector<Row>& block, Rows& known, std::vector<Row>& whole,
                std::vector<std::uint32_t>& numbers) {
  for (const Row& row : block) {
    numbers.push_back(known.intern(row, [&](const Row& fresh) { whole.push_back(fresh); }));
  }
}

/// Position of the first repeated name and of the earlier equal one; no value when all names
/// differ. Open addressing: at most 24 bytes a name during the call.
std::optional<std::pair<std::size_t, std::size_t>> first_repeated(const NameTable& names) {
  struct HashSlot {
    std::uint32_t tag = 0;   // half of the name's hash; the other half chose the slot
    std::uint32_t name = 0;  // index + 1; 0: empty slot
  };
  std::vector<HashSlot> slots(std::bit_ceil(names.size() + names.size() / 2 + 1));
  for (std::size_t n = 0; n < names.size(); ++n) {
    const std::uint64_t hash = std::hash<std::string_view>()(names[n]);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = hash & (slots.size() - 1);
    for (; slots[at].name != 0; at = (at + 1) & (slots.size() - 1)) {
      const std::size_t earlier = slots[at].name - std::size_t{1};
      if (slots[at].tag == tag && names[earlier] == names[n]) return std::pair{earlier, n};
    }
    slots[at] = {.tag = tag, .name = static_cast<std::uint32_t>(n + 1)};
  }
  return std::nullopt;
}

}  // namespace

struct TableMerger::MergerState {
  MergerState(model::Cluster& all, std::string path)
      : cluster(all), file(std::move(path)), known_types(all.gpu_types.size()) {
    factors.intern(merged.factors.front(), [](const model::Factors&) {});
    rules.intern(merged.rules.front(), [](const model::PlacementRules&) {});
    time_rules.intern(merged.time_rules.front(), [](const model::TimeRules&) {});
    utilities.intern(merged.utilities.front(), [](const model::Utility&) {});
    configurations.intern(merged.configurations.front(), [](const auto&) {});
    speeds.intern({}, [&](const SpeedRow& fresh) { speed_rows.push_back(fresh); });
  }

  BlockNumbers add(const BlockTables& block);
  [[noreturn]] void fail(std::uint32_t line, const std::string& field, const std::string& problem,
                         const std::string& hint) const;
  void add_types(const BlockTables& block, std::vector<std::uint32_t>& types);
  void add_speeds(const BlockTables& block, BlockNumbers& numbers);
  void add_time_rules(const BlockTables& block, BlockNumbers& numbers);
  void add_running(const BlockTables& block, const BlockNumbers& numbers);
  void refuse_repeated_ids() const;
  void fill_speeds();

  model::Cluster& cluster;
  std::string file;
  std::size_t known_types;  // of the cluster, before any block
  model::WorkloadTables merged;
  std::vector<BlockTables::NamedDependency> dependencies;
  std::vector<ShapeId> running_shapes;  // by running task
  std::vector<std::uint32_t> lines;     // by JobId
  std::uint32_t lines_before = 0;       // lines in all earlier blocks
  std::uint32_t first_spread = 0;       // first line with the old key; 0: none
  Interner<model::Shape, ShapeHash> shapes;
  Interner<model::Factors, FactorsHash> factors;
  Interner<model::PlacementRules, RulesHash> rules;
  Interner<model::TimeRules, TimeRulesHash> time_rules;
  Interner<model::Utility, UtilityHash> utilities;
  Interner<std::vector<model::Configuration>, ConfigurationsHash> configurations;
  Interner<std::string> labels;
  Interner<SpeedRow, SpeedHash> speeds;
  std::vector<SpeedRow> speed_rows;
};

void TableMerger::MergerState::fail(std::uint32_t line, const std::string& field,
                                    const std::string& problem, const std::string& hint) const {
  throw InputError({.file = file, .line = std::int64_t{lines_before} + line, .field = field},
                   problem, hint);
}

void TableMerger::MergerState::add_types(const BlockTables& block,
                                         std::vector<std::uint32_t>& types) {
  for (std::size_t t = 0; t < known_types; ++t) types.push_back(static_cast<std::uint32_t>(t));
  auto& all = cluster.gpu_types;
  for (const BlockTables::NewType& type : block.gpu_types) {
    const auto found = std::ranges::find(all, type.name);
    types.push_back(static_cast<std::uint32_t>(found - all.begin()));
    if (found != all.end()) continue;
    if (all.size() == model::kMaxGpuTypes) {
      fail(type.line, type.field, "more than 64 GPU types in cluster and jobs together",
           did_you_mean(type.name, all));
    }
    all.push_back(type.name);
  }
}

void TableMerger::MergerState::add_speeds(const BlockTables& block, BlockNumbers& numbers) {
  numbers.speeds.assign(1, 0);
  for (const SpeedRow& row : block.speeds) {
    SpeedRow whole;
    for (const auto& [type, speed] : row) whole.emplace_back(numbers.types[type], speed);
    std::ranges::sort(whole);
    numbers.speeds.push_back(
        speeds.intern(whole, [&](const SpeedRow& fresh) { speed_rows.push_back(fresh); }));
  }
}

void TableMerger::MergerState::add_time_rules(const BlockTables& block, BlockNumbers& numbers) {
  std::vector<std::uint32_t> of_utility, of_configurations;
  merge_rows(block.shared.utilities, utilities, merged.utilities, of_utility);
  merge_rows(block.shared.configurations, configurations, merged.configurations, of_configurations);
  for (model::TimeRules row : block.shared.time_rules) {
    row.utility = of_utility[row.utility];
    row.configurations = of_configurations[row.configurations];
    numbers.time_rules.push_back(time_rules.intern(
        row, [&](const model::TimeRules& fresh) { merged.time_rules.push_back(fresh); }));
  }
}

void TableMerger::MergerState::add_running(const BlockTables& block, const BlockNumbers& numbers) {
  const auto first_task = static_cast<std::uint32_t>(merged.running_tasks.size());
  for (model::Running running : block.shared.running) {
    running.job = JobId(numbers.first_job.index() + running.job.index());
    running.first_task += first_task;
    running.rules = numbers.rules[running.rules];
    merged.running.push_back(running);
  }
  for (const ShapeId shape : block.running_shapes) {
    running_shapes.emplace_back(std::size_t{numbers.shapes[shape.index()]});
  }
  const auto& tasks = block.shared.running_tasks;
  merged.running_tasks.insert(merged.running_tasks.end(), tasks.begin(), tasks.end());
}

BlockNumbers TableMerger::MergerState::add(const BlockTables& block) {
  BlockNumbers numbers{.first_job = JobId(lines.size()),
                       .first_running = static_cast<std::int32_t>(merged.running.size())};
  add_types(block, numbers.types);
  if (block.fault) {
    fail(block.fault->line, block.fault->field, block.fault->problem, block.fault->hint);
  }
  add_speeds(block, numbers);
  merge_rows(block.shared.shapes, shapes, merged.shapes, numbers.shapes);
  merge_rows(block.shared.factors, factors, merged.factors, numbers.factors);
  merge_rows(block.shared.rules, rules, merged.rules, numbers.rules);
  add_time_rules(block, numbers);
  merge_rows(block.shared.labels, labels, merged.labels, numbers.labels);
  for (std::size_t j = 0; j < block.lines.size(); ++j) {
    merged.job_names.add(block.shared.job_names[j]);
    lines.push_back(lines_before + block.lines[j]);
  }
  const model::JobTitles& titles = block.shared.titles;
  for (std::size_t t = 0; t < titles.job.size(); ++t) {
    merged.titles.job.emplace_back(numbers.first_job.index() + titles.job[t].index());
    merged.titles.name.add(titles.name[t]);
    merged.titles.user.add(titles.user[t]);
  }
  for (const BlockTables::NamedDependency& d : block.dependencies) {
    dependencies.push_back({JobId(numbers.first_job.index() + d.job.index()), d.after});
  }
  add_running(block, numbers);
  if (block.first_spread > 0 && first_spread == 0) first_spread = lines_before + block.first_spread;
  lines_before += block.line_count;
  return numbers;
}

void TableMerger::MergerState::fill_speeds() {
  const std::size_t types = cluster.gpu_types.size();
  merged.speed_types = static_cast<std::uint32_t>(types);
  merged.speeds.assign(speed_rows.size() * types, 1.0);
  for (std::size_t row = 0; row < speed_rows.size(); ++row) {
    for (const auto& [type, speed] : speed_rows[row]) merged.speeds[row * types + type] = speed;
  }
}

void TableMerger::MergerState::refuse_repeated_ids() const {
  const auto twice = first_repeated(merged.job_names);
  if (!twice) return;
  throw InputError({.file = file, .line = lines[twice->second], .field = "id"},
                   "job " + in_quotes(merged.job_names[twice->second]) + " is given twice",
                   "first on line " + std::to_string(lines[twice->first]));
}

TableMerger::TableMerger(model::Cluster& cluster, std::string file)
    : state_(new MergerState(cluster, std::move(file))) {}
TableMerger::TableMerger(TableMerger&&) noexcept = default;
TableMerger::~TableMerger() = default;

BlockNumbers TableMerger::add(const BlockTables& block) { return state_->add(block); }
std::size_t TableMerger::jobs() const { return state_->lines.size(); }

void TableMerger::reserve(double part) {
  NameTable& names = state_->merged.job_names;
  state_->lines.reserve(expected(names.size(), part));
  names.reserve(expected(names.size(), part), expected(names.characters(), part));
}

model::WorkloadTables TableMerger::finish() {
  MergerState& s = *state_;
  s.refuse_repeated_ids();
  s.fill_speeds();
  model::link_rules(s.merged.rules);
  s.merged.notes = resolve_job_names({s.merged.job_names, s.lines, s.file}, s.dependencies,
                                     s.merged.dependencies, s.cluster.windows);
  if (s.first_spread > 0) {
    s.merged.notes.push_back(s.file + ":" + std::to_string(s.first_spread) +
                             ": spread: this key is called \"width_factor\" now; jobs that have "
                             "the old name are read all the same");
  }
  pin_running(s.cluster, s.merged, s.running_shapes, s.lines, s.file);
  return std::move(s.merged);
}

}  // namespace berth::io
