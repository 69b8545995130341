// SPDX-License-Identifier: Apache-2.0
// The readers and writers: jobs in JSON lines, and plan files.
#include "kernels.hpp"

#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::bench {
namespace {

void count(benchmark::State& state, const Subject& s, const std::string& text) {
  state.SetItemsProcessed(state.iterations() * std::ssize(s.jobs));
  state.SetBytesProcessed(state.iterations() * std::ssize(text));
}

void parse_jobs(benchmark::State& state, const Subject& s) {
  const std::string text = io::jobs_text(s.instance);
  model::Cluster cluster = s.instance.cluster;
  for (auto _ : state) {
    benchmark::DoNotOptimize(io::parse_jobs(text, "jobs.jsonl", cluster).jobs.data());
  }
  count(state, s, text);
}

void parse_plan(benchmark::State& state, const Subject& s) {
  const std::string text = io::plan_text(s.instance, plan_of(s));
  for (auto _ : state) {
    benchmark::DoNotOptimize(io::parse_plan(text, "plan.json").placements.data());
  }
  count(state, s, text);
}

void plan_text(benchmark::State& state, const Subject& s) {
  const model::Plan& plan = plan_of(s);
  std::string text;
  for (auto _ : state) text = io::plan_text(s.instance, plan);
  count(state, s, text);
}

}  // namespace

void register_text(const std::string& instance, MakeSubject subject) {
  add("parse_jobs", parse_jobs, instance, subject);
  add("parse_plan", parse_plan, instance, subject);
  add("plan_text", plan_text, instance, subject);
}

}  // namespace berth::bench
