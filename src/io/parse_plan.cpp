// SPDX-License-Identifier: Apache-2.0
#include "json_fields.hpp"
#include "resource_keys.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "berth/io/file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::io {
namespace {

using model::RawCertificate;
using model::RawDevice;
using model::RawFigures;
using model::RawPlacement;
using model::RawPlan;
using model::RawTask;

[[noreturn]] void raise_format_error(const JsonSource& source, const std::string& field,
                                     const std::string& problem, const std::string& hint) {
  throw PlanFormatError({.file = std::string(source.file), .line = source.line, .field = field},
                        problem, hint);
}

/// Reads the entries of a list, each by `read`.
template <class Item, class Read>
std::vector<Item> list(const JsonAt& at, const Read& read) {
  std::vector<Item> items;
  at.each([&](const JsonAt& element) { items.push_back(read(element)); });
  return items;
}

std::string word(const JsonAt& at) { return std::string(at.text()); }

RawDevice read_device(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"index", "milli"};
  RawDevice device;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    (key == 0 ? device.index : device.milli) = value.integer();
  });
  at.need(keys, 2, seen);
  return device;
}

RawTask raw_task(const JsonAt& at) {
  constexpr std::size_t kFirst = 3;
  static constexpr auto keys = resource_keys<kFirst>({"shape", "machine", "gpus"});
  RawTask task;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) task.shape = word(value);
    if (key == 1) task.machine = word(value);
    if (key == 2) task.gpus = list<RawDevice>(value, read_device);
    if (key >= kFirst) task.needs[key - kFirst] = value.integer();
  });
  at.need(keys, kFirst + model::kRequiredResources, seen);
  return task;
}

RawPlacement read_placement(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"job", "start", "tasks"};
  RawPlacement placement;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) placement.job = word(value);
    if (key == 1) placement.start = value.integer();
    if (key == 2) placement.tasks = list<RawTask>(value, raw_task);
  });
  at.need(keys, 3, seen);
  return placement;
}

model::RawUnplacedJob read_waiting(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"job", "reason", "earliest_start"};
  model::RawUnplacedJob waiting;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) waiting.job = word(value);
    if (key == 1) waiting.reason = word(value);
    if (key == 2 && !value.empty()) waiting.earliest_start = value.integer();
  });
  at.need(keys, 2, seen);
  return waiting;
}

model::RawPoolPrice read_pool(const JsonAt& at) {
  constexpr std::size_t kFirst = 3, kEnd = kFirst + model::kResources;
  static constexpr auto keys = resource_keys<kFirst, 1>({"pod", "class", "gpu_milli"}, {"rack"});
  model::RawPoolPrice pool;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) pool.pod = word(value);
    if (key == 1) pool.machine_class = word(value);
    if (key == 2) pool.gpu_milli = value.integer();
    if (key >= kFirst && key < kEnd) pool.unit_price[key - kFirst] = value.integer();
    if (key == kEnd) pool.rack = word(value);
  });
  at.need(keys, kFirst + model::kRequiredResources, seen);
  return pool;
}

model::RawShapePrice read_shape_price(const JsonAt& at) {
  constexpr std::size_t kFirst = 3, kEnd = kFirst + model::kResources;
  static constexpr auto keys =
      resource_keys<kFirst, 1>({"gpus", "gpu_milli", "price"}, {"gpu_type"});
  model::RawShapePrice shape;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) shape.gpus = value.integer();
    if (key == 1) shape.gpu_milli = value.integer();
    if (key == 2) shape.price = value.integer();
    if (key >= kFirst && key < kEnd) shape.needs[key - kFirst] = value.integer();
    if (key == kEnd) shape.gpu_type = word(value);
  });
  at.need(keys, kFirst + model::kRequiredResources, seen);
  return shape;
}

model::RawGangPrice read_gang_price(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"tasks"};
  model::RawGangPrice gang{.task = read_shape_price(at)};
  const auto seen = at.known_fields(
      keys, [&](std::size_t, const JsonAt& value) { gang.tasks = value.integer(); });
  at.need(keys, 1, seen);
  return gang;
}

model::RawClassMultiplier read_multiplier(const JsonAt& at) {
  static constexpr auto keys = resource_keys<1>({"class"});
  model::RawClassMultiplier multiplier;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) multiplier.machine_class = word(value);
    if (key >= 1) multiplier.unit_price[key - 1] = value.integer();
  });
  at.need(keys, 1 + model::kRequiredResources, seen);
  return multiplier;
}

model::RawJobPrice read_job_price(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"job", "price"};
  model::RawJobPrice job;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) job.job = word(value);
    if (key == 1) job.price = value.integer();
  });
  at.need(keys, 2, seen);
  return job;
}

model::RawLimitPrice read_limit_price(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"limit", "price", "queue", "pod", "rack", "gpu_type"};
  model::RawLimitPrice limit;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) limit.limit = word(value);
    if (key == 1) limit.price = value.integer();
    if (key == 2) limit.queue = word(value);
    if (key == 3) limit.pod = word(value);
    if (key == 4) limit.rack = word(value);
    if (key == 5) limit.gpu_type = word(value);
  });
  at.need(keys, 2, seen);
  return limit;
}

