// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"
#include "job_line.hpp"
#include "job_merge.hpp"
#include "machine_classes.hpp"
#include "unique_names.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/io/file.hpp"
#include "berth/io/import.hpp"
#include "berth/model/number_by_use.hpp"

namespace berth::io {
namespace {

using model::Cluster;

constexpr model::Factors kLocality{1.0, 1.0, 0.9, 0.75};  // machine, rack, pod, elsewhere
constexpr std::string_view kSpeed = "speed_";

struct RackRow {
  std::string name;
  std::size_t pod = 0;  // in order of first appearance
  ClassId machine_class;
};

std::vector<RackRow> read_racks(Csv csv, Cluster& cluster) {
  const auto rack = csv.need("rack");
  const auto pod = csv.need("pod");
  const auto type = csv.need("gpu_type");
  const auto gpus = csv.need("gpus");
  MachineClasses classes(cluster);
  std::vector<RackRow> racks;
  std::map<std::string, std::size_t> pods;
  UniqueNames names;
  while (csv.next()) {
    names.add(csv, rack);
    const auto [entry, fresh] = pods.try_emplace(csv.name(pod), pods.size());
    if (fresh) cluster.pods.push_back({"pod-" + csv.cell(pod)});
    if (!classes.gpu_type(csv.name(type)).valid()) csv.fail(type.name, "more than 64 GPU types");
    model::MachineClass amounts;
    amounts.gpus = static_cast<std::int32_t>(csv.integer(gpus, model::kMaxGpusPerMachine));
    racks.push_back({"rack-" + csv.cell(rack), entry->second, classes.of(csv.cell(type), amounts)});
  }
  return racks;
}

/// Builds the cluster: rack R is one machine of that name.
void lay_out(std::vector<RackRow> racks, Cluster& cluster) {
  std::ranges::stable_sort(racks, {}, &RackRow::pod);
  for (const RackRow& rack : racks) {
    cluster.machine_names.add(rack.name);
    cluster.machine_class.push_back(rack.machine_class);
    cluster.machine_rack.emplace_back(cluster.racks.size());
    cluster.racks.push_back({rack.name, PodId(rack.pod)});
  }
  model::number_by_use(cluster);
}

std::vector<Csv::Column> speed_columns(const Csv& csv) {
  std::vector<Csv::Column> columns;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    if (csv.header()[i].starts_with(kSpeed)) columns.push_back({i, csv.header()[i]});
  }
  return columns;
}

void read_speeds(const Csv& csv, const std::vector<Csv::Column>& columns, JobLine& job) {
  job.speeds.clear();
  for (const Csv::Column& column : columns) {
    const std::string_view type = std::string_view(column.name).substr(kSpeed.size());
    job.speeds.emplace_back(type, csv.amount(column, kMaxSpeed));
  }
}

model::Workload read_jobs_table(Csv csv, const std::string& file, Cluster& cluster) {
  const auto name = csv.need("job");
  const auto gpus = csv.need("gpus");
  const auto weight = csv.need("weight");
  const auto home = csv.need("home_rack");
  const auto speeds = speed_columns(csv);
  SerialJobs jobs(cluster, file);
  JobLine job;
  job.tasks.resize(1);
  job.home_factor = kLocality;
  UniqueNames names;
  for (std::int64_t index = 0; csv.next(); ++index) {
    names.add(csv, name);
    const std::string home_rack = "rack-" + csv.cell(home);
    job.id = csv.cell(name);
    job.arrival = index;
    job.tasks.front().shape.gpus = static_cast<std::int32_t>(csv.integer(gpus, kMaxCount));
    job.weight = csv.amount(weight, kMaxWorth);
    job.home_rack = home_rack;
    read_speeds(csv, speeds, job);
    jobs.add(job, csv.line());
  }
  return jobs.finish();
}

}  // namespace

model::Instance import_rack_placement(const std::string& jobs_path, const std::string& racks_path) {
  model::Instance instance;
  const std::string racks = read_file(racks_path);
  lay_out(read_racks(Csv(racks, racks_path), instance.cluster), instance.cluster);
  const std::string jobs = read_file(jobs_path);
  instance.workload = read_jobs_table(Csv(jobs, jobs_path), jobs_path, instance.cluster);
  return instance;
}

}  // namespace berth::io
