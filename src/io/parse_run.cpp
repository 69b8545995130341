// SPDX-License-Identifier: Apache-2.0
#include "json_lines.hpp"

#include <limits>
#include <unordered_map>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/io/run_file.hpp"

namespace berth::io {
namespace {

using model::JobRecord;
using model::JobRun;
using model::TaskPlacement;

[[noreturn]] void raise_run_error(const JsonSource& source, const std::string& field,
                                  const std::string& problem, const std::string& hint) {
  throw InputError({.file = std::string(source.file), .line = source.line, .field = field}, problem,
                   hint);
}

/// Indices of names.
class NameIndex {
 public:
  explicit NameIndex(const NameTable& names) {
    at_.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) at_.emplace(names[i], i);
  }
  std::size_t find(const JsonAt& at) const {
    const auto found = at_.find(at.text());
    if (found == at_.end()) at.fail("\"" + std::string(at.text()) + "\" is not in the instance");
    return found->second;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> at_;
};

constexpr std::int64_t kMostMicros = std::int64_t{1} << 53;

TaskPlacement read_run_task(const JsonAt& at, const NameIndex& machines) {
  static constexpr std::string_view keys[] = {"machine", "group", "gpus", "milli"};
  TaskPlacement task;
  const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) task.machine = MachineId(machines.find(value));
    if (key == 1) task.group = static_cast<std::uint32_t>(value.integer(0, 1 << 20));
    if (key == 2) {
      value.each([&](const JsonAt& device) {
        task.devices |= std::uint64_t{1} << device.integer(0, model::kMaxGpusPerMachine - 1);
      });
    }
    if (key == 3) task.milli = static_cast<std::int32_t>(value.integer(0, model::kGpuMilli));
  });
  at.need(keys, 4, seen);
  return task;
}

model::RateStep read_rate_step(const JsonAt& at) {
  model::RateStep step;
  std::size_t index = 0;
  const std::size_t size = at.each([&](const JsonAt& value) {
    if (index == 0) step.time = value.integer(0, kMostMicros);
    if (index == 1) step.speed = value.real();
    ++index;
  });
  if (size != 2) at.fail("is no pair of a time and a speed");
  return step;
}

JobRun read_job_run(const JsonAt& at, const NameIndex& machines) {
  static constexpr std::string_view keys[] = {"start", "end",    "overhead",  "work",
                                              "speed", "tasks",  "gpu_milli", "configuration",
                                              "batch", "failed", "rates"};
  JobRun run{.milli = -1};
  const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) run.start = value.integer(0, kMostMicros);
    if (key == 1) run.end = value.integer(0, kMostMicros);
    if (key == 2) run.overhead = value.integer(0, kMostMicros);
    if (key == 3) run.work = value.integer(0, kMostMicros);
    if (key == 4) run.speed = value.real();
    if (key == 5) {
      value.each([&](const JsonAt& task) { run.tasks.push_back(read_run_task(task, machines)); });
    }
    if (key == 6) run.milli = value.integer(0, kMostMicros);
    if (key == 7) run.configuration = static_cast<std::int32_t>(value.integer(0, 1 << 20));
    if (key == 8) run.batch = value.integer(0, kMostMicros);
    if (key == 9 && value.boolean()) run.ended = model::RunEnd::failed;
    if (key == 10) {
      value.each([&](const JsonAt& step) { run.rates.push_back(read_rate_step(step)); });
    }
  });
  at.need(keys, 6, seen);
  return run;
}

struct RunNames {
  NameIndex jobs, machines;
};

JobRecord read_run_record(const JsonAt& at, const RunNames& names) {
  static constexpr std::string_view keys[] = {"job",  "arrival",  "gpu_milli", "work",   "alone",
                                              "runs", "promised", "profiled",  "refused"};
  JobRecord record;
  std::vector<JobRun> runs;
  const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) record.job = JobId(names.jobs.find(value));
    if (key == 1) record.arrival = value.integer(0, kMostMicros);
    if (key == 2) record.milli = value.integer(0, std::numeric_limits<std::int64_t>::max());
    if (key == 3) record.work = value.integer(0, kMostMicros);
    if (key == 4) record.alone = value.integer(0, kMostMicros);
    if (key == 5) {
      value.each([&](const JsonAt& run) { runs.push_back(read_job_run(run, names.machines)); });
    }
    if (key == 6) record.promised = value.integer(0, kMostMicros);
    if (key == 7) record.profiled = value.boolean();
    if (key == 8) record.refused = value.boolean();
  });
  at.need(keys, 6, seen);
  for (JobRun& run : runs) {
    if (run.milli < 0) run.milli = record.milli;
    if (&run != &runs.back() && run.ended == model::RunEnd::completed)
      run.ended = model::RunEnd::stopped;
    record.runs.push_back(std::move(run));
  }
  return record;
}

model::RunFigures read_run_figures(const JsonAt& at) {
  model::RunFigures figures;
  std::size_t known = 0;
  at.entries([&](const JsonAt& value) {
    for (const model::RunFigureRow& row : model::kRunFigureRows) {
      if (row.key != value.key()) continue;
      figures.*row.value = value.real();
      ++known;
    }
  });
  if (known != model::kRunFigureRows.size()) at.fail("lacks figures");
  return figures;
}

}  // namespace

std::vector<JobRecord> parse_run_records(std::string_view text, const std::string& file,
                                         const model::Instance& instance) {
  const RunNames names{NameIndex(instance.workload.job_names),
                       NameIndex(instance.cluster.machine_names)};
  std::vector<JobRecord> records;
  each_json_line(
      text, file,
      [&](const JsonAt& at, std::int64_t) { records.push_back(read_run_record(at, names)); },
      raise_run_error);
  return records;
}

model::RunSummary parse_run_summary(std::string_view text, const std::string& file) {
  const JsonSource source{.file = file, .line = 0, .raise = raise_run_error};
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  if (const auto error = parser.parse(text.data(), text.size()).get(element)) {
    raise_run_error(source, "", std::string("not valid JSON: ") + simdjson::error_message(error),
                    "");
  }
  static constexpr std::string_view keys[] = {"instance_digest", "run_digest", "policy", "figures",
                                              "options"};
  model::RunSummary summary;
  const JsonAt at(element, source);
  const auto seen = at.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) summary.instance_digest = std::string(value.text());
    if (key == 1) summary.run_digest = std::string(value.text());
    if (key == 2) summary.policy = std::string(value.text());
    if (key == 3) summary.figures = read_run_figures(value);
    if (key == 4) {
      value.entries(
          [&](const JsonAt& option) { summary.options.emplace(option.key(), option.text()); });
    }
  });
  at.need(keys, 4, seen);
  return summary;
}

}  // namespace berth::io