model::RawSpotSet read_spots(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"gpu_type", "pod", "rack", "width"};
  model::RawSpotSet spots;
  std::optional<std::string>* const words[] = {&spots.gpu_type, &spots.pod, &spots.rack,
                                               &spots.width};
  // one more condition makes the set smaller, so no condition may be ignored
  at.fields(keys, [&](std::size_t key, const JsonAt& value) { *words[key] = word(value); });
  return spots;
}

model::RawPriceChange read_change(const JsonAt& at) {
  const auto pair = list<std::int64_t>(at, [](const JsonAt& number) { return number.integer(); });
  if (pair.size() != 2) at.fail("not a pair of a position and a price", "[3,1048576]");
  return {pair[0], pair[1]};
}

model::RawTreeNode read_tree_node(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"parent", "split", "out", "rest", "spots", "prices"};
  model::RawTreeNode node;
  at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) node.parent = value.integer();
    if (key == 1) node.split = word(value);
    if (key == 2) node.out = value.boolean();
    if (key == 3) node.rest = value.boolean();
    if (key == 4) node.spots = list<model::RawSpotSet>(value, read_spots);
    if (key == 5) node.changes = list<model::RawPriceChange>(value, read_change);
  });
  return node;
}

model::RawWholeJobs read_whole_jobs(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"within", "gpu_milli"};
  model::RawWholeJobs whole_jobs;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) whole_jobs.within = word(value);
    if (key == 1) whole_jobs.gpu_milli = value.integer();
  });
  at.need(keys, 1, seen);
  return whole_jobs;
}

/// Guard: a node costs its depth; --tree-nodes allows 2,000 leaves.
constexpr std::size_t kMostNodes = 16'384;

RawCertificate read_certificate(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"scale_log2",  "level",        "pools",  "shapes",
                                              "multipliers", "jobs",         "limits", "tree",
                                              "whole_jobs",  "search_steps", "gangs"};
  RawCertificate certificate;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) certificate.scale_log2 = value.integer();
    if (key == 1) certificate.level = word(value);
    if (key == 2) certificate.pools = list<model::RawPoolPrice>(value, read_pool);
    if (key == 3) certificate.shapes = list<model::RawShapePrice>(value, read_shape_price);
    if (key == 4) {
      certificate.multipliers = list<model::RawClassMultiplier>(value, read_multiplier);
    }
    if (key == 5) certificate.jobs = list<model::RawJobPrice>(value, read_job_price);
    if (key == 6) certificate.limits = list<model::RawLimitPrice>(value, read_limit_price);
    if (key == 7) {
      certificate.tree = list<model::RawTreeNode>(value, read_tree_node);
      if (certificate.tree.size() > kMostNodes) value.fail("more than 16384 nodes");
    }
    if (key == 8) certificate.whole_jobs = read_whole_jobs(value);
    if (key == 9) certificate.search_steps = value.integer();
    if (key == 10) certificate.gangs = list<model::RawGangPrice>(value, read_gang_price);
  });
  at.need(keys, 5, seen);
  return certificate;
}

/// Reads the figures; null counts as missing.
void read_figures(const JsonAt& at, RawFigures& figures) {
  static constexpr std::string_view reals[] = {"objective", "upper_bound", "gap"};
  static constexpr std::string_view integers[] = {
      "gpus_total", "gpu_milli_total", "gpu_milli_allocated", "jobs_total", "jobs_placed"};
  std::optional<double>* const real[] = {&figures.objective, &figures.upper_bound, &figures.gap};
  std::optional<std::int64_t>* const integer[] = {&figures.gpus_total, &figures.gpu_milli_total,
                                                  &figures.gpu_milli_allocated, &figures.jobs_total,
                                                  &figures.jobs_placed};
  at.known_fields(reals, [&](std::size_t key, const JsonAt& value) {
    if (!value.empty()) *real[key] = value.real();
  });
  at.known_fields(integers, [&](std::size_t key, const JsonAt& value) {
    if (!value.empty()) *integer[key] = value.integer();
  });
}

model::RawPriorityClass read_class(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"priority",    "value",        "upper_bound",
                                              "gap",         "weights_log2", "jobs_total",
                                              "jobs_placed", "certificate"};
  model::RawPriorityClass c;
  std::optional<double>* const real[] = {&c.figures.objective, &c.figures.upper_bound,
                                         &c.figures.gap};
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) c.priority = value.integer();
    if (key >= 1 && key <= 3 && !value.empty()) *real[key - 1] = value.real();
    if (key == 4) {
      c.weights_log2 =
          list<std::int64_t>(value, [](const JsonAt& number) { return number.integer(); });
    }
    if (key == 5 && !value.empty()) c.figures.jobs_total = value.integer();
    if (key == 6 && !value.empty()) c.figures.jobs_placed = value.integer();
    if (key == 7) c.certificate = read_certificate(value);
  });
  at.need(keys, 1, seen);
  return c;
}

