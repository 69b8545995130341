// SPDX-License-Identifier: Apache-2.0
#include "case_tree.hpp"
#include "gang_prices.hpp"
#include "job_value.hpp"
#include "limit_prices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "berth/base/assert.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"

namespace berth::certify {
namespace {

using model::Certificate;
using model::InstanceView;
using model::Level;

constexpr std::int64_t kMostSearchSteps = 50'000'000;  ///< guard: a minute or two
constexpr std::size_t kMostGangPrices = 1000;  ///< guard: each job is compared with all of them
constexpr double kLargestSum = 0x1p122;  ///< guard: sums of a few such amounts fit in 127 bits

template <class Id>
bool beyond(Id id, std::size_t size) {
  return !id.valid() || id.index() >= size;
}

/// The key of a resource that has a price although the class has no limit of it; empty without one.
std::string_view priced_without_limit(const model::MachineClass& c, const model::Resources& price) {
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (price[r] > 0 && c.capacity[r] == model::kNoLimit) return model::kResourceTable[r].key;
  }
  return {};
}

/// The largest amount that is not kNoLimit.
std::int64_t largest_of(const model::Resources& amounts) {
  std::int64_t largest = 0;
  for (const std::int64_t amount : amounts) {
    if (amount != model::kNoLimit) largest = std::max(largest, amount);
  }
  return largest;
}

std::string bad_pool(const InstanceView& instance, const Certificate& certificate) {
  const bool racks = certificate.level == Level::rack;
  for (std::size_t i = 0; i < certificate.pools.size(); ++i) {
    const Certificate::PoolPrice& p = certificate.pools[i];
    const std::string which = "price of pool " + std::to_string(i);
    const bool nowhere = racks ? beyond(p.rack, instance.cluster.racks.size())
                               : beyond(p.pod, instance.cluster.pods.size());
    if (nowhere || beyond(p.machine_class, instance.cluster.classes.size())) {
      return which + " is for a place or class that does not exist";
    }
    if (p.gpu_milli < 0 || p.unit_price.any_negative()) return which + " is negative";
    const auto& c = instance.cluster.classes[p.machine_class.index()];
    if (const auto key = priced_without_limit(c, p.unit_price); !key.empty()) {
      return which + " is for " + std::string(key) + " without a limit";
    }
  }
  return {};
}

std::string bad_rest(const InstanceView& instance, const Certificate& certificate) {
  for (const Certificate::ShapePrice& s : certificate.shapes) {
    const bool typeless = !s.gpu_type.valid();
    if (beyond(s.shape, instance.workload.tables().shapes.size()) ||
        (!typeless && beyond(s.gpu_type, instance.cluster.gpu_types.size()))) {
      return "a shape price is for a shape or GPU type that does not exist";
    }
    if (s.price < 0) return "price of shape " + std::to_string(s.shape.value()) + " is negative";
  }
  for (const Certificate::ClassMultiplier& m : certificate.multipliers) {
    if (beyond(m.machine_class, instance.cluster.classes.size())) {
      return "a multiplier is for a class that does not exist";
    }
    if (m.unit_price.any_negative()) return "a class multiplier is negative";
    const auto& c = instance.cluster.classes[m.machine_class.index()];
    if (const auto key = priced_without_limit(c, m.unit_price); !key.empty()) {
      return "a class multiplier is for " + std::string(key) + " without a limit";
    }
  }
  return {};
}

std::string bad_job(const InstanceView& instance, const Certificate& certificate) {
  BERTH_EXPECT(certificate.jobs.empty() || !instance.workload.in_parts());
  JobId last;
  for (const Certificate::JobPrice& j : certificate.jobs) {
    if (beyond(j.job, instance.workload.size())) return "a price is for no job";
    const std::string which =
        "price of job " + std::string(instance.workload.tables().job_names[j.job.index()]);
    if (j.price < 0) return which + " is negative";
    if (last.valid() && j.job <= last) return "prices of jobs are not in ascending order";
    if (instance.workload.pinned(instance.workload.job(j.job))) {
      return which + ": a pinned job pays nothing";
    }
    if (!is_countable(instance.workload, instance.workload.job(j.job))) {
      return which + ": only jobs of whole GPUs can have one";
    }
    last = j.job;
  }
  return {};
}

std::string bad_gang(const InstanceView& instance, const Certificate& certificate) {
  if (certificate.gangs.size() > kMostGangPrices) {
    return "more than " + std::to_string(kMostGangPrices) + " prices of gangs";
  }
  for (const Certificate::GangPrice& g : certificate.gangs) {
    if (beyond(g.shape, instance.workload.tables().shapes.size()) ||
        beyond(g.gpu_type, instance.cluster.gpu_types.size())) {
      return "a price of gangs is for a shape or GPU type that does not exist";
    }
    if (g.price < 0) return "a price of gangs is negative";
    if (g.tasks < 2) return "a gang with a price has fewer than 2 tasks";
    if (!takes_whole_machines(instance, g.shape, g.gpu_type)) {
      return "gangs have a price, but a task does not take all GPUs of every machine of the type";
    }
  }
  if (!certificate.gangs.empty() && !certificate.jobs.empty()) {
    return "there are both prices of gangs and prices of jobs";
  }
  return {};
}

std::string bad_search(const InstanceView& instance, const Certificate& certificate) {
  BERTH_EXPECT(certificate.search_steps == 0 || !instance.workload.in_parts());
  if (certificate.search_steps >= 0 && certificate.search_steps <= kMostSearchSteps) return {};
  return "search_steps = " + std::to_string(certificate.search_steps) + " is outside 0 .. " +
         std::to_string(kMostSearchSteps);
}

std::string bad_whole_jobs(const Certificate& certificate) {
  const Certificate::WholeJobs& whole_jobs = certificate.whole_jobs;
  if (whole_jobs.gpu_milli < 0) return "price of whole_jobs is negative";
  if (!whole_jobs.in_cluster() && whole_jobs.gpu_milli > 0) {
    return "whole_jobs has a price, but is not within the cluster";
  }
  if (!whole_jobs.in_cluster() && !whole_jobs.in_home_racks()) return {};
  if (!certificate.jobs.empty()) return "there are both whole_jobs and prices of jobs";
  return {};
}

double largest_price(const Certificate& certificate) {
  std::int64_t largest = 1;
  for (const auto& p : certificate.pools) {
    largest = std::max({largest, p.gpu_milli, largest_of(p.unit_price)});
  }
  for (const auto& s : certificate.shapes) largest = std::max(largest, s.price);
  for (const auto& g : certificate.gangs) largest = std::max(largest, g.price);
  for (const auto& m : certificate.multipliers) {
    largest = std::max(largest, largest_of(m.unit_price));
  }
  return static_cast<double>(largest);
}

/// True when some empty machine holds a task of the shape.
bool fits_somewhere(const InstanceView& instance, const model::Shape& s) {
  return std::ranges::any_of(instance.cluster.classes, [&](const model::MachineClass& c) {
    return s.needs.within(c.capacity) && s.gpus <= c.gpus;
  });
}

/// The largest amount of machines and of tasks that some machine can hold; other tasks are in no
/// sum.
double largest_amount(const InstanceView& instance) {
  std::int64_t largest = 64000;
  for (const auto& c : instance.cluster.classes) {
    largest = std::max(largest, largest_of(c.capacity));
  }
  for (const auto& s : instance.workload.tables().shapes) {
    if (!fits_somewhere(instance, s)) continue;
    largest = std::max({largest, largest_of(s.needs), std::int64_t{1000} * s.gpus});
  }
  return static_cast<double>(largest);
}

/// Sum of all limits of the kind.
double sum_of_limits(const model::Cluster& cluster, model::LimitKind kind) {
  double sum = 0.0;
  if (kind == model::LimitKind::gpu_quota) {
    for (const model::Queue& q : cluster.queues) {
      sum += 1000.0 * static_cast<double>(std::max<std::int64_t>(0, q.gpu_quota));
    }
    return sum;
  }
  if (kind == model::LimitKind::license) return 0.0;
  if (kind == model::LimitKind::spare) return 1000.0 * static_cast<double>(cluster.gpus());
  const model::LimitRow& row = row_of(kind);
  const auto add = [&](double limit) { sum += std::isfinite(limit) ? row.units * limit : 0.0; };
  for (const auto& rack : cluster.racks) add(rack.*row.of_rack);
  for (const auto& pod : cluster.pods) add(pod.*row.of_pod);
  return sum;
}

/// Upper bound on the capacity of limits at their prices plus the prices that jobs pay for them.
double shared_sums(const InstanceView& instance, const Certificate& certificate,
                   const JobFacts::Totals& all, double tasks) {
  std::array<double, model::kLimitKinds> prices{};
  for (const auto& l : certificate.limits) prices[index_of(l.kind)] += static_cast<double>(l.price);
  const double use[] = {
      static_cast<double>(all.milli), static_cast<double>(all.mbps) * tasks * tasks,
      largest_amount(instance) * tasks, static_cast<double>(all.milli) + 1000.0 * tasks,
      0.0};  // a certificate has no prices of licenses
  static_assert(std::size(use) == model::kLimitKinds);
  double sum =
      static_cast<double>(certificate.whole_jobs.gpu_milli) *
      (static_cast<double>(all.milli) + 1000.0 * static_cast<double>(instance.cluster.gpus()));
  for (std::size_t k = 0; k < prices.size(); ++k) {
    if (prices[k] == 0.0) continue;
    const double most = sum_of_limits(instance.cluster, static_cast<model::LimitKind>(k));
    sum += prices[k] * (most + use[k]);
  }
  return sum;
}

/// True when no sum of the bound leaves 128 bits. A task's profit is at most (resources + 2) P Q
/// for prices up to P and amounts up to Q, a device holds at most 1000 shares, a machine at most 64
/// devices; quotients of cpu_only multiply a profit by a machine's amount first.
bool sums_fit(const InstanceView& instance, const Certificate& certificate,
              const JobFacts::Totals& all, double values) {
  const double tasks = 1.0 + static_cast<double>(all.tasks);
  const double profit =
      (2.0 + model::kResources) * largest_price(certificate) * largest_amount(instance);
  const double machine = profit * (64000.0 + largest_amount(instance) + 64.0 * tasks);
  const double machines = 1.0 + static_cast<double>(instance.cluster.machines());
  double jobs = 0.0;
  for (const auto& j : certificate.jobs) jobs += static_cast<double>(j.price);
  double changes = 0.0;
  for (const auto& node : certificate.tree.nodes) {
    for (const auto& c : node.changes) changes += std::abs(static_cast<double>(c.price));
  }
  // a job with a job price may count once in every rack, pod and type
  const auto places = static_cast<double>(instance.cluster.racks.size() +
                                          instance.cluster.pods.size() + model::kMaxGpuTypes);
  if (!certificate.jobs.empty()) {
    jobs += (std::ldexp(values, certificate.scale_log2) + changes) * places + changes;
  }
  return jobs + machine * machines + profit * tasks +
             shared_sums(instance, certificate, all, tasks) +
             std::ldexp(values, certificate.scale_log2) <
         kLargestSum;
}

/// Sum over jobs of the largest |value| any option can have and of all costs.
double sum_of_values(const InstanceView& instance, const JobFacts::Totals& all) {
  double penalties = 0.0;
  for (const model::Queue& q : instance.cluster.queues) {
    if (std::isfinite(q.over_quota_penalty)) penalties += q.over_quota_penalty;
  }
  const double gpus = static_cast<double>(all.milli) / 1000.0;
  return static_cast<double>(all.value) + gpus * penalties;
}

}  // namespace

