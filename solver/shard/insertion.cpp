// SPDX-License-Identifier: Apache-2.0
#include "shard/insertion.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace berth::solver {

using model::JobPlacement;
using model::Level;

namespace {

constexpr double kTiny = 1e-9;  ///< gains below this share of the job's value are noise

/// Room for one more task on a machine: what it costs beyond the tasks before it.
struct Vacancy {
  double cost = 0.0;
  MachineId machine;
  std::uint32_t rank = 0;           ///< position among the machine's vacancies
  std::vector<JobId> victims = {};  ///< beyond those of lower ranks
};

struct Query {
  const Tenancy* tenancy;
  JobId job;
  const model::Job* record;
  const model::Shape* shape;
  std::int64_t tasks;
  const std::vector<JobId>* going = nullptr;  ///< who goes anyway, to make room in quotas; sorted

  [[nodiscard]] const model::Workload& workload() const {
    return tenancy->valuation().instance().workload;
  }
};

bool goes(const Query& q, JobId job) { return std::ranges::binary_search(*q.going, job); }

/// Who must go, or what must be paid, before the job may come at all.
struct Duty {
  bool possible = true;
  double cost = 0.0;
  std::vector<JobId> victims = {};  ///< ascending
};

/// Makes room of `over` thousandths in one quota: the least valuable first, but nobody that is
/// worth more than paying `rate` per thousandth. Those that turn out not to be needed stay.
void free_quota(const Tenancy& tenancy, std::size_t quota, std::int64_t over, double rate,
                Duty& duty) {
  const model::Workload& workload = tenancy.valuation().instance().workload;
  const auto milli = [&](JobId job) { return workload.gpu_milli(workload.job(job)); };
  std::vector<std::pair<double, JobId>> fresh;  // (value, job)
  for (const JobId v : duty.victims) {
    if (std::ranges::find(tenancy.ledger().quotas_of(v), quota) !=
        tenancy.ledger().quotas_of(v).end()) {
      over -= milli(v);
    }
  }
  for (const auto& [density, job] : tenancy.counting_for(quota)) {
    if (over <= 0 || density >= rate) break;
    if (std::ranges::find(duty.victims, job) != duty.victims.end()) continue;
    fresh.emplace_back(tenancy.value_of(job), job);
    over -= milli(job);
  }
  std::ranges::sort(fresh, std::greater{});
  for (const auto& [value, job] : fresh) {
    if (over + milli(job) <= 0) {
      over += milli(job);
      continue;
    }
    duty.victims.push_back(job);
    duty.cost += value;
  }
  if (over <= 0) return;
  if (std::isinf(rate))
    duty.possible = false;
  else
    duty.cost += rate * static_cast<double>(over);
}

Duty duty_of(const Tenancy& tenancy, JobId id, std::int64_t drawn) {
  Duty duty;
  const model::Ledger& ledger = tenancy.ledger();
  const model::Workload& workload = tenancy.valuation().instance().workload;
  const std::int64_t milli = workload.gpu_milli(workload.job(id));
  for (const std::uint32_t l : ledger.quotas_of(id)) {
    if (milli <= drawn || ledger.left(l) >= milli - drawn) continue;
    const std::int64_t over = milli - drawn - ledger.left(l);
    if (std::isinf(ledger.limits()->penalty(l))) {
      free_quota(tenancy, l, over, ledger.rate(l), duty);
    } else {
      free_quota(tenancy, l, std::min(over, milli), ledger.rate(l) / 1000.0, duty);
    }
  }
  std::ranges::sort(duty.victims);
  return duty;
}

/// What room for the first task must cost at least on this machine: residents by value per GPU,
/// the last one in part. Ignores CPU, memory and which device is whose.
double least_cost(const Query& q, MachineId m) {
  std::int64_t need = q.shape->total_milli() - q.tenancy->room()[m].milli();
  double cost = 0.0;
  for (const Resident& r : q.tenancy->on(m)) {
    if (goes(q, r.job)) need -= r.milli;
  }
  for (const Resident& r : q.tenancy->on(m)) {
    if (need <= 0) return cost;
    if (goes(q, r.job)) continue;
    if (!r.may_go || r.milli == 0) continue;
    const auto part = static_cast<double>(std::min(need, r.milli)) / static_cast<double>(r.milli);
    cost += part * r.value;
    need -= r.milli;
  }
  return need <= 0 ? cost : std::numeric_limits<double>::infinity();
}

void release_on(const Query& q, model::FreeMachine& free, MachineId m, JobId job) {
  const auto groups = q.workload().groups_of(q.workload().job(job));
  for (const auto& task : q.tenancy->placed(job).tasks) {
    if (task.machine == m) free.release(task, q.workload().shape(groups[task.group].shape));
  }
}

void take_on(const Query& q, model::FreeMachine& free, MachineId m, JobId job) {
  const auto groups = q.workload().groups_of(q.workload().job(job));
  for (const auto& task : q.tenancy->placed(job).tasks) {
    if (task.machine == m) free.take(task, q.workload().shape(groups[task.group].shape));
  }
}

/// Lets victims stay that turned out not to be in the way, most valuable first.
void spare(const Query& q, model::FreeMachine free, Vacancy& vacancy) {
  std::vector<JobId> kept = vacancy.victims;
  std::ranges::sort(kept, std::greater{},
                    [&](JobId v) { return std::pair(q.tenancy->value_of(v), -v.value()); });
  for (const JobId v : kept) {
    model::FreeMachine with = free;
    take_on(q, with, vacancy.machine, v);
    if (!with.fits(*q.shape)) continue;
    free = with;
    std::erase(vacancy.victims, v);
    vacancy.cost -= q.tenancy->value_of(v);
  }
}

/// Vacancies of one machine for up to `limit` tasks, none dearer than `budget` in all.
void vacancies(const Query& q, MachineId m, std::int64_t limit, double budget,
               std::vector<Vacancy>& out) {
  if (least_cost(q, m) >= budget) return;
  model::FreeMachine free = q.tenancy->room()[m];
  for (const Resident& r : q.tenancy->on(m)) {
    if (goes(q, r.job)) release_on(q, free, m, r.job);
  }
  auto next = q.tenancy->on(m).begin();
  const auto end = q.tenancy->on(m).end();
  std::int64_t found = 0;
  double spent = 0.0;
  Vacancy open{.cost = 0.0, .machine = m};
  while (true) {
    for (std::int64_t fit = free.count(*q.shape, limit); found < fit; ++found) {
      open.rank = static_cast<std::uint32_t>(found);
      if (limit == 1 && open.victims.size() > 1) spare(q, free, open);
      out.push_back(std::exchange(open, Vacancy{.cost = 0.0, .machine = m}));
    }
    while (next != end && (!next->may_go || goes(q, next->job))) ++next;
    if (found == limit || next == end || spent + next->value >= budget) return;
    spent += next->value;
    open.cost += next->value;
    open.victims.push_back(next->job);
    release_on(q, free, m, next->job);
    ++next;
  }
}

/// The insertion that uses the `tasks` cheapest vacancies, if they are enough and worth it.
void consider(const Query& q, std::vector<Vacancy> choice, double value, Insertion& best) {
  if (std::ssize(choice) < q.tasks) return;
  std::ranges::sort(choice, {}, [&](const Vacancy& v) {
    return std::tuple(v.cost, q.tenancy->room().free_milli(v.machine), v.machine, v.rank);
  });
  // A later vacancy of a machine needs the earlier ones: walk in cost order, skip what is not open.
  std::map<MachineId, std::uint32_t> opened;
  Insertion found{.gain = value, .machines = {}, .victims = *q.going};
  std::int64_t left = q.tasks;
  for (bool progress = true; left > 0 && progress;) {
    progress = false;
    for (const Vacancy& v : choice) {
      if (left == 0 || found.gain <= best.gain) break;
      std::uint32_t& rank = opened[v.machine];
      if (v.rank != rank) continue;
      ++rank, --left, progress = true;
      if (v.rank == 0) found.machines.push_back(v.machine);
      for (const JobId victim : v.victims) {
        if (std::ranges::find(found.victims, victim) != found.victims.end()) continue;
        found.victims.push_back(victim);
        found.gain -= q.tenancy->value_of(victim);
      }
    }
  }
  if (left == 0 && found.gain > best.gain) best = std::move(found);
}

Level distance_of(const model::Cluster& cluster, const model::Job& job, const Domain& domain) {
  if (!job.home_rack.valid() && !job.home_pod.valid()) return Level::machine;
  const PodId home = job.home_pod.valid() ? job.home_pod : cluster.racks[job.home_rack.index()].pod;
  Level farthest = Level::machine;
  for (const MachineId m : {domain.machines.front(), domain.machines.back()}) {
    const RackId rack = cluster.machine_rack[m.index()];
    const bool same_pod = cluster.racks[rack.index()].pod == home;
    farthest = std::max(farthest, rack == job.home_rack ? Level::rack
                                  : same_pod            ? Level::pod
                                                        : Level::cluster);
  }
  return farthest;
}

std::int64_t most_on_a_machine(const Query& q) {
  return q.record->domain == Level::machine ? q.tasks : std::min<std::int64_t>(q.tasks, 64);
}

/// A single machine must hold the whole job.
void consider_machines(const Query& q, const Domain& domain, double value, Insertion& best) {
  for (const MachineId m : domain.machines) {
    std::vector<Vacancy> room;
    vacancies(q, m, q.tasks, value - best.gain, room);
    consider(q, std::move(room), value, best);
  }
}

void consider_domain(const Query& q, const Domain& domain, double value, Insertion& best) {
  if (q.tasks == 1 || q.record->domain == Level::machine) {
    consider_machines(q, domain, value, best);
    return;
  }
  std::vector<Vacancy> room;
  for (const MachineId m : domain.machines) {
    if (!q.tenancy->ledger().may_cross(q.job, m, domain.level)) continue;
    vacancies(q, m, most_on_a_machine(q), value - best.gain, room);
  }
  consider(q, std::move(room), value, best);
}

bool allowed(const model::Job& job, GpuTypeId type) {
  return !type.valid() || ((job.gpu_types >> type.index()) & 1) != 0;
}

/// Types the job may run on here; for a CPU-only job without a type list, every machine at once.
std::vector<GpuTypeId> types_for(const Tenancy& tenancy, const model::Job& job) {
  const model::Workload& workload = tenancy.valuation().instance().workload;
  if (workload.gpu_milli(job) == 0 && job.gpu_types == ~std::uint64_t{0}) return {GpuTypeId{}};
  std::vector<GpuTypeId> types;
  for (const GpuTypeId type : tenancy.index().types()) {
    if (allowed(job, type)) types.push_back(type);
  }
  return types;
}

/// Calls visit(domain, value) for the domains the job may lie in: racks alone for a single task,
/// since nothing is wider than its machine; every level up to its limit for a gang.
void for_each_domain(const Tenancy& tenancy, JobId id, Level limit, auto visit) {
  const model::Instance& instance = tenancy.valuation().instance();
  const model::Job& job = instance.workload.job(id);
  const bool single = instance.workload.tasks(job) == 1 || job.domain == Level::machine;
  const Level widest = single ? Level::rack : std::min(limit, job.domain);
  for (const GpuTypeId type : types_for(tenancy, job)) {
    for (const Level level : {Level::rack, Level::pod, Level::cluster}) {
      if (level > widest) break;
      for (const Domain& domain : tenancy.index().domains(type, level)) {
        const Level distance = distance_of(instance.cluster, job, domain);
        const Level width = single ? Level::machine : level;
        visit(domain, tenancy.valuation().option(id, type, width, distance));
      }
    }
  }
}

}  // namespace

