// SPDX-License-Identifier: Apache-2.0
#include "json_fields.hpp"
#include "resource_keys.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::io {
namespace {

using model::PriceCurves;
using model::RawHorizonPlan;

[[noreturn]] void raise_format_error(const JsonSource& source, const std::string& field,
                                     const std::string& problem, const std::string& hint) {
  throw PlanFormatError({.file = std::string(source.file), .line = source.line, .field = field},
                        problem, hint);
}

/// Calls read(JsonAt) with the value of a JSON text.
template <class Read>
void parse_text(const std::string& text, const std::string& file, const Read& read) {
  const JsonSource source{.file = file, .line = 0, .raise = raise_format_error};
  simdjson::dom::parser parser;
  simdjson::dom::element value;
  const auto error = parser.parse(text).get(value);
  if (error != simdjson::SUCCESS) {
    raise_format_error(source, "", std::string("not valid JSON: ") + simdjson::error_message(error),
                       "");
  }
  read(JsonAt(value, source));
}

std::vector<std::int64_t> integers(const JsonAt& at) {
  std::vector<std::int64_t> values;
  at.each([&](const JsonAt& value) { values.push_back(value.integer()); });
  return values;
}

template <class Read>
auto list_of(const JsonAt& at, const Read& read) {
  std::vector<decltype(read(at))> values;
  at.each([&](const JsonAt& value) { values.push_back(read(value)); });
  return values;
}

/// -1 for numbers that no shape has.
std::int32_t small(const JsonAt& at) {
  const std::int64_t value = at.integer();
  return value >= 0 && value <= 1000 ? static_cast<std::int32_t>(value) : -1;
}

PriceCurves::Curve read_curve(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"gpu_type", "starts", "slopes"};
  PriceCurves::Curve curve;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) curve.gpu_type = std::string(value.text());
    if (key == 1) curve.starts = integers(value);
    if (key == 2) curve.slopes = integers(value);
  });
  at.need(keys, 3, seen);
  return curve;
}

PriceCurves::QuotaCurve read_quota(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"queue", "starts", "slopes"};
  PriceCurves::QuotaCurve curve;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) curve.queue = std::string(value.text());
    if (key == 1) curve.starts = integers(value);
    if (key == 2) curve.slopes = integers(value);
  });
  at.need(keys, 3, seen);
  return curve;
}

PriceCurves::MultipleCurve read_multiple(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"gpu_type", "gpus", "starts", "slopes"};
  PriceCurves::MultipleCurve curve;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) curve.gpu_type = std::string(value.text());
    if (key == 1) curve.gpus = value.integer();
    if (key == 2) curve.starts = integers(value);
    if (key == 3) curve.slopes = integers(value);
  });
  at.need(keys, 4, seen);
  return curve;
}

PriceCurves::BudgetPrice read_budget(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"queue", "price"};
  PriceCurves::BudgetPrice budget;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) budget.queue = std::string(value.text());
    if (key == 1) budget.price = value.integer();
  });
  at.need(keys, 2, seen);
  return budget;
}

PriceCurves::ShapeFactor read_factor(const JsonAt& at) {
  constexpr std::size_t kFirst = 4, kEnd = kFirst + model::kResources;
  static constexpr auto keys = resource_keys<kFirst>({"gpus", "gpu_milli", "gpu_type", "factor"});
  PriceCurves::ShapeFactor one;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) one.shape.gpus = small(value);
    if (key == 1) one.shape.gpu_milli = small(value);
    if (key == 2) one.gpu_type = std::string(value.text());
    if (key == 3) one.factor = value.integer();
    if (key >= kFirst && key < kEnd) one.shape.needs[key - kFirst] = value.integer();
  });
  at.need(keys, kFirst + model::kRequiredResources, seen);
  return one;
}

PriceCurves::CostShare read_share(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"job", "after", "share"};
  PriceCurves::CostShare one;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) one.job = std::string(value.text());
    if (key == 1) one.after = std::string(value.text());
    if (key == 2) one.share = value.integer();
  });
  at.need(keys, 3, seen);
  return one;
}

