// SPDX-License-Identifier: Apache-2.0
// The judge: the bound from prices, and the check of a parsed plan file.
#include "kernels.hpp"

#include "berth/certify/bound.hpp"
#include "berth/certify/check.hpp"
#include "berth/certify/figures.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::bench {
namespace {

void upper_bound(benchmark::State& state, const Subject& s) {
  const model::Plan& plan = plan_of(s);
  const auto required = certify::required_placed(s.instance, plan.placements);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        certify::upper_bound(s.instance, plan.objective_kind, plan.certificate, required));
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(s.jobs));
  state.SetBytesProcessed(state.iterations() * s.workload_bytes);
}

void check(benchmark::State& state, const Subject& s) {
  const std::string text = io::plan_text(s.instance, plan_of(s));
  const model::RawPlan raw = io::parse_plan(text, "plan.json");
  for (auto _ : state) benchmark::DoNotOptimize(certify::check(s.instance, raw).fault_count);
  state.SetItemsProcessed(state.iterations() * std::ssize(s.jobs));
  state.SetBytesProcessed(state.iterations() * std::ssize(text));
}

}  // namespace

void register_certify(const std::string& instance, MakeSubject subject) {
  add("upper_bound", upper_bound, instance, subject);
  add("check", check, instance, subject);
}

}  // namespace berth::bench
