// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"
#include "numbers.hpp"
#include "profiles/measurements.hpp"
#include "traces/trace_cells.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::io {
namespace {

constexpr double kMostRate = 1e9;                           // iterations/s, a guard
constexpr std::int64_t kMostBatch = std::int64_t{1} << 40;  // samples, a guard

/// GPUs of a column, from its name.
std::vector<std::int32_t> gpus_of_columns(const Csv& csv) {
  std::vector<std::int32_t> gpus;
  for (const std::string& name : csv.header()) {
    if (name == "global_batch_size") {
      gpus.push_back(0);
      continue;
    }
    std::int32_t number = 0;
    if (!read_number(std::string_view(name), number) || number < 1)
      csv.fail(name, "is no number of GPUs");
    gpus.push_back(number);
  }
  return gpus;
}

void read_table(const std::string& path, const std::string& model, const std::string& gpu_type,
                ProfileImport& import) {
  const std::string text = read_file(path);
  Csv csv(text, path);
  const auto batch = csv.need("global_batch_size");
  const auto gpus = gpus_of_columns(csv);
  while (csv.next()) {
    std::vector<MeasuredRate> rates;
    for (std::size_t c = 0; c < gpus.size(); ++c) {
      if (gpus[c] == 0) continue;
      const Csv::Column column{c, csv.header()[c]};
      ++import.rows;
      if (trimmed(csv.cell(column)).empty() || csv.amount(column, kMostRate) == 0.0) {
        note_measurement(import.changed, "are empty or 0: the batch does not fit", csv.line());
        rates.push_back({gpu_type, gpus[c], 0, 0.0});
        continue;
      }
      rates.push_back({gpu_type, gpus[c], 0, csv.amount(column, kMostRate)});
    }
    const auto taken = std::ranges::count_if(
        rates, [](const MeasuredRate& rate) { return rate.per_second > 0.0; });
    const std::int64_t samples = csv.integer(batch, kMostBatch);
    if (taken == 0) {
      note_measurement(import.skipped, "batches without any rate above 0", csv.line());
      continue;
    }
    import.taken += taken;
    add_throughput_profile(import, model + " b" + std::to_string(samples), rates);
  }
}

}  // namespace

ProfileImport import_elasticflow_profiles(const std::string& path, const std::string& gpu_type) {
  constexpr std::string_view kSuffix = ".csv";
  ProfileImport import;
  for (const std::string& model : names_in(path, kSuffix)) {
    const auto file = std::filesystem::path(path) / (model + std::string(kSuffix));
    read_table(file.string(), model, gpu_type, import);
  }
  if (import.profiles == 0) {
    throw InputError({.file = path, .line = 0, .field = ""}, "has no table with a rate above 0",
                     "expected <model>.csv with global_batch_size,1,2,4,...");
  }
  return import;
}

}  // namespace berth::io
