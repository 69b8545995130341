// SPDX-License-Identifier: Apache-2.0
#include "slurm/import_state.hpp"

#include "json_text.hpp"

#include <algorithm>

#include <simdjson.h>

namespace berth::io::slurm {
namespace {

constexpr const char* kStateHint = "the file that `berth import slurm --out-state` wrote";
constexpr std::string_view kKind = "slurm import";

[[noreturn]] void raise_state_error(const JsonSource& source, const std::string& field,
                                    const std::string& problem, const std::string& hint) {
  raise_input_error(source, field, problem, hint.empty() ? kStateHint : hint);
}

void read_job(const JsonAt& at, ImportState& state) {
  static constexpr std::string_view keys[] = {"job", "request"};
  std::string name;
  Request request;
  const std::uint64_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) name = value.name();
    if (key == 1) {
      value.entries([&](const JsonAt& word) { request.emplace_back(word.key(), word.text()); });
    }
  });
  at.need(keys, 2, seen);
  if (!state.jobs.emplace(name, std::move(request)).second)
    at.fail("job " + name + " is given twice");
}

}  // namespace

std::vector<std::string> pinned_jobs(const Snapshot& snapshot, const SlurmImportOptions& options) {
  std::vector<std::string> names;
  for (const SlurmJob& job : snapshot.jobs) {
    if (!job.pin) continue;
    const bool ours = std::ranges::any_of(
        job.partitions, [&](const std::string& name) { return is_selected(options, name); });
    if (ours) names.push_back(job_name(job));
  }
  return names;
}

std::string state_text(const model::Instance& instance,
                       const std::vector<const PendingJob*>& planned,
                       const std::vector<std::string>& pinned, const SlurmImportOptions& options) {
  JsonText json;
  json.open('{').field("schema", std::int64_t{1}).field("kind", kKind).next_line();
  json.field("instance_digest", model::instance_digest(instance));
  json.field("taken", options.now);
  json.field("cpu_as_gpu", options.cpu_as_gpu).next_line();
  json.key("pinned").open('[');
  for (const std::string& name : pinned) json.text(name);
  json.close(']').next_line();
  json.key("jobs").open('[').end_line();
  for (std::size_t i = 0; i < planned.size(); ++i) {
    json.open('{').field("job", planned[i]->name).key("request").open('{');
    for (const auto& [field, value] : planned[i]->request) {
      if (!value.empty()) json.field(field, value);
    }
    json.close('}').close('}');
    if (i + 1 < planned.size()) json.next_line();
  }
  json.close(']').close('}').end_line();
  return std::move(json.str());
}

ImportState read_state(const Source& source) {
  static constexpr std::string_view keys[] = {"schema",     "kind",  "instance_digest", "jobs",
                                              "cpu_as_gpu", "taken", "pinned"};
  const JsonSource where{.file = source.name, .line = 0, .raise = raise_state_error};
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(source.text).get(root); error != simdjson::SUCCESS) {
    raise_state_error(where, "", std::string("not valid JSON: ") + simdjson::error_message(error),
                      "");
  }
  const JsonAt top(root, where);
  ImportState state;
  const std::uint64_t seen = top.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) (void)value.integer(1, 1);
    if (key == 1 && value.text() != kKind) value.fail("is not \"" + std::string(kKind) + "\"");
    if (key == 2) state.instance_digest = value.text();
    if (key == 3) value.each([&](const JsonAt& job) { read_job(job, state); });
    if (key == 4) state.cpu_as_gpu = value.text();
    if (key == 6) {
      value.each([&](const JsonAt& job) { state.pinned.emplace_back(job.name()); });
    }
  });
  top.need(keys, 4, seen);
  return state;
}

}  // namespace berth::io::slurm
