// SPDX-License-Identifier: Apache-2.0
#include "exhaustive.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <string>

namespace berth::test {
namespace {

using model::Level;

struct Machine {
  model::Resources free;     ///< or model::kNoLimit
  int whole;                 ///< units of a device: its slices, or thousandths
  std::vector<int> devices;  ///< free units

  [[nodiscard]] bool has(const model::Resources& needs) const {
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (needs[r] > free[r]) return false;
    }
    return true;
  }
  void lose(const model::Resources& taken) {
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (free[r] != model::kNoLimit) free[r] -= taken[r];
    }
  }
  /// Units that this many thousandths of a device take; a slice is taken whole.
  [[nodiscard]] int units(int milli) const {
    int n = 0;
    while (n * 1000 < milli * whole) ++n;
    return n;
  }
  /// Thousandths of this many units, as plans write them.
  [[nodiscard]] int told(int units) const { return units * 1000 / whole; }
};

class Search {
 public:
  Search(const model::Instance& instance, model::Objective objective,
         const std::vector<bool>& required, std::int64_t limit)
      : in_(instance), objective_(objective), required_(required), steps_left_(limit) {
    for (std::size_t m = 0; m < in_.cluster.machines(); ++m) {
      const auto& c = in_.cluster.class_of(MachineId(m));
      const int whole = c.gpu_slices > 0 ? c.gpu_slices : 1000;
      machines_.push_back({c.capacity, whole, std::vector<int>(std::size_t(c.gpus), whole)});
    }
    for (const auto& piece : in_.cluster.immovable) take(piece);
    const std::size_t jobs = in_.workload.jobs.size();
    stays_.assign(jobs, false);
    hope_.assign(jobs + 1, 0.0);
    for (std::size_t j = jobs; j-- > 0;) hope_[j] = hope_[j + 1] + std::max(0.0, most(j));
  }

  std::optional<Optimum> run() {
    next_stay(0, 0.0);
    if (steps_left_ < 0 || !found_) return std::nullopt;
    std::ranges::sort(best_.placement, {}, &model::JobPlacement::job);
    return best_;
  }

 private:
  const model::Job& job(std::size_t j) const { return in_.workload.jobs[j]; }

  double base(std::size_t j) const {
    double gpus = 0.0;
    for (const auto& g : in_.workload.groups_of(job(j))) {
      const auto& s = in_.workload.shape(g.shape);
      gpus += g.count * (s.gpus + s.gpu_milli / 1000.0);
    }
    if (objective_ == model::Objective::allocate) return std::round(gpus * 1000.0);
    return std::isnan(job(j).value) ? gpus * job(j).weight : job(j).value;
  }

  double most(std::size_t j) const {
    double fastest = 1.0;
    for (const double s : in_.workload.speeds) fastest = std::max(fastest, s);
    return objective_ == model::Objective::allocate ? base(j) : base(j) * fastest;
  }

  bool gpu_job(std::size_t j) const {
    for (const auto& g : in_.workload.groups_of(job(j))) {
      if (in_.workload.shape(g.shape).uses_gpu()) return true;
    }
    return false;
  }

  int rack(MachineId m) const { return in_.cluster.machine_rack[m.index()].value(); }
  int pod(MachineId m) const { return in_.cluster.pod_of(m).value(); }

  /// Width of the placed tasks: 0 machine, 1 rack, 2 pod, 3 cluster.
  int width(const model::JobPlacement& p) const {
    int w = 0;
    for (const auto& a : p.tasks) {
      for (const auto& b : p.tasks) {
        if (a.machine != b.machine) w = std::max(w, 1);
        if (rack(a.machine) != rack(b.machine)) w = std::max(w, 2);
        if (pod(a.machine) != pod(b.machine)) w = std::max(w, 3);
      }
    }
    return w;
  }