PriceCurves::SizeFactor read_size(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"gpu_type", "gpus", "factor"};
  PriceCurves::SizeFactor one;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) one.gpu_type = std::string(value.text());
    if (key == 1) one.gpus = value.integer();
    if (key == 2) one.factor = value.integer();
  });
  at.need(keys, 3, seen);
  return one;
}

PriceCurves read_curves(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"nodes",   "curves", "quotas", "budgets",
                                              "factors", "shares", "sizes",  "multiples"};
  PriceCurves prices;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) prices.nodes = integers(value);
    if (key == 1) prices.curves = list_of(value, read_curve);
    if (key == 2) prices.quotas = list_of(value, read_quota);
    if (key == 3) prices.budgets = list_of(value, read_budget);
    if (key == 4) prices.factors = list_of(value, read_factor);
    if (key == 5) prices.shares = list_of(value, read_share);
    if (key == 6) prices.sizes = list_of(value, read_size);
    if (key == 7) prices.multiples = list_of(value, read_multiple);
  });
  at.need(keys, 2, seen);
  return prices;
}

std::optional<std::int64_t> read_end(const JsonAt& placement) {
  static constexpr std::string_view keys[] = {"end"};
  std::optional<std::int64_t> end;
  placement.known_fields(keys, [&](std::size_t, const JsonAt& value) { end = value.integer(); });
  return end;
}

model::RawPromise read_promise(const JsonAt& at) {
  static constexpr std::string_view keys[] = {"job", "start", "kept"};
  model::RawPromise promise;
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) promise.job = std::string(value.text());
    if (key == 1) promise.start = value.integer();
    if (key == 2) promise.kept = value.boolean();
  });
  at.need(keys, 3, seen);
  return promise;
}

void read_horizon(const JsonAt& at, RawHorizonPlan& plan) {
  static constexpr std::string_view keys[] = {
      "horizon",     "now", "objective_kind", "placements", "objective",    "upper_bound",
      "lower_bound", "gap", "jobs_now",       "jobs_later", "price_curves", "promises"};
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) plan.length = value.integer();
    if (key == 1) plan.now = value.integer();
    if (key == 2) plan.objective = std::string(value.text());
    if (key == 3) value.each([&](const JsonAt& one) { plan.ends.push_back(read_end(one)); });
    if (key == 4) plan.value = value.real();
    if (key == 5 || key == 6) plan.bound = value.real();
    if (key == 7) plan.gap = value.real();
    if (key == 8) plan.jobs_now = value.integer();
    if (key == 9) plan.jobs_later = value.integer();
    if (key == 10) plan.certificate = read_curves(value);
    if (key == 11) {
      value.each([&](const JsonAt& one) { plan.promises.push_back(read_promise(one)); });
    }
  });
  at.need(keys, 3, seen);
}

}  // namespace

bool has_horizon(const std::string& text, const std::string& file) {
  // a key without escapes stands in the text as it is
  if (text.find("\"horizon\"") == std::string::npos && text.find('\\') == std::string::npos) {
    return false;
  }
  bool found = false;
  parse_text(text, file, [&](const JsonAt& at) {
    static constexpr std::string_view keys[] = {"horizon"};
    found = at.known_fields(keys, [](std::size_t, const JsonAt&) {}) != 0;
  });
  return found;
}

RawHorizonPlan parse_horizon_plan(const std::string& text, const std::string& file) {
  RawHorizonPlan plan;
  plan.plan = parse_plan(text, file);
  parse_text(text, file, [&](const JsonAt& at) { read_horizon(at, plan); });
  return plan;
}

PlannedStarts read_planned_starts(const std::string& path) {
  const std::string text = read_file(path);
  if (!has_horizon(text, path)) return {.plan = parse_plan(text, path), .now = {}};
  RawHorizonPlan plan = parse_horizon_plan(text, path);
  return {.plan = std::move(plan.plan), .now = plan.now};
}

model::RawPlan read_plan_of_now(const std::string& path) {
  PlannedStarts planned = read_planned_starts(path);
  if (planned.now) {
    std::erase_if(planned.plan.placements,
                  [&](const model::RawPlacement& placed) { return placed.start > *planned.now; });
  }
  return std::move(planned.plan);
}

}  // namespace berth::io
