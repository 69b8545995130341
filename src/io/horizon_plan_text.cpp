// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"
#include "resource_keys.hpp"

#include <bit>
#include <span>

#include "berth/io/horizon_plan_file.hpp"

namespace berth::io {
namespace {

using model::HorizonPlan;
using model::InstanceView;

std::string_view name_of(const InstanceView& instance, JobId job) {
  return instance.workload.tables().job_names[job.index()];
}

void add_record(JsonText& json, const HorizonPlan& plan) {
  json.field("schema", std::int64_t{1});
  json.field("horizon", plan.horizon.length).field("now", plan.horizon.now).next_line();
  json.field("instance_digest", plan.instance_digest).next_line();
  json.field("plan_digest", plan.plan_digest).next_line();
  json.field("proof_digest", plan.proof_digest).next_line();
  json.key("reproducible").boolean(plan.reproducible).key("options").open('{');
  for (const auto& [name, value] : plan.options) json.field(name, value);
  json.close('}').next_line();
}

void add_figures(JsonText& json, const HorizonPlan& plan) {
  const model::HorizonFigures& f = plan.figures;
  json.field("objective_kind", model::to_string(plan.horizon.objective));
  json.field("objective", f.objective);
  json.field(model::minimised(plan.horizon.objective) ? "lower_bound" : "upper_bound", f.bound);
  json.field("gap", f.gap).next_line();
  json.field("jobs_total", f.jobs_total).field("jobs_now", f.jobs_now);
  json.field("jobs_later", f.jobs_later).next_line();
}

void add_integers(JsonText& json, std::string_view key, std::span<const std::int64_t> values) {
  json.key(key).open('[');
  for (const std::int64_t value : values) json.integer(value);
  json.close(']');
}

void add_quotas(JsonText& json, const model::PriceCurves& prices) {
  json.key("quotas").open('[');
  for (const model::PriceCurves::QuotaCurve& curve : prices.quotas) {
    json.next_line().open('{').field("queue", curve.queue);
    add_integers(json, "starts", curve.starts);
    add_integers(json, "slopes", curve.slopes);
    json.close('}');
  }
  json.close(']');
}

void add_multiples(JsonText& json, const model::PriceCurves& prices) {
  json.key("multiples").open('[');
  for (const model::PriceCurves::MultipleCurve& curve : prices.multiples) {
    json.next_line().open('{').field("gpu_type", curve.gpu_type).field("gpus", curve.gpus);
    add_integers(json, "starts", curve.starts);
    add_integers(json, "slopes", curve.slopes);
    json.close('}');
  }
  json.close(']');
}

void add_budgets(JsonText& json, const model::PriceCurves& prices) {
  json.key("budgets").open('[');
  for (const model::PriceCurves::BudgetPrice& budget : prices.budgets) {
    json.open('{').field("queue", budget.queue).field("price", budget.price).close('}');
  }
  json.close(']');
}

void add_factors(JsonText& json, const model::PriceCurves& prices) {
  json.key("factors").open('[');
  for (const model::PriceCurves::ShapeFactor& one : prices.factors) {
    json.next_line().open('{').field("gpus", std::int64_t{one.shape.gpus});
    json.field("gpu_milli", std::int64_t{one.shape.gpu_milli});
    add_resources(json, one.shape.needs);
    json.field("gpu_type", one.gpu_type).field("factor", one.factor).close('}');
  }
  json.close(']');
}

void add_sizes(JsonText& json, const model::PriceCurves& prices) {
  json.key("sizes").open('[');
  for (const model::PriceCurves::SizeFactor& one : prices.sizes) {
    json.open('{').field("gpu_type", one.gpu_type).field("gpus", one.gpus);
    json.field("factor", one.factor).close('}');
  }
  json.close(']');
}

void add_shares(JsonText& json, const model::PriceCurves& prices) {
  json.key("shares").open('[');
  for (const model::PriceCurves::CostShare& one : prices.shares) {
    json.next_line().open('{').field("job", one.job).field("after", one.after);
    json.field("share", one.share).close('}');
  }
  json.close(']');
}

void add_prices(JsonText& json, const model::PriceCurves& prices) {
  json.key("price_curves").open('{');
  add_integers(json, "nodes", prices.nodes);
  json.key("curves").open('[');
  for (const model::PriceCurves::Curve& curve : prices.curves) {
    json.next_line().open('{').field("gpu_type", curve.gpu_type);
    add_integers(json, "starts", curve.starts);
    add_integers(json, "slopes", curve.slopes);
    json.close('}');
  }
  json.close(']');
  if (!prices.quotas.empty()) add_quotas(json, prices);
  if (!prices.budgets.empty()) add_budgets(json, prices);
  if (!prices.factors.empty()) add_factors(json, prices);
  if (!prices.sizes.empty()) add_sizes(json, prices);
  if (!prices.multiples.empty()) add_multiples(json, prices);
  if (!prices.shares.empty()) add_shares(json, prices);
  json.close('}').next_line();
}

void add_task(JsonText& json, const InstanceView& instance, const model::Job& job,
              const model::TaskPlacement& task) {
  const model::TaskGroup& group = instance.workload.groups_of(job)[task.group];
  json.open('{').field("shape", instance.workload.tables().labels[group.label]);
  json.field("machine", instance.cluster.machine_names[task.machine.index()]);
  json.key("gpus").open('[');
  for (std::uint64_t rest = task.devices; rest != 0; rest &= rest - 1) {
    json.open('{').field("index", std::int64_t{std::countr_zero(rest)});
    json.field("milli", std::int64_t{task.milli}).close('}');
  }
  add_resources(json.close(']'), instance.workload.shape(group.shape).needs);
  json.close('}');
}

void add_placement(JsonText& json, const InstanceView& instance, const model::JobPlacement& placed,
                   std::int64_t end) {
  json.open('{').field("job", name_of(instance, placed.job));
  json.field("start", placed.start).field("end", end).key("tasks").open('[');
  const model::Job& job = instance.workload.job(placed.job);
  for (const model::TaskPlacement& task : placed.tasks) add_task(json, instance, job, task);
  json.close(']').close('}');
}

void add_waiting(JsonText& json, const InstanceView& instance, const model::WaitingJob& waiting) {
  json.open('{').field("job", name_of(instance, waiting.job)).field("reason", waiting.reason);
  json.key("earliest_start");
  if (waiting.earliest_start) {
    json.integer(*waiting.earliest_start);
  } else {
    json.null();
  }
  json.close('}');
}

void add_promise(JsonText& json, const InstanceView& instance, const model::Promise& promise) {
  json.open('{').field("job", name_of(instance, promise.job)).field("start", promise.start);
  json.key("kept").boolean(promise.kept);
  if (!promise.kept) json.field("reason", promise.reason);
  json.close('}');
}

void add_promises(JsonText& json, const HorizonPlan& plan, const InstanceView& instance) {
  if (plan.promises.empty()) return;
  json.key("promises").open('[');
  for (const model::Promise& promise : plan.promises) {
    add_promise(json.next_line(), instance, promise);
  }
  json.close(']').next_line();
}

}  // namespace

std::string horizon_plan_text(const InstanceView& instance, const HorizonPlan& plan) {
  JsonText json;
  json.open('{');
  add_record(json, plan);
  add_figures(json, plan);
  json.key("required_missing").open('[');
  for (const JobId job : plan.required_missing) json.text(name_of(instance, job));
  json.close(']').next_line().key("seconds").open('{');
  for (const auto& [name, value] : plan.seconds) json.field(name, value);
  json.close('}').next_line();
  add_prices(json, plan.certificate);
  add_promises(json, plan, instance);
  json.key("placements").open('[');
  for (std::size_t p = 0; p < plan.placements.size(); ++p) {
    add_placement(json.next_line(), instance, plan.placements[p], plan.ends[p]);
  }
  json.close(']').next_line().key("waiting").open('[');
  for (const model::WaitingJob& waiting : plan.waiting) {
    add_waiting(json.next_line(), instance, waiting);
  }
  json.close(']').close('}').end_line();
  return std::move(json.str());
}

}  // namespace berth::io
