// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "json_text.hpp"
#include "resource_keys.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "berth/io/file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/model/level_names.hpp"

namespace berth::io {
namespace {

using model::Certificate;
using model::Cluster;
using model::Figures;
using model::InstanceView;
using model::Plan;

void add_record(JsonText& json, const Plan& plan) {
  json.field("schema", std::int64_t{1}).next_line();
  json.field("instance_digest", plan.instance_digest).next_line();
  json.field("plan_digest", plan.plan_digest).next_line();
  json.field("proof_digest", plan.proof_digest).next_line();
  json.key("seed").natural(plan.seed).key("reproducible").boolean(plan.reproducible);
  json.key("options").open('{');
  for (const auto& [name, value] : plan.options) json.field(name, value);
  json.close('}').next_line();
}

void add_figures(JsonText& json, const Plan& plan) {
  const Figures& f = plan.figures;
  json.field("objective_kind", model::to_string(plan.objective_kind));
  json.field("objective", f.objective).field("upper_bound", f.upper_bound);
  json.field("gap", f.gap).next_line();
  json.field("gpus_total", f.gpus_total).field("gpu_milli_total", f.gpu_milli_total);
  json.field("gpu_milli_allocated", f.gpu_milli_allocated);
  json.field("jobs_total", f.jobs_total).field("jobs_placed", f.jobs_placed).next_line();
}

constexpr std::string_view kBasisNames[] = {"prices", "values", "capacity", "search"};

void add_gap_parts(JsonText& json, const model::GapParts& parts) {
  json.key("gap_parts").open('{');
  json.field("basis", kBasisNames[static_cast<std::size_t>(parts.basis)]);
  json.key("regret").open('[');
  for (const model::GapParts::RegretBySize& r : parts.regret) {
    json.open('{').field("gpus", r.gpus).field("jobs", r.jobs).field("amount", r.amount).close('}');
  }
  json.close(']').key("idle").open('[');
  for (const model::GapParts::IdleByType& idle : parts.idle) {
    json.open('{').field("gpu_type", idle.gpu_type).field("amount", idle.amount).close('}');
  }
  json.close(']');
  for (std::size_t k = 0; k < model::kLimitKinds; ++k) {
    if (parts.limits[k] != 0.0) json.field(model::kLimitRows[k].gap_key, parts.limits[k]);
  }
  if (parts.whole_jobs != 0.0) json.field("whole_jobs", parts.whole_jobs);
  if (parts.leaves != 0.0) json.field("leaves", parts.leaves);
  json.field("rounding", parts.rounding).close('}').next_line();
}

void add_numbers(JsonText& json, std::string_view key, const std::map<std::string, double>& table) {
  json.key(key).open('{');
  for (const auto& [name, value] : table) json.field(name, value);
  json.close('}').next_line();
}

void add_rounds(JsonText& json, const std::vector<model::RoundRecord>& rounds) {
  json.key("rounds").open('[');
  for (const model::RoundRecord& r : rounds) {
    json.next_line().open('{').field("round", std::int64_t{r.round});
    json.field("kind", r.kind == model::RoundKind::offers ? "offers" : "regroup");
    json.field("objective", r.objective).field("upper_bound", r.upper_bound).field("gap", r.gap);
    json.field("importance", r.importance).field("gain", r.gain).field("blocks", r.blocks);
    json.field("bids", r.bids).field("commits", r.commits).field("conflicts", r.conflicts);
    json.field("refusals", r.refusals).field("messages", r.messages).field("bytes", r.bytes);
    json.field("slowest_rank", std::int64_t{r.slowest_rank});
    json.field("slowest_seconds", r.slowest_seconds).field("mean_seconds", r.mean_seconds);
    json.close('}');
  }
  json.close(']').next_line();
}

void add_pool_price(JsonText& json, const Cluster& cluster, const Certificate::PoolPrice& pool) {
  json.open('{').field("pod", cluster.pods[pool.pod.index()].name);
  if (pool.rack.valid()) json.field("rack", cluster.racks[pool.rack.index()].name);
  json.field("class", cluster.classes[pool.machine_class.index()].name);
  add_resources(json.field("gpu_milli", pool.gpu_milli), pool.unit_price);
  json.close('}');
}

/// Task and GPU type of the price of a shape or of a gang.
template <class Price>
void add_task_and_type(JsonText& json, const InstanceView& instance, const Price& price) {
  const model::Shape& shape = instance.workload.shape(price.shape);
  const GpuTypeId type = price.gpu_type;
  add_resources(json, shape.needs);
  json.field("gpus", std::int64_t{shape.gpus}).field("gpu_milli", std::int64_t{shape.gpu_milli});
  if (type.valid()) json.field("gpu_type", instance.cluster.gpu_types[type.index()]);
}

void add_shape_price(JsonText& json, const InstanceView& instance,
                     const Certificate::ShapePrice& s) {
  add_task_and_type(json.open('{'), instance, s);
  json.field("price", s.price).close('}');
}

void add_gang_prices(JsonText& json, const InstanceView& instance, const Certificate& certificate) {
  if (certificate.gangs.empty()) return;
  json.next_line().key("gangs").open('[');
  for (const Certificate::GangPrice& g : certificate.gangs) {
    add_task_and_type(json.next_line().open('{'), instance, g);
    json.field("tasks", g.tasks).field("price", g.price).close('}');
  }
  json.close(']');
}

void add_limit_prices(JsonText& json, const Cluster& cluster, const Certificate& certificate) {
  if (certificate.limits.empty()) return;
  json.next_line().key("limits").open('[');
  for (const Certificate::LimitPrice& l : certificate.limits) {
    json.next_line().open('{').field("limit", row_of(l.kind).key);
    json.field(l.scope.key(), l.scope.name(cluster));
    if (l.scope.gpu_type.valid()) {
      json.field("gpu_type", cluster.gpu_types[l.scope.gpu_type.index()]);
    }
    json.field("price", l.price).close('}');
  }
  json.close(']');
}

void add_whole_jobs(JsonText& json, const Certificate::WholeJobs& whole_jobs) {
  if (!whole_jobs.in_cluster() && !whole_jobs.in_home_racks()) return;
  json.next_line().key("whole_jobs").open('{');
  json.field("within", whole_jobs.in_cluster() ? "cluster" : "home_racks");
  if (whole_jobs.in_cluster()) json.field("gpu_milli", whole_jobs.gpu_milli);
  json.close('}');
}

void add_spots(JsonText& json, const Cluster& cluster, const model::SpotSet& spots) {
  json.open('{');
  if (spots.gpu_type.valid()) json.field("gpu_type", cluster.gpu_types[spots.gpu_type.index()]);
  if (spots.pod.valid()) json.field("pod", cluster.pods[spots.pod.index()].name);
  if (spots.rack.valid()) json.field("rack", cluster.racks[spots.rack.index()].name);
  if (spots.width) json.field("width", model::name_of(*spots.width));
  json.close('}');
}

void add_node(JsonText& json, const InstanceView& instance,
              const model::BoundTree::TreeNode& node) {
  json.open('{');
  if (node.parent >= 0) json.field("parent", std::int64_t{node.parent});
  if (node.split.valid())
    json.field("split", instance.workload.tables().job_names[node.split.index()]);
  if (node.out) json.key("out").boolean(true);
  if (node.rest) json.key("rest").boolean(true);
  if (!node.spots.empty()) {
    json.key("spots").open('[');
    for (const model::SpotSet& spots : node.spots) add_spots(json, instance.cluster, spots);
    json.close(']');
  }
  if (!node.changes.empty()) {
    json.key("prices").open('[');
    for (const auto& c : node.changes) {
      json.open('[').integer(std::int64_t{c.position}).integer(c.price).close(']');
    }
    json.close(']');
  }
  json.close('}');
}

void add_tree(JsonText& json, const InstanceView& instance, const model::BoundTree& tree) {
  if (tree.empty()) return;
  json.next_line().key("tree").open('[');
  for (const auto& node : tree.nodes) add_node(json.next_line(), instance, node);
  json.close(']');
}

void add_certificate(JsonText& json, const InstanceView& instance, const Certificate& certificate) {
  const Cluster& cluster = instance.cluster;
  json.key("certificate").open('{');
  json.field("scale_log2", std::int64_t{certificate.scale_log2});
  json.field("level", model::name_of(certificate.level));
  json.next_line().key("pools").open('[');
  for (const auto& pool : certificate.pools) add_pool_price(json.next_line(), cluster, pool);
  json.close(']').next_line().key("shapes").open('[');
  for (const auto& shape : certificate.shapes) add_shape_price(json.next_line(), instance, shape);
  json.close(']').next_line().key("multipliers").open('[');
  for (const auto& m : certificate.multipliers) {
    json.next_line().open('{').field("class", cluster.classes[m.machine_class.index()].name);
    add_resources(json, m.unit_price);
    json.close('}');
  }
  if (!certificate.jobs.empty()) {
    json.close(']').next_line().key("jobs").open('[');
    for (const auto& j : certificate.jobs) {
      json.next_line().open('{').field("job", instance.workload.tables().job_names[j.job.index()]);
      json.field("price", j.price).close('}');
    }
  }
  json.close(']');
  add_limit_prices(json, cluster, certificate);
  add_whole_jobs(json, certificate.whole_jobs);
  add_tree(json, instance, certificate.tree);
  add_gang_prices(json, instance, certificate);
  if (certificate.search_steps != 0) json.field("search_steps", certificate.search_steps);
  json.close('}');
}

/// The classes of a plan by priority; none: nothing.
void add_classes(JsonText& json, const InstanceView& instance,
                 const std::vector<model::PriorityClass>& classes) {
  if (classes.empty()) return;
  json.key("classes").open('[');
  for (const model::PriorityClass& c : classes) {
    json.next_line().open('{').field("priority", std::int64_t{c.priority});
    json.field("jobs_total", c.jobs_total).field("jobs_placed", c.jobs_placed);
    json.field("value", c.value).field("upper_bound", c.upper_bound).field("gap", c.gap);
    json.key("weights_log2").open('[');
    for (const std::int32_t weight : c.weights_log2) json.integer(weight);
    json.close(']').next_line();
    add_certificate(json, instance, c.certificate);
    json.close('}');
  }
  json.close(']').next_line();
}

void add_task(JsonText& json, const InstanceView& instance, const model::Job& job,
              const model::TaskPlacement& task) {
  const model::TaskGroup& group = instance.workload.groups_of(job)[task.group];
  const model::Shape& shape = instance.workload.shape(group.shape);
  json.open('{').field("shape", instance.workload.tables().labels[group.label]);
  json.field("machine", instance.cluster.machine_names[task.machine.index()]);
  json.key("gpus").open('[');
  for (std::uint64_t rest = task.devices; rest != 0; rest &= rest - 1) {
    json.open('{').field("index", std::int64_t{std::countr_zero(rest)});
    json.field("milli", std::int64_t{task.milli}).close('}');
  }
  add_resources(json.close(']'), shape.needs);
  json.close('}');
}

void add_placement(JsonText& json, const InstanceView& instance,
                   const model::JobPlacement& placed) {
  json.open('{').field("job", instance.workload.tables().job_names[placed.job.index()]);
  json.field("start", placed.start).key("tasks").open('[');
  const model::Job& job = instance.workload.job(placed.job);
  for (const model::TaskPlacement& task : placed.tasks) add_task(json, instance, job, task);
  json.close(']').close('}');
}

void add_head(JsonText& json, const InstanceView& instance, const Plan& plan) {
  json.open('{');
  add_record(json, plan);
  add_figures(json, plan);
  add_gap_parts(json, plan.gap_parts);
  json.key("required_missing").open('[');
  for (const JobId job : plan.required_missing) {
    json.text(instance.workload.tables().job_names[job.index()]);
  }
  json.close(']').next_line();
  add_numbers(json, "seconds", plan.seconds);
  add_numbers(json, "stats", plan.stats);
  add_rounds(json, plan.rounds);
  add_certificate(json, instance, plan.certificate);
  json.next_line();
  add_classes(json, instance, plan.classes);
}

}  // namespace

struct PlanText::TextState {
  InstanceView instance;
  JsonText json = {};
  bool waiting = false;  ///< the placements are complete