  double worth(std::size_t j, const model::JobPlacement& p, int type) const {
    double v = base(j);
    if (objective_ == model::Objective::allocate) return v;
    if (type >= 0 && !in_.workload.speeds.empty()) v *= in_.workload.speed(job(j), GpuTypeId(type));
    int away = 0;
    for (const auto& t : p.tasks) {
      const RackId home = job(j).home_rack;
      if (home.valid()) {
        const int home_pod = in_.cluster.racks[home.index()].pod.value();
        away = std::max(away, rack(t.machine) == home.value() ? 1
                              : pod(t.machine) == home_pod    ? 2
                                                              : 3);
      } else if (job(j).home_pod.valid()) {
        away = std::max(away, pod(t.machine) == job(j).home_pod.value() ? 2 : 3);
      }
    }
    v *= in_.workload.factors[job(j).home_factor][std::size_t(away)];
    return v * in_.workload.factors[job(j).width_factor][std::size_t(width(p))];
  }

  std::int64_t milli(std::size_t j) const {
    std::int64_t total = 0;
    for (const auto& g : in_.workload.groups_of(job(j))) {
      const auto& s = in_.workload.shape(g.shape);
      total += std::int64_t{g.count} * (1000 * s.gpus + s.gpu_milli);
    }
    return total;
  }

  /// GPU thousandths of the jobs in queue `q` and its descendants, in the plan or pinned.
  std::int64_t in_queue(std::size_t q, bool pinned) const {
    std::int64_t total = 0;
    const auto add = [&](std::size_t j) {
      for (QueueId up = job(j).queue; up.valid(); up = in_.cluster.queues[up.index()].parent) {
        if (up.index() == q) total += milli(j);
      }
    };
    if (!pinned) {
      for (const auto& p : plan_) add(p.job.index());
      return total;
    }
    for (const auto& r : in_.workload.running) {
      if (r.pinned) add(r.job.index());
    }
    return total;
  }

  std::int64_t over(std::size_t q) const {
    const std::int64_t quota = 1000 * in_.cluster.queues[q].gpu_quota - in_queue(q, true);
    return in_queue(q, false) - std::max<std::int64_t>(0, quota);
  }

  double lost_over_quotas() const {
    double lost = 0.0;
    for (std::size_t q = 0; q < in_.cluster.queues.size(); ++q) {
      const auto& queue = in_.cluster.queues[q];
      if (objective_ == model::Objective::allocate || queue.gpu_quota < 0 || queue.hard()) continue;
      lost += queue.over_quota_penalty * static_cast<double>(std::max<std::int64_t>(0, over(q))) /
              1000.0;
    }
    return lost;
  }

  double lost_of_spare() const {
    double lost = 0.0;
    for (const model::Spare& spare : in_.cluster.spare) {
      if (objective_ == model::Objective::allocate) continue;
      const auto inside = [&](MachineId m) {
        return in_.cluster.pod_of(m) == spare.pod &&
               in_.cluster.class_of(m).gpu_type == spare.gpu_type &&
               in_.cluster.state_of(m) == model::MachineState::up;
      };
      std::int64_t room = -1000 * spare.gpus, used = 0;
      for (std::size_t m = 0; m < machines_.size(); ++m) {
        if (inside(MachineId(m))) room += 1000 * std::ssize(machines_[m].devices);
      }
      for (const auto& piece : in_.cluster.immovable) {
        if (!inside(piece.machine)) continue;
        const Machine& machine = machines_[piece.machine.index()];
        room -= std::popcount(piece.devices) * machine.told(machine.units(piece.milli));
      }
      for (const auto& p : plan_) {
        for (const auto& t : p.tasks) {
          if (inside(t.machine)) used += std::popcount(t.devices) * t.milli;
        }
      }
      const std::int64_t over = used - std::max<std::int64_t>(0, room);
      lost += spare.penalty * static_cast<double>(std::max<std::int64_t>(0, over)) / 1000.0;
    }
    return lost;
  }

  /// Mbit/s on the uplink of one rack or pod.
  std::int64_t traffic(const model::Job& of, const auto& tasks, auto behind) const {
    const auto& talk = of.communication;
    std::int64_t w = 0, p = 0, workers = 0, servers = 0;
    for (const auto& t : tasks) {
      const bool server =
          talk.pattern == model::CommunicationPattern::ps && t.group == talk.servers;
      ++(server ? servers : workers);
      if (behind(t.machine)) ++(server ? p : w);
    }
    if (w + p == 0 || w + p == workers + servers) return 0;
    if (talk.pattern == model::CommunicationPattern::ring) return talk.mbps;
    if (talk.pattern == model::CommunicationPattern::none) return 0;
    const std::int64_t pairs = w * (servers - p) + (workers - w) * p;
    return (talk.mbps * pairs + servers - 1) / servers;
  }

