// SPDX-License-Identifier: Apache-2.0
#include "trace_rows.hpp"

#include <cmath>
#include <sstream>

#include "berth/io/file.hpp"

namespace berth::bench {
namespace {

/// The lines of a CSV file without its header, split at commas; lines of fewer columns are skipped.
std::vector<std::vector<std::string>> csv_rows(const std::string& path, std::size_t columns) {
  std::istringstream text(io::read_file(path));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    if (row.size() >= columns) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<generate::TraceRow> philly_rows(const std::string& traces, std::size_t first) {
  std::vector<generate::TraceRow> rows;
  const auto all = csv_rows(traces + "/philly/philly.csv.gz", 5);
  for (std::size_t i = first; i < all.size(); ++i) {
    rows.push_back({std::llround(std::stod(all[i][1])), std::stoll(all[i][2])});
  }
  return rows;
}

std::vector<generate::TraceRow> kalos_rows(const std::string& traces) {
  std::vector<generate::TraceRow> rows;
  for (const auto& row : csv_rows(traces + "/acme/converted_kalos_trace.csv", 8)) {
    const double gpus = std::stod(row[5]) * std::stod(row[7]);
    rows.push_back({std::llround(0.5 * std::stod(row[2])), std::llround(gpus)});
  }
  return rows;
}

}  // namespace berth::bench
