// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/option_enumerator.hpp"

#include "berth/planner_model/home.hpp"

namespace berth::planner_model {

OptionEnumerator::OptionEnumerator(const Valuation& valuation, JobId id, model::Level finest)
    : valuation_(&valuation),
      job_(id),
      finest_(finest),
      types_(valuation.instance().workload.job(id), valuation.instance().cluster.gpu_types.size()) {
  const model::WorkloadView& workload = valuation.instance().workload;
  const model::Job& job = workload.job(id);
  narrowest_ = model::narrowest_width(workload.rules_of(job), workload.tasks(job));
  widest_ = workload.tasks(job) == 1 ? model::Level::machine : job.domain;
  on_gpus_ = workload.gpu_milli(job) > 0;
  add_scopes(valuation.instance().cluster, job);
}

void OptionEnumerator::add_scopes(const model::Cluster& cluster, const model::Job& job) {
  const auto add = [&](const HomeScope& scope) { scopes_[scope_count_++] = scope; };
  const PodId home = home_pod(cluster, job);
  if (!home.valid()) return add({model::Level::cluster, 0, model::Level::machine});
  const bool by_rack = job.home_rack.valid();
  add({model::Level::cluster, 0, model::Level::cluster});
  add({model::Level::pod, home.value(),
       by_rack && finest_ == model::Level::pod ? model::Level::rack : model::Level::pod});
  if (by_rack && finest_ == model::Level::rack)
    add({model::Level::rack, job.home_rack.value(), model::Level::rack});
}

}  // namespace berth::planner_model
