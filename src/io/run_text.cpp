// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <bit>
#include <utility>

#include "berth/io/run_file.hpp"

namespace berth::io {
namespace {

void add_run_task(JsonText& json, const model::Instance& instance,
                  const model::TaskPlacement& task) {
  json.open('{').field("machine", instance.cluster.machine_names[task.machine.index()]);
  json.field("group", std::int64_t{task.group}).key("gpus").open('[');
  for (std::uint64_t rest = task.devices; rest != 0; rest &= rest - 1) {
    json.integer(std::countr_zero(rest));
  }
  json.close(']').field("milli", std::int64_t{task.milli}).close('}');
}

/// Keys at their usual values are left out.
void add_run_extras(JsonText& json, const model::JobRecord& record, const model::JobRun& run) {
  if (run.milli != record.milli) json.field("gpu_milli", run.milli);
  if (run.configuration >= 0) json.field("configuration", std::int64_t{run.configuration});
  if (run.batch > 0) json.field("batch", run.batch);
  if (run.ended == model::RunEnd::failed) json.key("failed").boolean(true);
  if (run.rates.empty()) return;
  json.key("rates").open('[');
  for (const model::RateStep& step : run.rates) {
    json.open('[').integer(step.time).real(step.speed).close(']');
  }
  json.close(']');
}

void add_run(JsonText& json, const model::Instance& instance, const model::JobRecord& record,
             const model::JobRun& run) {
  json.open('{').field("start", run.start).field("end", run.end);
  json.field("overhead", run.overhead).field("work", run.work).field("speed", run.speed);
  add_run_extras(json, record, run);
  json.key("tasks").open('[');
  for (const model::TaskPlacement& task : run.tasks) add_run_task(json, instance, task);
  json.close(']').close('}');
}

}  // namespace

std::string run_record_line(const model::Instance& instance, const model::JobRecord& record) {
  JsonText json;
  json.open('{').field("job", instance.workload.job_names[record.job.index()]);
  json.field("arrival", record.arrival).field("gpu_milli", record.milli);
  json.field("work", record.work).field("alone", record.alone);
  if (record.promised >= 0) json.field("promised", record.promised);
  if (record.profiled) json.key("profiled").boolean(true);
  if (record.refused) json.key("refused").boolean(true);
  json.key("runs").open('[');
  for (const model::JobRun& run : record.runs) add_run(json, instance, record, run);
  json.close(']').close('}');
  json.str() += '\n';
  return std::move(json.str());
}

std::string run_summary_text(const model::RunSummary& summary) {
  JsonText json;
  json.open('{').field("schema", std::int64_t{1}).next_line();
  json.field("instance_digest", summary.instance_digest).next_line();
  json.field("run_digest", summary.run_digest).next_line();
  json.field("policy", summary.policy).key("options").open('{');
  for (const auto& [name, value] : summary.options) json.field(name, value);
  json.close('}').next_line().key("figures").open('{');
  for (const model::RunFigureRow& row : model::kRunFigureRows) {
    json.next_line().field(row.key, summary.figures.*row.value);
  }
  json.close('}').close('}');
  json.str() += '\n';
  return std::move(json.str());
}

}  // namespace berth::io
