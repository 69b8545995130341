// SPDX-License-Identifier: Apache-2.0
#include "check_prices.hpp"

#include "check_tree.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/certify/bound.hpp"

namespace berth::certify {
namespace {

using model::Certificate;
using model::InstanceView;
using model::Level;
using model::RawCertificate;

using Amounts =
    std::tuple<model::Resources, std::int64_t, std::int64_t>;  ///< needs, whole GPUs, share

class Reading {
 public:
  Reading(const InstanceView& instance, const RawCertificate& raw, Findings& findings)
      : instance_(instance), raw_(&raw), findings_(&findings) {
    const model::Cluster& cluster = instance.cluster;
    for (std::size_t i = 0; i < cluster.pods.size(); ++i) pods_.emplace(cluster.pods[i].name, i);
    for (std::size_t i = 0; i < cluster.racks.size(); ++i) racks_.emplace(cluster.racks[i].name, i);
    for (std::size_t i = 0; i < cluster.queues.size(); ++i) {
      queues_.emplace(cluster.queues[i].name, i);
    }
    for (std::size_t i = 0; i < cluster.classes.size(); ++i) {
      classes_.emplace(cluster.classes[i].name, i);
    }
    for (std::size_t i = 0; i < cluster.gpu_types.size(); ++i)
      types_.emplace(cluster.gpu_types[i], i);
    for (std::size_t i = 0; i < instance.workload.tables().shapes.size(); ++i) {
      const model::Shape& s = instance.workload.tables().shapes[i];
      shapes_.emplace(Amounts{s.needs, s.gpus, s.gpu_milli}, i);
    }
  }

  Certificate read() {
    read_head();
    for (const auto& p : raw_->pools) read_pool(p);
    for (const auto& s : raw_->shapes) read_shape(s);
    for (const auto& m : raw_->multipliers) read_multiplier(m);
    for (const auto& g : raw_->gangs) read_gang(g);
    if (!raw_->jobs.empty()) read_jobs();
    for (const auto& l : raw_->limits) read_limit(l);
    read_whole_jobs();
    result_.tree = read_tree(instance_, *raw_, *findings_);
    result_.search_steps = raw_->search_steps;
    return std::move(result_);
  }

 private:
  using Names = std::map<std::string, std::size_t, std::less<>>;

  void bad(std::string text) { findings_->add(FaultKind::bad_certificate, std::move(text)); }

  /// False, with a fault, when the name is not in the input.
  bool known(const Names& names, const std::string& name, const std::string& what) {
    if (names.contains(name)) return true;
    bad("certificate: " + what + " " + name + " is not in the input");
    return false;
  }

  void not_negative(std::int64_t price, const std::string& what) {
    if (price >= 0) return;
    findings_->add(FaultKind::negative_price, what + " is negative: " + std::to_string(price));
  }

  void not_negative(const model::Resources& unit_price, const std::string& what) {
    for (std::size_t r = 0; r < model::kResources; ++r) {
      not_negative(unit_price[r], what + " for " + std::string(model::kResourceTable[r].key));
    }
  }

  void once(bool fresh, const std::string& what) {
    if (!fresh) bad(what + " is listed twice");
  }

  void read_head() {
    result_.level = raw_->level == "rack" ? Level::rack : Level::pod;
    if (raw_->level != "rack" && raw_->level != "pod") {
      bad("certificate: level is neither rack nor pod: " + raw_->level);
    }
    if (raw_->scale_log2 < -1000 || raw_->scale_log2 > 1000) {
      bad("certificate: scale_log2 = " + std::to_string(raw_->scale_log2) + " is out of range");
    } else {
      result_.scale_log2 = static_cast<std::int32_t>(raw_->scale_log2);
    }
  }

  void read_pool(const model::RawPoolPrice& raw) {
    const bool by_rack = result_.level == Level::rack;
    const std::string what =
        "price of pool " + raw.pod + "/" + raw.rack.value_or("*") + "/" + raw.machine_class;
    not_negative(raw.gpu_milli, what + " for gpu_milli");
    not_negative(raw.unit_price, what);
    if (by_rack != raw.rack.has_value()) {
      bad(what + (by_rack ? " names no rack" : " names a rack, but prices are by pod"));
      return;
    }
    if (!known(pods_, raw.pod, "pod") || !known(classes_, raw.machine_class, "class")) return;
    if (by_rack && !known(racks_, *raw.rack, "rack")) return;
    const PodId pod(pods_[raw.pod]);
    const RackId rack = by_rack ? RackId(racks_[*raw.rack]) : RackId{};
    if (by_rack && instance_.cluster.racks[rack.index()].pod != pod) {
      bad(what + ": the rack is not in that pod");
    }
    const ClassId c(classes_[raw.machine_class]);
    once(seen_pools_.emplace(pod, rack, c).second, what);
    result_.pools.push_back({pod, rack, c, raw.gpu_milli, raw.unit_price});
  }

  static std::string task_text(const model::RawShapePrice& raw) {
    return "shape (" + amounts_text(raw.needs) + ", " + std::to_string(raw.gpus) + " GPUs, " +
           std::to_string(raw.gpu_milli) + " thousandths) on '" + raw.gpu_type + "'";
  }

  /// Shape and GPU type by amounts and name; none, with a fault, when the input lacks them.
  std::optional<std::pair<ShapeId, GpuTypeId>> find_task(const model::RawShapePrice& raw,
                                                         const std::string& what) {
    not_negative(raw.price, what);
    const auto shape = shapes_.find({raw.needs, raw.gpus, raw.gpu_milli});
    if (shape == shapes_.end()) {
      bad(what + ": no job asks for such a task");
      return std::nullopt;
    }
    if (!raw.gpu_type.empty() && !known(types_, raw.gpu_type, "GPU type")) return std::nullopt;
    const GpuTypeId type = raw.gpu_type.empty() ? GpuTypeId{} : GpuTypeId(types_[raw.gpu_type]);
    return std::pair(ShapeId(shape->second), type);
  }

