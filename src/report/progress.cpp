// SPDX-License-Identifier: Apache-2.0
#include "berth/report/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "berth/base/printable.hpp"
#include "berth/base/span_text.hpp"

namespace berth::report {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Writes a whole line to stderr, so that lines of other ranks do not interrupt it.
void emit(const std::string& text) {
  spdlog::logger logger("berth", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger.set_pattern("%v");
  logger.info(text);
}

std::string number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.6g}", value); }
std::string count(std::int64_t value) { return value < 0 ? "-" : fmt::format("{}", value); }

void add_record(nlohmann::json& json, const model::RoundRecord& r) {
  json.update({{"kind", r.kind == model::RoundKind::offers ? "offers" : "regroup"},
               {"importance", r.importance},
               {"gain", r.gain},
               {"bids", r.bids},
               {"commits", r.commits},
               {"refusals", r.refusals},
               {"messages", r.messages},
               {"bytes", r.bytes},
               {"slowest_rank", r.slowest_rank},
               {"slowest_seconds", r.slowest_seconds},
               {"mean_seconds", r.mean_seconds}});
}

nlohmann::json to_json(const ProgressLine& p, double seconds, double left) {
  nlohmann::json record{{"event", "progress"}, {"seconds", seconds}, {"stage", p.stage}};
  if (p.round >= 0) record["round"] = p.round;
  if (!std::isnan(p.objective)) record["objective"] = p.objective;
  if (!std::isnan(p.bound)) record["upper_bound"] = p.bound;
  if (!std::isnan(gap_of(p))) record["gap"] = gap_of(p);
  if (!std::isnan(left)) record["seconds_left"] = left;
  if (p.blocks >= 0) record["blocks"] = p.blocks;
  if (p.conflicts >= 0) record["conflicts"] = p.conflicts;
  if (p.record != nullptr) add_record(record, *p.record);
  return record;
}

/// One record as a line of JSON. File names need not be UTF-8, but JSON must be.
std::string one_line(const nlohmann::json& record) {
  return record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

double gap_of(const ProgressLine& p) {
  if (std::isnan(p.bound) || std::isnan(p.objective)) return std::nan("");
  return (p.bound - p.objective) / std::max(std::abs(p.bound), 1e-12);
}

std::string error_line(LogFormat format, ExitCode code, const std::string& message) {
  if (format == LogFormat::text) return "berth: error: " + message + "\n";
  const nlohmann::json record{
      {"event", "error"}, {"exit_code", static_cast<int>(code)}, {"text", message}};
  return one_line(record) + "\n";
}

ProgressTable::ProgressTable(const LogOptions& options) : options_(options), start_(now()) {}

double ProgressTable::seconds() const { return now() - start_; }

/// Lines of the stage that still come times the mean time of those that came; never beyond the
/// limit of time. NaN: not known.
double ProgressTable::seconds_left(const ProgressLine& p, double now) {
  if (p.stage != stage_) {
    stage_ = p.stage;
    stage_began_ = now;
    stage_lines_ = 0;
  }
  const double limit = options_.time_limit > 0.0 ? options_.time_limit - now : std::nan("");
  const double mean = stage_lines_ > 0 ? (now - stage_began_) / stage_lines_ : std::nan("");
  ++stage_lines_;
  const double stage = p.left < 0 ? std::nan("") : static_cast<double>(p.left) * mean;
  const double least = std::fmin(limit, stage);  // of the two that is known
  return least < 0.0 ? 0.0 : least;
}

void ProgressTable::line(const ProgressLine& p) {
  const double now = seconds();
  if (options_.on_line) options_.on_line(p, now);
  if (options_.verbosity < 1) return;
  const double left = seconds_left(p, now);
  if (options_.format == LogFormat::json) {
    emit(one_line(to_json(p, now, left)));
    return;
  }
  if (lines_++ % 20 == 0) {
    emit(fmt::format("{:>8}  {:<10} {:>5}  {:>13}  {:>13}  {:>9}  {:>11}", "time", "stage", "round",
                     "objective", "bound", "gap", "left"));
  }
  const double gap = gap_of(p);
  emit(fmt::format("{:>7.2f}s  {:<10} {:>5}  {:>13}  {:>13}  {:>9}  {:>11}", now, p.stage,
                   count(p.round), number(p.objective), number(p.bound),
                   std::isnan(gap) ? "-" : fmt::format("{:.4f}%", 100.0 * gap),
                   std::isnan(left) ? "-" : span_text(std::llround(std::ceil(left)))));
}

void ProgressTable::note(const std::string& text) {
  if (options_.verbosity < 2) return;
  const bool json = options_.format == LogFormat::json;
  emit(json ? one_line({{"event", "note"}, {"text", text}}) : text);
}

void ProgressTable::warn(const std::string& text) {
  if (options_.on_warning) {
    options_.on_warning(text);
    return;
  }
  const bool json = options_.format == LogFormat::json;
  emit(json ? one_line({{"event", "warning"}, {"text", text}}) : "warning: " + printable(text));
}

}  // namespace berth::report