Insertion find_insertion(const Tenancy& tenancy, JobId id, const Search& search) {
  const model::Workload& workload = tenancy.valuation().instance().workload;
  const model::Job& job = workload.job(id);
  Insertion best;
  if (job.groups != 1) return best;
  const model::TaskGroup& group = workload.groups_of(job).front();
  const Duty duty = duty_of(tenancy, id, search.drawn);
  if (!duty.possible) return best;
  const Query q{&tenancy, id, &job, &workload.shape(group.shape), group.count, &duty.victims};
  const std::int64_t milli = group.count * q.shape->total_milli();
  const bool known = search.costs != nullptr && duty.victims.empty();  // else they free room
  for_each_domain(tenancy, id, search.widest, [&](const Domain& domain, double face) {
    const double value = face - duty.cost;
    if (value * (1.0 - kTiny) <= best.gain) return;
    const double least = known ? search.costs->least(domain, milli) * (1.0 - kTiny) : 0.0;
    if (value - least > best.gain) consider_domain(q, domain, value, best);
  });
  return best;
}

bool place_idle(Tenancy& tenancy, JobId id) {
  std::vector<std::pair<double, const Domain*>> order;
  const bool required = tenancy.valuation().instance().workload.job(id).required;
  const std::optional<double> surcharge = tenancy.ledger().surcharge(id);
  if (!surcharge) return false;
  for_each_domain(tenancy, id, Level::cluster, [&](const Domain& domain, double value) {
    if (value >= *surcharge || required) order.emplace_back(value, &domain);
  });
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  const model::Workload& workload = tenancy.valuation().instance().workload;
  for (const auto& [value, domain] : order) {
    std::vector<MachineId> open = domain->machines;
    std::erase_if(open, [&, level = domain->level](MachineId m) {
      return !tenancy.ledger().may_cross(id, m, level);
    });
    auto placement = model::place_job(tenancy.room(), workload, id, open);
    if (!placement) continue;
    if (!tenancy.ledger().carries(*placement)) {
      model::release(tenancy.room(), workload, *placement);
      continue;
    }
    tenancy.adopt(std::move(*placement));
    return true;
  }
  return false;
}