  bool link_fits(double gbps, auto behind) const {
    if (std::isinf(gbps)) return true;
    std::int64_t pinned = 0, planned = 0;
    for (const auto& r : in_.workload.running) {
      if (r.pinned) pinned += traffic(job(r.job.index()), in_.workload.tasks_of(r), behind);
    }
    for (const auto& p : plan_) planned += traffic(job(p.job.index()), p.tasks, behind);
    const auto most = static_cast<std::int64_t>(std::floor(gbps * 1000.0));
    return planned <= std::max<std::int64_t>(0, most - pinned);
  }

  /// What tasks draw in one rack or pod, beside all that no plan moves.
  bool power_fits(double watts, auto inside) const {
    if (std::isinf(watts)) return true;
    std::int64_t immovable = 0, planned = 0;
    for (const auto& piece : in_.cluster.immovable) {
      if (inside(piece.machine)) immovable += piece.taken[model::kPower];
    }
    for (const auto& p : plan_) {
      const auto groups = in_.workload.groups_of(job(p.job.index()));
      for (const auto& t : p.tasks) {
        if (!inside(t.machine)) continue;
        planned += in_.workload.shape(groups[t.group].shape).needs[model::kPower];
      }
    }
    const auto most = static_cast<std::int64_t>(std::floor(watts));
    return planned <= std::max<std::int64_t>(0, most - immovable);
  }

  const model::PlacementRules& rules(std::size_t j) const {
    return in_.workload.rules[job(j).rules];
  }

  /// Whether one job's tasks keep its numbers of tasks and domains.
  bool counts_fit(std::size_t j, const model::JobPlacement& p) const {
    for (std::size_t level = 0; level < 3; ++level) {
      std::map<int, int> tasks;
      for (const auto& t : p.tasks) {
        ++tasks[level == 0 ? t.machine.value() : level == 1 ? rack(t.machine) : pod(t.machine)];
      }
      if (std::ssize(tasks) < rules(j).min_domains[level]) return false;
      for (const auto& [domain, n] : tasks) {
        if (n > rules(j).max_tasks[level]) return false;
      }
    }
    return true;
  }

  /// Whether rules allow the last planned job beside the others and the pinned ones.
  bool may_be_there() const {
    if (plan_.empty()) return true;
    const model::JobPlacement& last = plan_.back();
    const auto apart = [&](JobId other, const auto& tasks) {
      const model::PlacementRules &a = rules(last.job.index()), &b = rules(other.index());
      bool meet = false;
      for (const auto& t : last.tasks) {
        for (const auto& u : tasks) meet = meet || t.machine == u.machine;
      }
      bool excluded = a.exclusive || b.exclusive;
      for (const std::string& x : a.not_with)
        excluded = excluded || std::ranges::count(b.labels, x);
      for (const std::string& x : b.not_with)
        excluded = excluded || std::ranges::count(a.labels, x);
      return meet && excluded;
    };
    for (std::size_t i = 0; i + 1 < plan_.size(); ++i) {
      if (apart(plan_[i].job, plan_[i].tasks)) return false;
    }
    return std::ranges::none_of(in_.workload.running, [&](const model::Running& r) {
      return r.pinned && apart(r.job, in_.workload.tasks_of(r));
    });
  }

  /// Whether the jobs planned so far take no more licenses than pinned jobs leave.
  bool licenses_fit() const {
    for (std::size_t l = 0; l < in_.cluster.licenses.size(); ++l) {
      std::int64_t pinned = 0, planned = 0;
      const auto add = [&](std::size_t j, std::int64_t& sum) {
        for (const auto& use : rules(j).licenses) sum += use.license == l ? use.count : 0;
      };
      for (const auto& r : in_.workload.running) {
        if (r.pinned) add(r.job.index(), pinned);
      }
      for (const auto& p : plan_) add(p.job.index(), planned);
      const std::int64_t left = in_.cluster.licenses[l].count - pinned;
      if (planned > std::max<std::int64_t>(0, left)) return false;
    }
    return true;
  }

