// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "job_tables.hpp"

#include <algorithm>
#include <cstring>

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
  explicit LineParser(std::string_view text) : text_end_(text.data() + text.size()) {}

  simdjson::dom::element parse(std::string_view line, const JsonSource& source) {
    const auto room = static_cast<std::size_t>(text_end_ - (line.data() + line.size()));
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
  const char* text_end_;
  std::string copy_;
};

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

model::Workload parse_jobs(std::string_view text, const std::string& file,
                           model::Cluster& cluster) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  LineParser parser(text);
  JobTables tables(cluster, file);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  tables.reserve(lines, lines * 8);
  JsonSource source{.file = file, .line = 0, .raise = raise_input_error};
  JobLine job;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++source.line;
    if (line.empty()) continue;
    const JsonAt at(parser.parse(line, source), source);
    read_job_line(at, job);
    tables.add(job, source.line);
  }
  return tables.finish();
}

model::Workload read_jobs(const std::string& path, model::Cluster& cluster) {
  return parse_jobs(read_file(path), path, cluster);
}

model::Instance read_instance(const std::string& cluster_path, const std::string& jobs_path) {
  model::Instance instance;
  instance.cluster = read_cluster(cluster_path);
  instance.workload = read_jobs(jobs_path, instance.cluster);
  return instance;
}

}  // namespace berth::io
