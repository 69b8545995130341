// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/figures.hpp"

#include "exact.hpp"
#include "job_value.hpp"
#include "quota_capacities.hpp"
#include "spare_gpus.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/certify/bound.hpp"
#include "berth/model/digest.hpp"

namespace berth::certify {
namespace {

using model::InstanceView;

std::vector<JobId> required(const InstanceView& instance, const JobSubset& subset, bool placed) {
  std::vector<JobId> jobs;
  auto next = subset.placement.begin();
  for (const JobId id : subset.jobs) {
    while (next != subset.placement.end() && next->job < id) ++next;
    const bool there = next != subset.placement.end() && next->job == id;
    if (there == placed && instance.workload.job(id).required) jobs.push_back(id);
  }
  return jobs;
}

}  // namespace

PlacementSums& PlacementSums::operator+=(const PlacementSums& others) {
  gain += others.gain;
  gpu_milli += others.gpu_milli;
  jobs += others.jobs;
  quotas.resize(std::max(quotas.size(), others.quotas.size()), 0);
  for (std::size_t q = 0; q < others.quotas.size(); ++q) quotas[q] += others.quotas[q];
  spare.resize(std::max(spare.size(), others.spare.size()), 0);
  for (std::size_t s = 0; s < others.spare.size(); ++s) spare[s] += others.spare[s];
  return *this;
}

PlacementSums placement_sums(const InstanceView& instance, model::Objective kind,
                             const model::Placement& placement) {
  constexpr int kScale = ObjectiveValue::kScaleLog2;
  PlacementSums sums{.jobs = std::ssize(placement),
                     .quotas = QuotaCapacities(instance, kind).usage(placement),
                     .spare = usage_beside_spare(instance.cluster, placement)};
  for (const model::JobPlacement& placed : placement) {
    const model::Job& job = instance.workload.job(placed.job);
    const std::int64_t milli = milli_of(instance.workload, job);
    const JobValue worth(instance, kind, job, milli);
    const PlacementExtent r = extent_of(instance, placed);
    sums.gpu_milli += milli;
    sums.gain += fixed_down(worth.at(r.type, r.width, r.distance), kScale);
    if (job.running < 0) continue;
    sums.gain += fixed_up(worth.stop_cost(), kScale);
    if (worth.move_cost() == 0.0 || stays(instance.workload, placed)) continue;
    sums.gain -= fixed_up(worth.move_cost(), kScale);
  }
  return sums;
}

ObjectiveValue objective(const InstanceView& instance, model::Objective kind,
                         const PlacementSums& sums) {
  constexpr int kScale = ObjectiveValue::kScaleLog2;
  ObjectiveValue total;
  total.exact = sums.gain - stop_costs(instance.workload, kind, kScale, fixed_up) -
                QuotaCapacities(instance, kind).penalty(sums.quotas, kScale);
  if (model::traits(kind).costs) {
    total.exact -= spare_penalty(instance.cluster, sums.spare, kScale);
  }
  total.value = std::ldexp(static_cast<double>(total.exact), -kScale);
  return total;
}

ObjectiveValue objective(const InstanceView& instance, model::Objective kind,
                         const model::Placement& placement) {
  return objective(instance, kind, placement_sums(instance, kind, placement));
}

double gap(double upper_bound, double objective) {
  return (upper_bound - objective) / std::max(std::abs(upper_bound), 1e-12);
}

std::vector<JobId> required_missing(const InstanceView& instance, const JobSubset& subset) {
  return required(instance, subset, false);
}

std::vector<JobId> required_placed(const InstanceView& instance, const JobSubset& subset) {
  return required(instance, subset, true);
}

std::vector<JobId> required_missing(const InstanceView& instance,
                                    const model::Placement& placement) {
  return required_missing(instance, {model::planned_jobs(instance.workload), placement});
}

std::vector<JobId> required_placed(const InstanceView& instance,
                                   const model::Placement& placement) {
  return required_placed(instance, {model::planned_jobs(instance.workload), placement});
}

model::Figures recount(const InstanceView& instance, model::Objective kind,
                       const PlacementSums& sums) {
  model::Figures result;
  result.objective = objective(instance, kind, sums).value;
  for (const ClassId c : instance.cluster.machine_class) {
    result.gpus_total += instance.cluster.classes[c.index()].gpus;
  }
  result.gpu_milli_total = 1000 * result.gpus_total;
  result.gpu_milli_allocated = sums.gpu_milli;
  result.jobs_total = static_cast<std::int64_t>(instance.workload.size());
  result.jobs_placed = sums.jobs;
  return result;
}

model::Figures recount(const InstanceView& instance, model::Objective kind,
                       const model::Placement& placement) {
  return recount(instance, kind, placement_sums(instance, kind, placement));
}

model::Figures figures(const InstanceView& instance, model::Objective kind,
                       const model::Placement& placement, const model::Certificate& certificate) {
  return figures(instance, kind, placement_sums(instance, kind, placement),
                 upper_bound(instance, kind, certificate, required_placed(instance, placement)));
}

model::Figures figures(const InstanceView& instance, model::Objective kind,
                       const PlacementSums& sums, const Bound& bound) {
  model::Figures result = recount(instance, kind, sums);
  result.upper_bound = bound.value;
  BERTH_ENSURE(result.upper_bound >= result.objective);
  result.gap = gap(result.upper_bound, result.objective);
  return result;
}

namespace {

using model::Sha256;

/// Amounts or prices without a tag, then by their tags those that are not 0.
void add_required(Sha256& sha, const model::Resources& amounts) {
  for (std::size_t r = 0; r < model::kRequiredResources; ++r) sha.integer(amounts[r]);
}
void add_optional(Sha256& sha, const model::Resources& amounts) {
  for (std::size_t r = model::kRequiredResources; r < model::kResources; ++r) {
    if (amounts[r] > 0) sha.text(model::kResourceTable[r].tag).integer(amounts[r]);
  }
}

void add_shape(Sha256& sha, const model::Shape& s) {
  add_required(sha, s.needs);
  sha.integer(s.gpus).integer(s.gpu_milli);
  add_optional(sha, s.needs);
}

void add_tree(Sha256& sha, const InstanceView& instance, const model::BoundTree& tree) {
  const model::Cluster& cluster = instance.cluster;
  if (!tree.empty()) sha.text("\ntree\n");
  for (const auto& node : tree.nodes) {
    sha.integer(node.parent).integer(node.out ? 1 : 0).integer(node.rest ? 1 : 0);
    sha.name(node.split.valid() ? instance.workload.tables().job_names[node.split.index()] : "");
    sha.integer(std::ssize(node.spots));
    for (const model::SpotSet& s : node.spots) {
      sha.name(s.gpu_type.valid() ? cluster.gpu_types[s.gpu_type.index()] : "");
      sha.name(s.pod.valid() ? cluster.pods[s.pod.index()].name : "");
      sha.name(s.rack.valid() ? cluster.racks[s.rack.index()].name : "");
      sha.integer(s.width ? static_cast<std::int64_t>(*s.width) : -1);
    }
    sha.integer(std::ssize(node.changes));
    for (const auto& c : node.changes) sha.integer(c.position).integer(c.price);
  }
}

/// Adds the prices of limits, kind by kind.
void add_limits(Sha256& sha, const model::Cluster& cluster, const model::Certificate& certificate) {
  for (std::size_t k = 0; k < model::kLimitKinds; ++k) {
    bool first = true;
    for (const auto& l : certificate.limits) {
      if (index_of(l.kind) != k) continue;
      if (first) sha.text(model::kLimitRows[k].proof_part);
      first = false;
      if (!l.scope.queue.valid()) sha.text(l.scope.rack.valid() ? "rack " : "pod ");
      sha.name(l.scope.name(cluster));
      if (l.scope.gpu_type.valid()) sha.name(cluster.gpu_types[l.scope.gpu_type.index()]);
      sha.integer(l.price);
    }
  }
}

void add_prices(Sha256& sha, const InstanceView& instance, const model::Certificate& certificate) {
  const model::Cluster& cluster = instance.cluster;
  sha.integer(certificate.scale_log2).integer(static_cast<std::int64_t>(certificate.level));
  for (const auto& p : certificate.pools) {
    const bool racks = certificate.level == model::Level::rack;
    sha.name(racks ? cluster.racks[p.rack.index()].name : cluster.pods[p.pod.index()].name);
    sha.name(cluster.classes[p.machine_class.index()].name);
    sha.integer(p.gpu_milli);
    add_required(sha, p.unit_price);
    add_optional(sha, p.unit_price);
  }
  sha.text("\nshapes\n");
  for (const auto& s : certificate.shapes) {
    add_shape(sha, instance.workload.tables().shapes[s.shape.index()]);
    sha.name(s.gpu_type.valid() ? cluster.gpu_types[s.gpu_type.index()] : "").integer(s.price);
  }
  sha.text("\nmultipliers\n");
  for (const auto& m : certificate.multipliers) {
    sha.name(cluster.classes[m.machine_class.index()].name);
    add_required(sha, m.unit_price);
    add_optional(sha, m.unit_price);
  }
  if (!certificate.jobs.empty()) sha.text("\njobs\n");
  for (const auto& j : certificate.jobs) {
    sha.name(instance.workload.tables().job_names[j.job.index()]).integer(j.price);
  }
  add_limits(sha, cluster, certificate);
  if (certificate.whole_jobs.within != model::Certificate::WholeJobs::Within::none) {
    sha.text("\nwhole jobs\n").integer(certificate.whole_jobs.in_home_racks() ? 1 : 0);
    sha.integer(certificate.whole_jobs.gpu_milli);
  }
  add_tree(sha, instance, certificate.tree);
  if (!certificate.gangs.empty()) sha.text("\ngangs\n");
  for (const auto& g : certificate.gangs) {
    add_shape(sha, instance.workload.tables().shapes[g.shape.index()]);
    sha.name(cluster.gpu_types[g.gpu_type.index()]).integer(g.tasks).integer(g.price);
  }
  if (certificate.search_steps != 0) sha.text("\nsearch\n").integer(certificate.search_steps);
}

}  // namespace

std::string proof_digest(const InstanceView& instance, double objective, double upper_bound,
                         const model::Certificate& certificate,
                         std::span<const model::PriorityClass> classes) {
  Sha256 sha;
  sha.text("berth proof 1\n").real(objective).real(upper_bound);
  add_prices(sha, instance, certificate);
  for (const model::PriorityClass& c : classes) {
    sha.text("\nclass\n").integer(c.priority).real(c.value).real(c.upper_bound);
    for (const std::int32_t weight : c.weights_log2) sha.integer(weight);
    add_prices(sha, instance, c.certificate);
  }
  return sha.hex();
}

}  // namespace berth::certify