  /// Whether the jobs planned so far keep hard quotas, links, power budgets and licenses.
  bool shared_fit() const {
    if (!licenses_fit()) return false;
    for (std::size_t q = 0; q < in_.cluster.queues.size(); ++q) {
      if (in_.cluster.queues[q].hard() && over(q) > 0) return false;
    }
    for (std::size_t r = 0; r < in_.cluster.racks.size(); ++r) {
      const auto in_rack = [&](MachineId m) { return rack(m) == static_cast<int>(r); };
      if (!link_fits(in_.cluster.racks[r].uplink_gbps, in_rack)) return false;
      if (!power_fits(in_.cluster.racks[r].power_w, in_rack)) return false;
    }
    for (std::size_t p = 0; p < in_.cluster.pods.size(); ++p) {
      const auto in_pod = [&](MachineId m) { return pod(m) == static_cast<int>(p); };
      if (!link_fits(in_.cluster.pods[p].uplink_gbps, in_pod)) return false;
      if (!power_fits(in_.cluster.pods[p].power_w, in_pod)) return false;
    }
    return true;
  }

  /// Running jobs from `r` on: each stays, on exactly its devices, or is planned like the others.
  void next_stay(std::size_t r, double value) {
    if (r == in_.workload.running.size()) return next_job(0, value);
    const model::Running& running = in_.workload.running[r];
    const bool may_stay =
        std::ranges::all_of(in_.workload.tasks_of(running), [&](const model::TaskPlacement& t) {
          return in_.cluster.state_of(t.machine) == model::MachineState::up;
        });
    if (!running.pinned && may_stay && objective_ == model::Objective::value) {
      const std::vector<Machine> before = machines_;
      model::JobPlacement now{.job = running.job, .start = 0, .tasks = {}};
      int type = -1;
      for (const auto& t : in_.workload.tasks_of(running)) {
        const auto& s =
            in_.workload.shape(in_.workload.groups_of(job(running.job.index()))[t.group].shape);
        if (t.devices != 0) type = in_.cluster.class_of(t.machine).gpu_type.value();
        take({t.machine, t.devices, t.milli, s.needs});
        now.tasks.push_back(t);
      }
      stays_[running.job.index()] = true;
      const double worth_there = worth(running.job.index(), now, type);
      plan_.push_back(std::move(now));
      if (counts_fit(running.job.index(), plan_.back()) && may_be_there()) {
        next_stay(r + 1, value + worth_there);
      }
      plan_.pop_back();
      stays_[running.job.index()] = false;
      machines_ = before;
    }
    next_stay(r + 1, value);
  }

  void take(const model::Immovable& piece) {
    Machine& machine = machines_[piece.machine.index()];
    machine.lose(piece.taken);
    for (std::size_t d = 0; d < machine.devices.size(); ++d) {
      if (((piece.devices >> d) & 1) != 0) machine.devices[d] -= machine.units(piece.milli);
    }
  }

  /// Loss of the job's value if it runs elsewhere than now, or not at all.
  double move_cost(std::size_t j) const {
    const model::Running* running = in_.workload.running_of(job(j));
    return running == nullptr || objective_ == model::Objective::allocate ? 0.0
                                                                          : running->move_cost;
  }
  double stop_cost(std::size_t j) const {
    const model::Running* running = in_.workload.running_of(job(j));
    return running == nullptr || objective_ == model::Objective::allocate ? 0.0
                                                                          : running->stop_cost;
  }

  void next_job(std::size_t j, double value) {
    if (--steps_left_ < 0) return;
    if (!shared_fit()) return;
    if (j == in_.workload.jobs.size()) {
      value -= lost_over_quotas() + lost_of_spare();
      if (!found_ || value > best_.value) best_ = {value, plan_};
      found_ = true;
      return;
    }
    if (found_ && value + hope_[j] <= best_.value) return;
    if (in_.workload.pinned(job(j)) || stays_[j]) return next_job(j + 1, value);
    model::JobPlacement placed{.job = JobId(j), .start = 0, .tasks = {}};
    next_task(j, placed, 0, 0, -1, value);
    if (!required_[j]) next_job(j + 1, value - stop_cost(j));
  }

