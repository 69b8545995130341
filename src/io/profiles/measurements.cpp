// SPDX-License-Identifier: Apache-2.0
#include "profiles/measurements.hpp"

#include "words.hpp"

#include <algorithm>
#include <filesystem>

#include "berth/base/error.hpp"

namespace berth::io {

void add_throughput_profile(ProfileImport& import, const std::string& name,
                            const std::vector<MeasuredRate>& rates) {
  JsonText json;
  json.open('{').field("profile", name).field("model", "throughput").key("rows").open('[');
  for (const MeasuredRate& rate : rates) {
    json.open('{').field("gpu_type", rate.gpu_type).field("gpus", std::int64_t{rate.gpus});
    if (rate.extra_machines > 0) json.field("extra_machines", std::int64_t{rate.extra_machines});
    json.field("per_second", rate.per_second).close('}');
  }
  json.close(']').close('}');
  import.text += json.str() + '\n';
  ++import.profiles;
}

void note_measurement(std::vector<TraceNote>& notes, std::string_view what, std::int64_t line) {
  const auto found = std::ranges::find(notes, what, &TraceNote::what);
  if (found != notes.end()) {
    ++found->count;
  } else {
    notes.push_back({std::string(what), 1, line});
  }
}

std::vector<std::string> names_in(const std::string& folder, std::string_view suffix) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool wanted = suffix.empty() ? entry.is_directory() : name.ends_with(suffix);
    if (!wanted) continue;
    const std::string stem = name.substr(0, name.size() - suffix.size());
    if (const std::string fault = name_fault(stem); !fault.empty())
      throw InputError({.file = folder, .line = 0, .field = ""}, in_quotes(name) + " " + fault, "");
    names.push_back(stem);
  }
  if (error) {
    throw InputError({.file = folder, .line = 0, .field = ""},
                     "is no folder that can be read: " + error.message(), "");
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace berth::io
