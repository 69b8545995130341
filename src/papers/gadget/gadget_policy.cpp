// SPDX-License-Identifier: Apache-2.0
#include "gadget_policy.hpp"

#include "../elastic_slots.hpp"

#include <cmath>
#include <queue>
#include <tuple>
#include <vector>

namespace berth::papers {
namespace {

using policy::State;

/// GPUs of a size, and utility of the job after a slot with it.
struct SlotOption {
  double gpus = 0.0, utility = 0.0;
};

/// First the utility of no GPUs.
std::vector<SlotOption> slot_options(const State& state, const SizedJob& sized) {
  const double slot = static_cast<double>(state.slot() > 0 ? state.slot() : GadgetPolicy::kSlot);
  const auto done = static_cast<double>(state.done(sized.job));
  const double weight = state.job(sized.job).weight;
  const auto utility = [&](double speed) {
    return weight * std::sqrt((done + speed * slot) / static_cast<double>(policy::kSecond));
  };
  std::vector<SlotOption> options = {{0.0, utility(0.0)}};
  for (const std::uint32_t c : sized.configurations) {
    const policy::Demand& demand = state.demand(sized.job, c);
    options.push_back({demand.gpus(), utility(demand.speeds.front())});
  }
  return options;
}

/// A larger size of a job.
struct SizeStep {
  double density = 0.0;  ///< utility per GPU
  std::size_t job = 0;
  std::size_t to = 0;

  bool operator<(const SizeStep& other) const {
    return std::tuple(density, other.job) < std::tuple(other.density, job);
  }
};

/// The best step within so many GPUs; density 0: there is none.
SizeStep best_size_step(const std::vector<SlotOption>& options, std::size_t job, std::size_t has,
                        double room) {
  SizeStep best{.density = 0.0, .job = job, .to = has};
  for (std::size_t to = has + 1; to < options.size(); ++to) {
    const double gpus = options[to].gpus - options[has].gpus;
    if (gpus > room) break;
    const double density = (options[to].utility - options[has].utility) / gpus;
    if (density > best.density) best = {density, job, to};
  }
  return best;
}

/// Option of each job, 0: no GPUs.
std::vector<std::size_t> divide_slot(const std::vector<std::vector<SlotOption>>& jobs,
                                     double gpus) {
  std::vector<std::size_t> has(jobs.size(), 0);
  std::priority_queue<SizeStep> steps;
  const auto push = [&](std::size_t j) {
    if (const SizeStep step = best_size_step(jobs[j], j, has[j], gpus); step.density > 0.0)
      steps.push(step);
  };
  for (std::size_t j = 0; j < jobs.size(); ++j) push(j);
  while (!steps.empty()) {
    const SizeStep step = steps.top();
    steps.pop();
    const double more = jobs[step.job][step.to].gpus - jobs[step.job][has[step.job]].gpus;
    if (more <= gpus) {
      gpus -= more;
      has[step.job] = step.to;
    }
    push(step.job);
  }
  return has;
}

}  // namespace

void GadgetPolicy::decide(State& state) {
  const SlotSupply supply = begin_slot(state);
  std::vector<SizedJob> sized;
  std::vector<std::vector<SlotOption>> options;
  for (const JobId job : supply.jobs) {
    sized.push_back({job, configurations_by_size(state, job), -1});
    options.push_back(slot_options(state, sized.back()));
  }
  const std::vector<std::size_t> has = divide_slot(options, supply.gpus);
  for (std::size_t i = 0; i < sized.size(); ++i)
    sized[i].chosen = static_cast<std::int32_t>(has[i]) - 1;
  carry_out(state, sized);
  if (!sized.empty() && state.slot() == 0) state.wake_at(state.now() + kSlot);
}

std::unique_ptr<policy::Policy> make_gadget(const PaperWorld& /*world*/) {
  return std::make_unique<GadgetPolicy>();
}

}  // namespace berth::papers