Applied apply_insertion(Tenancy& tenancy, JobId job, const Insertion& insertion, double at_least) {
  const model::Workload& workload = tenancy.valuation().instance().workload;
  std::vector<JobPlacement> before;
  double gain = tenancy.ledger().surcharges();
  for (const JobId victim : insertion.victims) {
    gain -= tenancy.value_of(victim);
    before.push_back(tenancy.remove(victim));
  }
  std::vector<JobId> victims = insertion.victims;
  std::ranges::sort(victims);
  std::optional<JobPlacement> placement;
  if (tenancy.ledger().surcharge(job)) {
    placement = model::place_job(tenancy.room(), workload, job, insertion.machines);
  }
  std::vector<JobId> back;
  Applied applied;
  if (placement && !tenancy.ledger().carries(*placement)) {
    model::release(tenancy.room(), workload, *placement);
    placement.reset();
    applied.crowded = true;
  }
  if (placement) {
    tenancy.adopt(std::move(*placement));
    gain += tenancy.value_of(job);
    for (const JobId victim : victims) {
      if (!place_idle(tenancy, victim)) {
        applied.pushed_out.push_back(victim);
        continue;
      }
      back.push_back(victim);
      gain += tenancy.value_of(victim);
    }
    gain -= tenancy.ledger().surcharges();
    if (gain >= at_least && gain > 0.0) {
      applied.gain = gain;
      return applied;
    }
    tenancy.remove(job);
  }
  for (const JobId victim : back) tenancy.remove(victim);
  for (JobPlacement& old : before) tenancy.add(std::move(old));
  return {.pushed_out = {}, .crowded = applied.crowded};
}

}  // namespace berth::solver
