// SPDX-License-Identifier: Apache-2.0
#include "berth/model/option_enumerator.hpp"

#include "berth/model/home.hpp"

namespace berth::model {

OptionEnumerator::OptionEnumerator(const Valuation& valuation, JobId id, Level finest)
    : valuation_(&valuation),
      job_(id),
      finest_(finest),
      types_(valuation.instance().workload.job(id), valuation.instance().cluster.gpu_types.size()) {
  const Workload& workload = valuation.instance().workload;
  const Job& job = workload.job(id);
  widest_ = workload.tasks(job) == 1 ? Level::machine : job.domain;
  on_gpus_ = workload.gpu_milli(job) > 0;
  add_scopes(valuation.instance().cluster, job);
}

void OptionEnumerator::add_scopes(const Cluster& cluster, const Job& job) {
  const auto add = [&](const HomeScope& scope) { scopes_[scope_count_++] = scope; };
  const PodId home = home_pod(cluster, job);
  if (!home.valid()) return add({Level::cluster, 0, Level::machine});
  const bool by_rack = job.home_rack.valid();
  add({Level::cluster, 0, Level::cluster});
  add({Level::pod, home.value(), by_rack && finest_ == Level::pod ? Level::rack : Level::pod});
  if (by_rack && finest_ == Level::rack) add({Level::rack, job.home_rack.value(), Level::rack});
}

}  // namespace berth::model