  void read_shape(const model::RawShapePrice& raw) {
    const std::string what = "price of " + task_text(raw);
    const auto task = find_task(raw, what);
    if (!task) return;
    once(seen_shapes_.insert(*task).second, what);
    result_.shapes.push_back({task->first, task->second, raw.price});
  }

  void read_gang(const model::RawGangPrice& raw) {
    const std::string what =
        "price of a gang of " + std::to_string(raw.tasks) + " tasks of " + task_text(raw.task);
    const auto task = find_task(raw.task, what);
    if (!task) return;
    once(seen_gangs_.emplace(*task, raw.tasks).second, what);
    result_.gangs.push_back({task->first, raw.tasks, task->second, raw.task.price});
  }

  void read_multiplier(const model::RawClassMultiplier& raw) {
    const std::string what = "multiplier of class " + raw.machine_class;
    not_negative(raw.unit_price, what);
    if (!known(classes_, raw.machine_class, "class")) return;
    const ClassId c(classes_[raw.machine_class]);
    once(seen_classes_.insert(c).second, what);
    result_.multipliers.push_back({c, raw.unit_price});
  }

  void read_limit(const model::RawLimitPrice& raw) {
    const auto row = std::ranges::find(model::kLimitRows, raw.limit, &model::LimitRow::key);
    if (row == model::kLimitRows.end()) {
      bad("certificate: no limit is called " + raw.limit);
      return;
    }
    const auto kind = static_cast<model::LimitKind>(row - model::kLimitRows.begin());
    const std::pair<const std::optional<std::string>*, const Names*> parts[] = {
        {&raw.queue, &queues_}, {&raw.pod, &pods_}, {&raw.rack, &racks_}};
    const auto given = [](const auto& part) { return part.first->has_value(); };
    const auto* const part = std::ranges::find_if(parts, given);
    if (part == std::end(parts) || std::any_of(part + 1, std::end(parts), given)) {
      bad("certificate: a " + raw.limit + " is of one queue, pod or rack");
      return;
    }
    const auto& [name, names] = *part;
    const std::string what = "price of " + raw.limit + " of " + **name;
    not_negative(raw.price, what);
    if (!known(*names, **name, raw.queue ? "queue" : raw.pod ? "pod" : "rack")) return;
    if (raw.gpu_type && !known(types_, *raw.gpu_type, "GPU type")) return;
    const GpuTypeId type = raw.gpu_type ? GpuTypeId(types_[*raw.gpu_type]) : GpuTypeId{};
    const std::size_t at = names->find(**name)->second;
    const model::LimitScope scope{.queue = raw.queue ? QueueId(at) : QueueId{},
                                  .pod = raw.pod ? PodId(at) : PodId{},
                                  .rack = raw.rack ? RackId(at) : RackId{},
                                  .gpu_type = type};
    once(seen_limits_.emplace(kind, scope).second, what);
    result_.limits.push_back({kind, scope, raw.price});
  }

  void read_whole_jobs() {
    if (!raw_->whole_jobs) return;
    using Within = Certificate::WholeJobs::Within;
    const model::RawWholeJobs& raw = *raw_->whole_jobs;
    if (raw.within != "cluster" && raw.within != "home_racks") {
      bad("certificate: whole_jobs are within the cluster or home_racks, not " + raw.within);
      return;
    }
    not_negative(raw.gpu_milli, "price of whole_jobs");
    result_.whole_jobs = {raw.within == "cluster" ? Within::cluster : Within::home_racks,
                          raw.gpu_milli};
  }

  void read_jobs() {
    std::unordered_map<std::string_view, std::size_t> jobs;
    for (std::size_t j = 0; j < instance_.workload.size(); ++j) {
      jobs.emplace(instance_.workload.tables().job_names[j], j);
    }
    std::vector<bool> seen(instance_.workload.size(), false);
    for (const model::RawJobPrice& raw : raw_->jobs) {
      const std::string what = "price of job " + raw.job;
      not_negative(raw.price, what);
      const auto job = jobs.find(raw.job);
      if (job == jobs.end()) {
        bad("certificate: job " + raw.job + " is not in the input");
        continue;
      }
      once(!seen[job->second], what);
      seen[job->second] = true;
      result_.jobs.push_back({JobId(job->second), raw.price});
    }
  }

  InstanceView instance_;
  const RawCertificate* raw_;
  Findings* findings_;
  Names pods_, racks_, queues_, classes_, types_;
  std::map<Amounts, std::size_t> shapes_;
  std::set<std::tuple<PodId, RackId, ClassId>> seen_pools_;
  std::set<std::pair<ShapeId, GpuTypeId>> seen_shapes_;
  std::set<std::pair<std::pair<ShapeId, GpuTypeId>, std::int64_t>> seen_gangs_;
  std::set<ClassId> seen_classes_;
  std::set<std::pair<model::LimitKind, model::LimitScope>> seen_limits_;
  Certificate result_;
};

}  // namespace

std::optional<Certificate> read_prices(const InstanceView& instance, model::Objective objective,
                                       const RawCertificate& raw, const JobFacts& facts,
                                       Findings& findings) {
  const std::int64_t before = findings.count();
  Certificate certificate = Reading(instance, raw, findings).read();
  if (findings.count() == before) {
    if (const std::string reason = unusable(instance, objective, certificate, facts);
        !reason.empty()) {
      findings.add(FaultKind::bad_certificate, "certificate: " + reason);
    }
  }
  if (findings.count() != before) return std::nullopt;
  return certificate;
}

}  // namespace berth::certify
