// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "job_tables.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <simdjson.h>

#include "berth/base/error.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io {
namespace {

[[noreturn]] void raise_input_error(const JsonSource& source, const std::string& field,
                                    const std::string& problem, const std::string& hint) {
  throw InputError({.file = std::string(source.file), .line = source.line, .field = field}, problem,
                   hint);
}

[[noreturn]] void broken_line(const JsonSource& source, std::string_view line,
                              simdjson::error_code error) {
  const bool opens = line == "{" || line == "[" || line.ends_with(",");
  raise_input_error(source, "", std::string("not valid JSON: ") + simdjson::error_message(error),
                    opens ? "one whole job a line (JSON Lines), no list around them" : "");
}

/// simdjson reads up to SIMDJSON_PADDING bytes past a value; the last lines of a text are copied
/// to where that is allowed.
class LineParser {
 public:
  /// @param text_end  of the memory that the line lies in
  simdjson::dom::element parse(std::string_view line, const char* text_end,
                               const JsonSource& source) {
    const auto room = static_cast<std::size_t>(text_end - (line.data() + line.size()));
    const char* begin = line.data();
    if (room < simdjson::SIMDJSON_PADDING) {
      copy_.assign(line);
      copy_.append(simdjson::SIMDJSON_PADDING, ' ');
      begin = copy_.data();
    }
    simdjson::dom::element value;
    const auto error = parser_.parse(begin, line.size(), false).get(value);
    if (error != simdjson::SUCCESS) broken_line(source, line, error);
    return value;
  }

 private:
  simdjson::dom::parser parser_;
  std::string copy_;
};

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// Takes a text block by block.
class JobsParser {
 public:
  JobsParser(const std::string& file, model::Cluster& cluster)
      : tables_(cluster, file), source_{.file = file, .line = 0, .raise = raise_input_error} {}

  /// @param text  whole lines, and all of them that are left when the last has no end
  void add(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (source_.line == 0 && text.starts_with(byte_order_mark)) {
      text.remove_prefix(byte_order_mark.size());
    }
    const char* const text_end = text.data() + text.size();
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++source_.line;
      if (line.empty()) continue;
      const JsonAt at(parser_.parse(line, text_end, source_), source_);
      read_job_line(at, job_);
      tables_.add(job_, source_.line);
    }
  }

  void reserve(std::size_t lines) { tables_.reserve(lines, lines * kNameBytes); }
  [[nodiscard]] std::size_t lines() const { return static_cast<std::size_t>(source_.line); }
  model::Workload finish() { return tables_.finish(); }

 private:
  static constexpr std::size_t kNameBytes = 8;

  LineParser parser_;
  JobTables tables_;
  JsonSource source_;
  JobLine job_;
};

}  // namespace

model::Workload parse_jobs(std::string_view text, const std::string& file,
                           model::Cluster& cluster) {
  JobsParser parser(file, cluster);
  parser.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  parser.add(text);
  return parser.finish();
}

model::Workload read_jobs(const std::string& path, model::Cluster& cluster) {
  constexpr double kSpare = 1.1;  // lines are not all alike; what is not used costs no memory
  PieceReader reader(path);
  JobsParser parser(path, cluster);
  std::string text;
  bool first = true;
  while (reader.append(text)) {
    const std::size_t whole = text.rfind('\n') + 1;
    if (whole == 0) continue;
    parser.add(std::string_view(text).substr(0, whole));
    text.erase(0, whole);
    const double lines = kSpare * static_cast<double>(parser.lines()) / reader.part_read();
    if (std::exchange(first, false)) parser.reserve(static_cast<std::size_t>(lines));
  }
  parser.add(text);
  return parser.finish();
}

model::Instance read_instance(const std::string& cluster_path, const std::string& jobs_path) {
  model::Instance instance;
  instance.cluster = read_cluster(cluster_path);
  instance.workload = read_jobs(jobs_path, instance.cluster);
  return instance;
}

}  // namespace berth::io