std::string unusable(const InstanceView& instance, model::Objective objective,
                     const Certificate& certificate) {
  return unusable(instance, objective, certificate,
                  job_facts(instance, objective, model::planned_jobs(instance.workload)));
}

std::string unusable(const InstanceView& instance, model::Objective objective,
                     const Certificate& certificate, const JobFacts& facts) {
  if (certificate.level != Level::rack && certificate.level != Level::pod) {
    return "prices are neither by rack nor by pod";
  }
  if (certificate.scale_log2 < -60 || certificate.scale_log2 > 60) {
    return "scale_log2 = " + std::to_string(certificate.scale_log2) + " is outside -60 .. 60";
  }
  std::string fault = bad_pool(instance, certificate);
  if (fault.empty()) fault = bad_rest(instance, certificate);
  if (fault.empty()) fault = bad_job(instance, certificate);
  if (fault.empty()) fault = bad_gang(instance, certificate);
  if (fault.empty()) fault = bad_whole_jobs(certificate);
  if (fault.empty()) fault = bad_tree(instance, certificate);
  if (fault.empty()) fault = unusable_limits(instance, objective, certificate);
  if (fault.empty()) fault = bad_search(instance, certificate);
  if (!fault.empty()) return fault;
  const double values = sum_of_values(instance, facts.totals);
  if (!(std::ldexp(values, ObjectiveValue::kScaleLog2) < kLargestSum) ||
      !sums_fit(instance, certificate, facts.totals, values)) {
    return "prices or values are so large that their sums leave 128 bits";
  }
  return {};
}

std::string uncovered(const InstanceView& instance, const Certificate& certificate,
                      std::span<const JobId> required_placed) {
  return certificate.tree.empty() ? std::string{}
                                  : CaseTree(instance, certificate, required_placed).fault();
}

}  // namespace berth::certify