  /// Task `n` of group `g`; equal tasks go to machines in ascending order.
  void next_task(std::size_t j, model::JobPlacement& placed, std::uint32_t g, int n, int type,
                 double value) {
    if (--steps_left_ < 0) return;
    const auto groups = in_.workload.groups_of(job(j));
    if (g == groups.size()) {
      if (width(placed) > static_cast<int>(job(j).domain) || !counts_fit(j, placed)) return;
      plan_.push_back(placed);
      if (may_be_there()) next_job(j + 1, value + worth(j, placed, type) - move_cost(j));
      plan_.pop_back();
      return;
    }
    if (n == groups[g].count) return next_task(j, placed, g + 1, 0, type, value);
    const auto& shape = in_.workload.shape(groups[g].shape);
    const std::size_t from = n == 0 ? 0 : placed.tasks.back().machine.index();
    for (std::size_t m = from; m < machines_.size(); ++m) {
      if (in_.cluster.state_of(MachineId(m)) != model::MachineState::up) continue;
      const int on = in_.cluster.class_of(MachineId(m)).gpu_type.value();
      const bool typed = shape.uses_gpu() || (!gpu_job(j) && job(j).gpu_types != ~std::uint64_t{0});
      if (typed && (on < 0 || ((job(j).gpu_types >> on) & 1) == 0)) continue;
      if (shape.uses_gpu() && type >= 0 && type != on) continue;
      if (!machines_[m].has(shape.needs)) continue;
      on_machine(j, placed, g, n, shape.uses_gpu() ? on : type, value, m);
    }
  }

  void on_machine(std::size_t j, model::JobPlacement& placed, std::uint32_t g, int n, int type,
                  double value, std::size_t m) {
    const auto& shape = in_.workload.shape(in_.workload.groups_of(job(j))[g].shape);
    Machine& machine = machines_[m];
    const Machine before = machine;
    machine.lose(shape.needs);
    const auto go = [&](std::uint64_t devices, int milli) {
      placed.tasks.push_back({MachineId(m), g, devices, milli});
      next_task(j, placed, g, n + 1, type, value);
      placed.tasks.pop_back();
    };
    if (shape.gpus > 0) {
      std::uint64_t devices = 0;
      int missing = shape.gpus;
      for (std::size_t d = 0; d < machine.devices.size() && missing > 0; ++d) {
        if (machine.devices[d] < machine.whole) continue;
        machine.devices[d] = 0;
        devices |= std::uint64_t{1} << d;
        --missing;
      }
      if (missing == 0) go(devices, 1000);
    } else if (shape.gpu_milli > 0) {
      std::vector<int> tried;
      for (std::size_t d = 0; d < machine.devices.size(); ++d) {
        const int free = machine.devices[d];
        const int units = machine.units(shape.gpu_milli);
        if (free < units || std::ranges::count(tried, free) > 0) continue;
        tried.push_back(free);
        machine.devices[d] -= units;
        go(std::uint64_t{1} << d, machine.told(units));
        machine.devices[d] = free;
      }
    } else {
      go(0, 0);
    }
    machines_[m] = before;
  }

  const model::Instance& in_;
  model::Objective objective_;
  const std::vector<bool>& required_;
  std::int64_t steps_left_;
  std::vector<Machine> machines_;
  std::vector<bool> stays_;   ///< by job: keeps its devices, placed before the others
  std::vector<double> hope_;  ///< upper bound on the value of jobs j..
  model::Placement plan_;
  Optimum best_;
  bool found_ = false;
};

}  // namespace

Required required_of(const model::Workload& workload) {
  Required required;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const model::Job& job = workload.jobs[j];
    required.by_job.push_back(job.required && !workload.pinned(job));
    if (required.by_job.back()) required.jobs.emplace_back(j);
  }
  return required;
}

std::optional<Optimum> best_plan(const model::Instance& instance, model::Objective objective,
                                 const std::vector<bool>& required, std::int64_t limit) {
  return Search(instance, objective, required, limit).run();
}

}  // namespace berth::test
