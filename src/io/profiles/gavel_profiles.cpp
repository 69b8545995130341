// SPDX-License-Identifier: Apache-2.0
#include "profiles/measurements.hpp"
#include "traces/gavel_throughputs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace berth::io {
namespace {

using Rows = std::map<GavelThroughputs::Key, double>;

/// The rate of the job type on several machines; below 0: the file has none.
double spread_rate(const GavelThroughputs& table, const std::string& gpu_type,
                   const GavelThroughputs::Key& key) {
  const auto rows = table.spread.find(gpu_type);
  if (rows == table.spread.end()) return -1.0;
  const auto row = rows->second.find(key);
  return row == rows->second.end() ? -1.0 : row->second;
}

/// Rows of one job type on one GPU type.
void add_rates(const GavelThroughputs& table, const std::string& gpu_type, const Rows& rows,
               const std::string& job_type, ProfileImport& import,
               std::vector<MeasuredRate>& rates) {
  bool any = false;
  for (const auto& [key, rate] : rows) {
    if (key.first != job_type) continue;
    any = true;
    ++import.taken;
    rates.push_back({gpu_type, key.second, 0, rate});
    double spread = spread_rate(table, gpu_type, key);
    if (spread < 0.0 || key.second == 1) continue;
    if (spread > rate) {
      note_measurement(import.changed, "are faster on several machines: taken as on one", 0);
      spread = rate;
    }
    ++import.taken;
    rates.push_back({gpu_type, key.second, 1, spread});
  }
  if (any) return;
  note_measurement(import.changed, "GPU types without a rate of a job type: taken as 0", 0);
  rates.push_back({gpu_type, 1, 0, 0.0});
}

/// Rates on several machines that no profile has.
void note_unused_spread(const GavelThroughputs& table, ProfileImport& import) {
  for (const auto& [gpu_type, rows] : table.spread) {
    const auto same = table.consolidated.find(gpu_type);
    for (const auto& [key, rate] : rows) {
      if (key.second == 1) {
        note_measurement(import.skipped, "are one GPU on several machines", 0);
      } else if (same == table.consolidated.end() || !same->second.contains(key)) {
        note_measurement(import.skipped, "are on several machines only", 0);
      }
    }
  }
}

}  // namespace

ProfileImport import_gavel_profiles(const std::string& path, const std::string&) {
  const GavelThroughputs table = read_gavel_throughputs(path);
  ProfileImport import;
  std::set<std::string> job_types;
  for (const auto* rows_by_type : {&table.consolidated, &table.spread}) {
    for (const auto& [gpu_type, rows] : *rows_by_type) {
      import.rows += static_cast<std::int64_t>(rows.size());
      for (const auto& [key, rate] : rows) job_types.insert(key.first);
    }
  }
  for (const std::string& job_type : job_types) {
    std::vector<MeasuredRate> rates;
    ProfileImport counted = import;
    for (const auto& [gpu_type, rows] : table.consolidated)
      add_rates(table, gpu_type, rows, job_type, counted, rates);
    if (std::ranges::none_of(rates, [](const MeasuredRate& r) { return r.per_second > 0.0; })) {
      note_measurement(import.skipped, "job types without any rate above 0", 0);
      continue;
    }
    import = std::move(counted);
    add_throughput_profile(import, job_type, rates);
  }
  note_unused_spread(table, import);
  return import;
}

}  // namespace berth::io
