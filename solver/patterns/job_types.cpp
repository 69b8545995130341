// SPDX-License-Identifier: Apache-2.0
#include "packing_problem.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>

#include "berth/planner_model/precedence.hpp"

namespace berth::solver {
namespace {

/// GPU thousandths with which a task without GPUs counts in `task_part`. Chosen, not tuned.
constexpr double kMilliWithoutGpus = 10.0;

/// The properties of a job that decide its job type.
struct TaskOffer {
  JobId job;
  ShapeId shape;
  bool required = false;
  std::int64_t tasks = 1;
  std::uint64_t slots = 0;    ///< slots where the job is allowed and has value, one bit each
  double best = 0.0;          ///< largest of the values
  std::vector<double> value;  ///< of one task, by slot, not scaled
};

/// Slots of the bin types, ascending. Values of jobs are computed for these only.
std::vector<std::size_t> slots_in_use(const std::vector<BinType>& bins) {
  std::vector<std::size_t> slots;
  for (const BinType& s : bins) slots.push_back(s.slot);
  std::ranges::sort(slots);
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

/// Profile of the job's tasks of one shape.
TaskOffer profile_of(const planner_model::Valuation& valuation, JobId id, ShapeId shape,
                     std::span<const std::size_t> slots) {
  const model::WorkloadView& workload = valuation.instance().workload;
  const model::Job& job = workload.job(id);
  TaskOffer c{.job = id, .shape = shape, .required = job.required, .tasks = 0, .value = {}};
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    if (g.shape == shape) c.tasks += g.count;
  }
  c.value.assign(slots.back() + 1, 0.0);
  for (const std::size_t slot : slots) {
    const GpuTypeId type = slot == 0 ? GpuTypeId{} : GpuTypeId(slot - 1);
    if (!workload.allows(job, workload.shape(c.shape), type)) continue;
    c.value[slot] = task_value(valuation, id, shape, type);
    c.best = std::max(c.best, c.value[slot]);
    if (c.value[slot] > 0.0 || job.required) c.slots |= std::uint64_t{1} << (slot & 63);
  }
  return c;
}

auto family(const TaskOffer& c) { return std::tuple(c.shape, c.slots, !c.required); }

/// Precedence of a job by its best value.
planner_model::Precedence precedence(const model::WorkloadView& workload, const TaskOffer& c) {
  return planner_model::precedence(
      workload, c.job, planner_model::value_density(workload, workload.job(c.job), c.best));
}

JobType make_type(const model::WorkloadView& workload, std::span<const TaskOffer> members,
                  double unit, double reward) {
  const TaskOffer& first = members.front();
  JobType type{.shape_id = first.shape,
               .shape = workload.shape(first.shape),
               .value = std::vector<double>(first.value.size(), 0.0),
               .reward = first.required ? reward : 0.0,
               .jobs = {}};
  for (const TaskOffer& c : members) {
    type.jobs.insert(type.jobs.end(), static_cast<std::size_t>(c.tasks), c.job);
    const auto tasks = static_cast<double>(c.tasks);
    for (std::size_t s = 0; s < type.value.size(); ++s) type.value[s] += tasks * c.value[s];
  }
  const double scale = unit * static_cast<double>(type.jobs.size());
  for (std::size_t s = 0; s < type.value.size(); ++s) {
    const bool allowed = ((first.slots >> (s & 63)) & 1) != 0 && !(s == 0 && type.shape.uses_gpu());
    type.value[s] = allowed ? type.value[s] / scale + type.reward : 0.0;
  }
  return type;
}

/// Ends of the runs of equal values in one family, which is sorted by descending value.
std::vector<std::size_t> equal_runs(std::span<const TaskOffer> members) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i].value != members[i - 1].value) ends.push_back(i);
  }
  ends.push_back(members.size());
  return ends;
}

/// Runs of jobs with equal shape, allowed slots and requiredness.
std::vector<std::span<const TaskOffer>> families_of(std::span<const TaskOffer> sorted) {
  std::vector<std::span<const TaskOffer>> families;
  for (std::size_t begin = 0, i = 1; i <= sorted.size(); ++i) {
    if (i < sorted.size() && family(sorted[i]) == family(sorted[begin])) continue;
    families.push_back(sorted.subspan(begin, i - begin));
    begin = i;
  }
  return families;
}

/// Value per GPU thousandth at which the tasks of more value fill the GPUs of all machines; 0 when
/// they do not.
double clearing_price(const model::WorkloadView& workload, std::span<const BinType> bins,
                      std::span<const TaskOffer> candidates) {
  std::vector<std::pair<double, std::int64_t>> asked;  // value per thousandth, thousandths
  for (const TaskOffer& c : candidates) {
    const std::int64_t milli = workload.shape(c.shape).total_milli();
    if (milli > 0) asked.emplace_back(c.best / static_cast<double>(milli), c.tasks * milli);
  }
  std::ranges::sort(asked, std::greater{});
  std::int64_t left = 0;
  for (const BinType& s : bins) left += s.milli() * std::ssize(s.machines);
  for (const auto& [value, milli] : asked) {
    left -= milli;
    if (left < 0) return value;
  }
  return 0.0;
}

