// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/gap_sums.hpp"

#include <bit>
#include <cmath>
#include <string>

namespace berth::certify {

GapSums& GapSums::operator+=(const GapSums& others) {
  for (std::size_t size = 0; size < regret_.size(); ++size) {
    regret_[size].jobs += others.regret_[size].jobs;
    regret_[size].amount += others.regret_[size].amount;
  }
  for (std::size_t t = 0; t < idle_.size(); ++t) idle_[t] += others.idle_[t];
  for (std::size_t k = 0; k < limits_.size(); ++k) limits_[k] += others.limits_[k];
  whole_jobs_ += others.whole_jobs_;
  leaves_ += others.leaves_;
  return *this;
}

void GapSums::regret(std::int64_t milli, Int128 amount) {
  if (amount == 0) return;
  const auto gpus = static_cast<std::uint64_t>((milli + 999) / 1000);
  const std::size_t size = gpus == 0 ? 0 : std::bit_width(gpus - 1) + 1;
  RegretSum& entry = regret_[size];
  ++entry.jobs;
  entry.amount += amount;
}

model::GapParts GapSums::parts(const model::Cluster& cluster, model::BoundBasis basis,
                               int scale_log2, double whole) const {
  const auto real = [&](Int128 amount) {
    return std::ldexp(static_cast<double>(amount), -scale_log2);
  };
  model::GapParts result{.basis = basis,
                         .regret = {},
                         .idle = {},
                         .whole_jobs = real(whole_jobs_),
                         .leaves = real(leaves_),
                         .rounding = whole};
  double shared = 0.0;
  for (std::size_t k = 0; k < limits_.size(); ++k) {
    result.limits[k] = real(limits_[k]);
    shared += result.limits[k];
  }
  result.rounding -= shared + result.whole_jobs + result.leaves;
  for (std::size_t size = 0; size < regret_.size(); ++size) {
    if (regret_[size].jobs == 0) continue;
    const std::int64_t gpus = size == 0 ? 0 : std::int64_t{1} << (size - 1);
    result.regret.push_back({gpus, regret_[size].jobs, real(regret_[size].amount)});
    result.rounding -= result.regret.back().amount;
  }
  const auto& types = cluster.gpu_types;
  for (std::size_t t = 0; t <= types.size(); ++t) {
    const bool gpu = t < types.size();
    const Int128 amount = idle_[gpu ? t + 1 : 0];
    if (amount == 0) continue;
    result.idle.push_back({gpu ? types[t] : std::string(), real(amount)});
    result.rounding -= result.idle.back().amount;
  }
  return result;
}

}  // namespace berth::certify
