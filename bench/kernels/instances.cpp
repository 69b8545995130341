// SPDX-License-Identifier: Apache-2.0
#include "instances.hpp"

#include "single_tasks.hpp"
#include "test_paths.hpp"

#include <map>
#include <memory>
#include <utility>

#include "berth/generate/generate.hpp"
#include "berth/io/import.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::bench {
namespace {

template <class Key>
const Subject& kept(std::map<Key, std::unique_ptr<Subject>>& all, const Key& key, auto make) {
  std::unique_ptr<Subject>& subject = all[key];
  if (!subject) subject = std::make_unique<Subject>(make());
  return *subject;
}

std::filesystem::path folder_of(const std::string& name) {
  return test::bench().value_or("") / "rack_placement" / name;
}

}  // namespace

Subject::Subject(model::Instance given)
    : instance(std::move(given)),
      value(instance, model::Objective::value),
      pools(planner_model::make_pools(
          instance.cluster, planner_model::pool_level(instance, model::Objective::value))),
      workload_bytes(
          static_cast<std::int64_t>(instance.workload.jobs.size() * sizeof(model::Job) +
                                    instance.workload.groups.size() * sizeof(model::TaskGroup) +
                                    instance.workload.shapes.size() * sizeof(model::Shape))) {
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) jobs.emplace_back(j);
}

const Subject& hetero(std::int64_t gpus) {
  static std::map<std::int64_t, std::unique_ptr<Subject>> all;
  return kept(all, gpus, [&] { return generate::generate_hetero({.gpus = gpus}); });
}

const Subject& single_tasks(std::int64_t machines) {
  static std::map<std::int64_t, std::unique_ptr<Subject>> all;
  return kept(all, machines, [&] { return single_task_instance(machines); });
}

bool has_rack_placement(const std::string& name) {
  return std::filesystem::exists(folder_of(name) / "jobs.csv");
}

const Subject& rack_placement(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Subject>> all;
  return kept(all, name, [&] {
    return io::import_rack_placement(folder_of(name) / "jobs.csv", folder_of(name) / "racks.csv");
  });
}

const model::Plan& plan_of(const Subject& subject) {
  static std::map<const Subject*, model::Plan> all;
  const auto known = all.find(&subject);
  if (known != all.end()) return known->second;
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  return all[&subject] =
             pipeline::plan_cluster(comm::Communicator::serial(), subject.instance, {}, silent);
}

}  // namespace berth::bench