/// Ends of the runs of one family worth at least, and less than, this much per GPU thousandth.
std::vector<std::size_t> runs_by_worth(const model::WorkloadView& workload,
                                       std::span<const TaskOffer> members, double price) {
  const auto milli = static_cast<double>(workload.shape(members.front().shape).total_milli());
  const auto less =
      std::ranges::find_if(members, [&](const TaskOffer& c) { return c.best < price * milli; });
  const auto end = static_cast<std::size_t>(less - members.begin());
  if (end == 0 || end == members.size()) return {members.size()};
  return {end, members.size()};
}

double best_value_a_gpu(const model::WorkloadView& workload,
                        std::span<const TaskOffer> candidates) {
  double unit = 0.0;
  for (const TaskOffer& c : candidates) {
    const std::int64_t milli = workload.shape(c.shape).total_milli();
    unit = std::max(unit, milli == 0 ? c.best : c.best * 1000.0 / static_cast<double>(milli));
  }
  return unit > 0.0 ? unit : 1.0;
}

}  // namespace

double task_part(const model::WorkloadView& workload, JobId job, ShapeId shape) {
  const auto groups = workload.groups_of(workload.job(job));
  if (groups.size() == 1) return 1.0 / static_cast<double>(groups.front().count);
  const auto weight = [&](ShapeId s) {
    return std::max(static_cast<double>(workload.shape(s).total_milli()), kMilliWithoutGpus);
  };
  double sum = 0.0;
  for (const model::TaskGroup& g : groups) sum += weight(g.shape) * g.count;
  return weight(shape) / sum;
}

double task_value(const planner_model::Valuation& valuation, JobId job, ShapeId shape,
                  GpuTypeId type) {
  const model::WorkloadView& workload = valuation.instance().workload;
  const model::Job& record = workload.job(job);
  const bool beside =
      record.groups > 1 && !workload.shape(shape).uses_gpu() && workload.gpu_milli(record) > 0;
  const double value = beside ? valuation.best(job) : valuation.best(job, type);
  return value * task_part(workload, job, shape);
}

bool fits(const JobType& type, const BinType& bin) {
  const model::Shape& s = type.shape;
  if (bin.slot >= type.value.size() || type.value[bin.slot] <= 0.0) return false;
  if (!s.needs.within(bin.room)) return false;
  if (s.gpus > bin.whole) return false;
  return s.gpu_milli == 0 || bin.whole > 0 ||
         (!bin.partial.empty() && bin.share(s) <= bin.partial.front());
}

void add_job_types(PackingProblem& problem, const planner_model::Valuation& valuation,
                   std::span<const JobId> jobs, int aim) {
  if (problem.bins.empty()) return;
  const model::WorkloadView& workload = valuation.instance().workload;
  const auto slots = slots_in_use(problem.bins);
  std::vector<TaskOffer> candidates;
  for (const JobId job : jobs) {
    std::vector<ShapeId> shapes;
    for (const model::TaskGroup& g : workload.groups_of(workload.job(job))) {
      if (std::ranges::find(shapes, g.shape) == shapes.end()) shapes.push_back(g.shape);
    }
    for (const ShapeId shape : shapes) {
      TaskOffer c = profile_of(valuation, job, shape, slots);
      if (c.slots != 0) candidates.push_back(std::move(c));
    }
  }
  std::ranges::sort(candidates, [&](const TaskOffer& a, const TaskOffer& b) {
    if (family(a) != family(b)) return family(a) < family(b);
    if (a.value != b.value) return a.best != b.best ? a.best > b.best : a.value > b.value;
    return precedence(workload, a) < precedence(workload, b);
  });
  problem.unit = best_value_a_gpu(workload, candidates);
  int gpus = 1;
  for (const BinType& s : problem.bins) {
    gpus = std::max(gpus, s.whole + static_cast<int>(s.partial.size()));
  }
  const double reward = 2.0 * gpus + 2.0;

  const auto families = families_of(candidates);
  std::size_t runs = 0;
  for (const auto& members : families) runs += equal_runs(members).size();
  problem.aggregated = runs > static_cast<std::size_t>(aim) && runs > families.size();
  const double price =
      families.size() > kManyTypes ? clearing_price(workload, problem.bins, candidates) : 0.0;
  problem.clearing = price / problem.unit;
  for (const auto& members : families) {
    std::size_t from = 0;
    for (const std::size_t to :
         problem.aggregated ? runs_by_worth(workload, members, price) : equal_runs(members)) {
      JobType type = make_type(workload, members.subspan(from, to - from), problem.unit, reward);
      const bool somewhere =
          std::ranges::any_of(problem.bins, [&](const BinType& s) { return fits(type, s); });
      if (somewhere) problem.types.push_back(std::move(type));
      from = to;
    }
  }
}

}  // namespace berth::solver