void read_record(const JsonAt& at, RawPlan& plan) {
  static constexpr std::string_view keys[] = {"instance_digest", "plan_digest",  "proof_digest",
                                              "objective_kind",  "reproducible", "seed"};
  std::optional<std::string>* const words[] = {&plan.instance_digest, &plan.plan_digest,
                                               &plan.proof_digest, &plan.objective_kind};
  at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key < std::size(words)) *words[key] = word(value);
    if (key == 4) plan.reproducible = value.boolean();
    if (key == 5) plan.seed = value.natural();
  });
}

double real_of(const JsonAt& at, std::string_view key) {
  double found = 0.0;
  const std::string_view keys[] = {key};
  at.known_fields(keys, [&](std::size_t, const JsonAt& value) { found = value.real(); });
  return found;
}

/// The names are those of certify's comparison.
model::RawGapParts read_gap_parts(const JsonAt& at) {
  model::RawGapParts parts;
  at.entries([&](const JsonAt& part) {
    const std::string key(part.key());
    if (key == "basis") {
      parts.basis = word(part);
    } else if (key == "regret") {
      part.each([&](const JsonAt& size) {
        const auto gpus = std::to_string(static_cast<std::int64_t>(real_of(size, "gpus")));
        parts.amounts["regret of " + gpus + " GPUs"] = real_of(size, "amount");
        parts.amounts["jobs of " + gpus + " GPUs"] = real_of(size, "jobs");
      });
    } else if (key == "idle") {
      part.each([&](const JsonAt& type) {
        static constexpr std::string_view keys[] = {"gpu_type"};
        std::string name;
        type.known_fields(keys, [&](std::size_t, const JsonAt& value) { name = word(value); });
        parts.amounts["idle " + name] = real_of(type, "amount");
      });
    } else {
      parts.amounts[key] = part.real();
    }
  });
  return parts;
}

model::RawRound read_round(const JsonAt& at) {
  return {.objective = real_of(at, "objective"), .upper_bound = real_of(at, "upper_bound")};
}

RawPlan read_top(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"schema",           "placements",  "waiting",
                                              "required_missing", "certificate", "gap_parts",
                                              "options",          "classes",     "rounds"};
  RawPlan plan;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0 && value.integer() != 1) value.fail("unknown schema", "this is schema 1");
    if (key == 1) plan.placements = list<RawPlacement>(value, read_placement);
    if (key == 2) plan.waiting = list<model::RawUnplacedJob>(value, read_waiting);
    if (key == 3) plan.required_missing = list<std::string>(value, word);
    if (key == 4) plan.certificate = read_certificate(value);
    if (key == 5) plan.gap_parts = read_gap_parts(value);
    if (key == 6) {
      static constexpr std::string_view names[] = {"objective"};
      value.known_fields(names,
                         [&](std::size_t, const JsonAt& v) { plan.objective_option = word(v); });
    }
    if (key == 7) plan.classes = list<model::RawPriorityClass>(value, read_class);
    if (key == 8) plan.rounds = list<model::RawRound>(value, read_round);
  });
  at.need(keys, 2, seen);
  read_record(at, plan);
  read_figures(at, plan.figures);
  return plan;
}

/// Calls read(JsonAt) with the value of a JSON text.
template <class Read>
auto parse(std::string text, const std::string& file, const Read& read) {
  const JsonSource source{.file = file, .line = 0, .raise = raise_format_error};
  const std::size_t size = text.size();
  text.resize(size + simdjson::SIMDJSON_PADDING, ' ');
  simdjson::dom::parser parser;
  simdjson::dom::element value;
  const auto error = parser.parse(text.data(), size, false).get(value);
  if (error != simdjson::SUCCESS) {
    raise_format_error(source, "", std::string("not valid JSON: ") + simdjson::error_message(error),
                       "");
  }
  return read(JsonAt(value, source));
}

/// Turns entries from the middle of a list into a list; a comma may precede them.
std::string list_of(std::string_view entries) {
  entries.remove_prefix(std::min(entries.find_first_not_of(", \n"), entries.size()));
  return '[' + std::string(entries) + ']';
}

}  // namespace

RawPlan parse_plan(std::string text, const std::string& file) {
  return parse(std::move(text), file, read_top);
}

std::vector<RawPlacement> parse_placements(std::string_view piece, const std::string& file) {
  return parse(list_of(piece), file,
               [](const JsonAt& at) { return list<RawPlacement>(at, read_placement); });
}

std::vector<model::RawUnplacedJob> parse_waiting(std::string_view piece, const std::string& file) {
  return parse(list_of(piece), file,
               [](const JsonAt& at) { return list<model::RawUnplacedJob>(at, read_waiting); });
}

RawPlan read_plan(const std::string& path) { return parse_plan(read_file(path), path); }

}  // namespace berth::io