  void end_placements() {
    if (std::exchange(waiting, true)) return;
    json.close(']').next_line().key("waiting").open('[');
  }
};

PlanText::PlanText(const InstanceView& instance, const Plan& plan)
    : state_(new TextState{instance}) {
  add_head(state_->json, instance, plan);
  state_->json.key("placements").open('[');
}
PlanText::PlanText(PlanText&&) noexcept = default;
PlanText::~PlanText() = default;

void PlanText::add(std::span<const model::JobPlacement> placed) {
  for (const model::JobPlacement& p : placed) {
    add_placement(state_->json.next_line(), state_->instance, p);
  }
}

void PlanText::end_placements() { state_->end_placements(); }

void PlanText::add(std::span<const model::UnplacedJob> waiting) {
  end_placements();
  JsonText& json = state_->json;
  for (const model::UnplacedJob& w : waiting) {
    json.next_line().open('{').field("job",
                                     state_->instance.workload.tables().job_names[w.job.index()]);
    json.field("reason", w.reason).key("earliest_start").null().close('}');
  }
}

void PlanText::end() {
  end_placements();
  state_->json.close(']').close('}').end_line();
}

std::string PlanText::take() { return std::exchange(state_->json.str(), {}); }

namespace {

/// Passes the text to the sink, a few hundred jobs at a time.
template <class Sink>
void each_chunk(const InstanceView& instance, const Plan& plan, const Sink& sink) {
  // jobs per piece: bounds the memory of the text; chosen, not tuned
  constexpr std::size_t kJobs = 512;
  PlanText text(instance, plan);
  const auto add = [&](auto jobs) {
    for (; !jobs.empty(); jobs = jobs.subspan(std::min(kJobs, jobs.size()))) {
      text.add(jobs.first(std::min(kJobs, jobs.size())));
      sink(text.take());
    }
  };
  add(std::span(plan.placements));
  add(std::span(plan.waiting));
  text.end();
  sink(text.take());
}

}  // namespace

std::string plan_text(const InstanceView& instance, const Plan& plan) {
  std::string text;
  each_chunk(instance, plan, [&](const std::string& chunk) { text += chunk; });
  return text;
}

void write_plan(const std::string& path, const InstanceView& instance, const Plan& plan) {
  write_atomically(path, [&](AtomicFile& file) {
    each_chunk(instance, plan, [&](const std::string& chunk) { file.write(chunk); });
  });
}

}  // namespace berth::io
