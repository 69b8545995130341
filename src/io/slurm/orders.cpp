// SPDX-License-Identifier: Apache-2.0
#include "slurm/hostlist.hpp"
#include "slurm/import_state.hpp"
#include "slurm/running.hpp"
#include "words.hpp"

#include <algorithm>
#include <ctime>
#include <limits>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "berth/io/slurm_apply.hpp"

namespace berth::io {

using slurm::NodeRoom;
using slurm::ImportedMachine;
using slurm::ImportedMachines;
using slurm::Notes;
using slurm::Request;
using slurm::SlurmJob;
using slurm::Snapshot;

namespace {

/// The topology does not matter for orders.
SlurmSources without_topology(SlurmSources sources) {
  sources.topology = {};
  return sources;
}

/// The present state of the cluster.
class Present {
 public:
  Present(const SlurmSources& sources, const slurm::ImportState& state,
          const SlurmApplyOptions& options)
      : snapshot_(slurm::read_snapshot(sources)) {
    import_options_.cpu_as_gpu = state.cpu_as_gpu;
    import_options_.now = options.now;
    Notes unheard;
    machines_ = slurm::arrange(snapshot_, without_topology(sources), import_options_, unheard);
    slurm::reserve(snapshot_, options.now, machines_, unheard);
    slurm::place_running(snapshot_, machines_, import_options_, room_, unheard);
    for (const SlurmJob& job : snapshot_.jobs) {
      largest_priority_ = std::max(largest_priority_, job.priority);
      const auto tasks = slurm::array_tasks(job.array_tasks);
      for (const std::int64_t task : tasks) {
        jobs_.emplace(std::to_string(job.array_id) + "_" + std::to_string(task), &job);
      }
      if (tasks.empty()) jobs_.insert_or_assign(slurm::job_name(job), &job);
    }
  }

  [[nodiscard]] const SlurmJob* job(const std::string& name) const {
    const auto found = jobs_.find(name);
    return found == jobs_.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::int64_t largest_priority() const { return largest_priority_; }

  /// Amounts of a plan file lie between 0 and 2^40.
  static bool amounts_hold(const model::RawTask& task) {
    const auto holds = [](std::int64_t amount) { return 0 <= amount && amount <= kMaxAmount; };
    return std::ranges::all_of(task.needs, holds) &&
           std::ranges::all_of(task.gpus, [&](const model::RawDevice& d) {
             return 0 <= d.milli && d.milli <= 1000;
           });
  }

  /// What is wrong with the machine of a task that starts later, or an empty text.
  [[nodiscard]] std::string later_fault(const model::RawTask& task) const {
    const auto found = machines_.index.find(task.machine);
    if (found == machines_.index.end()) return "node " + task.machine + " is gone";
    const ImportedMachine& machine = machines_.list[found->second];
    if (machine.use == slurm::Use::drained) return "node " + task.machine + " is down or drained";
    return amounts_hold(task) ? "" : "node " + task.machine + ": amounts that no plan has";
  }

  /// Takes the task's room; returns what is wrong with its machine, or an empty text.
  std::string take(const model::RawTask& task) {
    if (std::string fault = later_fault(task); !fault.empty()) return fault;
    const std::size_t found = machines_.index.at(task.machine);
    if (machines_.list[found].use == slurm::Use::reserved) {
      return "node " + task.machine + " is reserved";
    }
    NodeRoom& room = room_[found];
    if (task.needs[model::kCpu] > room.cpu_milli)
      return "node " + task.machine + " has too few free CPUs";
    if (task.needs[model::kMemory] > room.memory_mib)
      return "node " + task.machine + " has too little memory";
    for (const model::RawDevice& device : task.gpus) {
      const auto gpu = std::ranges::find_if(
          room.milli, [&](std::int32_t milli) { return milli >= device.milli; });
      if (gpu == room.milli.end()) return "node " + task.machine + " has too few free GPUs";
      *gpu -= static_cast<std::int32_t>(device.milli);
    }
    room.cpu_milli -= task.needs[model::kCpu];
    room.memory_mib -= task.needs[model::kMemory];
    return {};
  }

 private:
  SlurmImportOptions import_options_;
  Snapshot snapshot_;
  ImportedMachines machines_;
  std::vector<NodeRoom> room_;
  std::unordered_map<std::string, const SlurmJob*> jobs_;
  std::int64_t largest_priority_ = 0;
};

std::vector<std::string> machines_of(const model::RawPlacement& placement) {
  std::vector<std::string> names;
  for (const model::RawTask& task : placement.tasks) {
    if (std::ranges::find(names, task.machine) == names.end()) names.push_back(task.machine);
  }
  return names;
}

/// The first field in which the job's request differs from that at the import.
std::string changed_field(const Request& before, const SlurmJob& job) {
  const auto earlier = [&](const std::string& field) {
    const auto found = std::ranges::find(before, field, &Request::value_type::first);
    return found == before.end() ? std::string() : found->second;
  };
  for (const auto& [field, value] : slurm::request_of(job)) {
    if (value == earlier(field)) continue;
    return fmt::format("its {} was {}, is now {}", field,
                       earlier(field).empty() ? "none" : earlier(field),
                       value.empty() ? "none" : value);
  }
  return {};
}

std::string local_time(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm tm{};
  ::localtime_r(&time, &tm);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%S", &tm);
  return buffer;
}

/// Why Slurm cannot be given these nodes, or an empty text.
std::string not_told(const SlurmJob& job, const std::vector<std::string>& nodes) {
  const auto count = std::ssize(nodes);
  if (job.max_nodes > 0 && (count < slurm::requested_nodes(job) || count > job.max_nodes)) {
    return fmt::format("planned on {} nodes, asks for {}", count, slurm::requested_nodes(job));
  }
  for (const std::string& named : job.required) {
    if (std::ranges::find(nodes, named) == nodes.end()) {
      return "names node " + named + ", which the plan leaves out";
    }
  }
  return {};
}

/// What the pin of a waiting job changed is set back, and Berth's word is removed.
SlurmOrder clear_order(const SlurmJob& job, const std::string& name) {
  const slurm::OwnPin& pin = *job.pin;
  SlurmOrder order{.job = name, .calls = {{"update", "JobId=" + name}}};
  std::vector<std::string>& update = order.calls.front();
  if (!pin.nodes.empty()) update.push_back("ReqNodeList=" + slurm::host_list(pin.asked));
  if (pin.max_nodes > 0) {
    update.push_back(fmt::format("NumNodes={}-{}", pin.min_nodes, pin.max_nodes));
  }
  if (pin.start > 0) update.emplace_back("StartTime=now");
  update.push_back("AdminComment=" + slurm::with_pin(job.admin_comment, {}));
  // Slurm computes a priority again for a job that was held
  if (pin.priority > 0 && !job.held) order.calls.push_back({"hold", name});
  if ((pin.priority > 0 && !job.held) || job.given_up) order.calls.push_back({"release", name});
  return order;
}

class OrderCheck {
 public:
  OrderCheck(const slurm::ImportState& state, Present& present, const SlurmApplyOptions& options)
      : state_(state), present_(present), options_(options) {}

  SlurmOrders check(const model::RawPlan& plan) {
    const auto planned = std::ssize(plan.placements);
    for (std::int64_t i = 0; i < planned; ++i) {
      const model::RawPlacement& placement = plan.placements[static_cast<std::size_t>(i)];
      const auto before = state_.jobs.find(placement.job);
      if (before == state_.jobs.end()) continue;  // it was running at the import: Slurm has it
      check_job(placement, before->second, planned - i);
    }
    clear_the_others();
    return std::move(found_);
  }

 private:
  void check_job(const model::RawPlacement& placement, const Request& before, std::int64_t rank) {
    const auto break_it = [&](const std::string& problem) {
      found_.broken.push_back({.job = placement.job, .problem = problem});
    };
    const SlurmJob* const job = present_.job(placement.job);
    if (job == nullptr) return break_it("is no longer in the queue");
    if (job->state != "PENDING") return break_it("is no longer pending: " + job->state);
    const std::vector<std::string> nodes = machines_of(placement);
    if (const std::string field = changed_field(before, *job); !field.empty()) {
      return break_it(field);
    }
    for (const model::RawTask& task : placement.tasks) {
      const std::string fault =
          starts_later(placement) ? present_.later_fault(task) : present_.take(task);
      if (!fault.empty()) return break_it(fault);
    }
    if (const std::string why = not_told(*job, nodes); !why.empty()) {
      found_.left.push_back({.job = placement.job, .problem = why});
    } else {
      order(placement, *job, nodes, rank);
    }
  }

  /// Pins that the import saw and this plan does not set anew: they would keep their jobs waiting.
  void clear_the_others() {
    std::set<std::string_view> renewed;
    for (const SlurmOrder& order : found_.orders) renewed.insert(order.job);
    for (const std::string& name : state_.pinned) {
      const SlurmJob* const job = present_.job(name);
      if (job == nullptr || job->state != "PENDING" || !job->pin) continue;
      if (!renewed.contains(name)) found_.cleared.push_back(clear_order(*job, name));
    }
  }

  [[nodiscard]] bool starts_later(const model::RawPlacement& placement) const {
    return options_.plan_now && placement.start > *options_.plan_now;
  }

  /// Seconds since 1970; 0: now.
  [[nodiscard]] std::int64_t start_of(const model::RawPlacement& placement) const {
    if (!options_.plan_now) return placement.start == 0 ? 0 : options_.now + placement.start;
    if (!starts_later(placement)) return 0;
    return *options_.plan_now == 0 ? options_.now + placement.start : placement.start;
  }

  void order(const model::RawPlacement& placement, const SlurmJob& job,
             const std::vector<std::string>& nodes, std::int64_t rank) {
    std::vector<std::string> update{"update", "JobId=" + placement.job};
    slurm::OwnPin pin;
    if (options_.nodes) {
      pin.nodes = nodes;
      pin.asked = job.required;
      update.push_back("ReqNodeList=" + slurm::host_list(nodes));
      add_number(job, std::ssize(nodes), pin, update);
    }
    if (options_.start) {
      pin.start = start_of(placement);
      update.push_back("StartTime=" + (pin.start == 0 ? "now" : local_time(pin.start)));
    }
    // a priority would release a held job
    if (options_.priority && !job.held) {
      constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max() - 2;
      pin.priority = std::min(present_.largest_priority() + rank, most);
      pin.former_priority = job.priority;
      update.push_back(fmt::format("Priority={}", pin.priority));
    }
    if (update.size() == 2) return;
    update.push_back("AdminComment=" + slurm::with_pin(job.admin_comment, slurm::pin_text(pin)));
    SlurmOrder& added = found_.orders.emplace_back(
        SlurmOrder{.job = placement.job, .calls = {std::move(update)}});
    if (job.given_up || (options_.release && job.held)) {
      added.calls.push_back({"release", placement.job});
    }
  }

  /// Slurm 22.05 refuses to start a job with a range of nodes whose named nodes are fewer than the
  /// most. A job that names no number keeps none: scontrol cannot take one back.
  static void add_number(const SlurmJob& job, std::int64_t count, slurm::OwnPin& pin,
                         std::vector<std::string>& update) {
    if (job.max_nodes <= 0) return;
    if (job.min_nodes == count && job.max_nodes == count) return;
    pin.min_nodes = job.min_nodes;
    pin.max_nodes = job.max_nodes;
    update.push_back(fmt::format("NumNodes={0}-{0}", count));
  }

  const slurm::ImportState& state_;
  Present& present_;
  const SlurmApplyOptions& options_;
  SlurmOrders found_;
};

}  // namespace

SlurmOrders slurm_orders(const model::RawPlan& plan, const std::string& plan_file,
                         const SlurmSources::Source& state_source, const SlurmSources& now,
                         const SlurmApplyOptions& options) {
  const slurm::ImportState state = slurm::read_state(state_source);
  if (plan.instance_digest.value_or("") != state.instance_digest) {
    throw InputError({.file = plan_file, .line = 0, .field = "instance_digest"},
                     "the plan was made from another import than " + state_source.name,
                     "plan the files that were written together with it");
  }
  Present present(now, state, options);
  return OrderCheck(state, present, options).check(plan);
}

std::vector<SlurmOrder> slurm_clear_orders(const SlurmSources& now) {
  std::vector<SlurmOrder> orders;
  for (const SlurmJob& job : slurm::read_snapshot(without_topology(now)).jobs) {
    if (job.pin) orders.push_back(clear_order(job, slurm::job_name(job)));
  }
  return orders;
}

std::string shell_line(const SlurmOrder& order) {
  std::string line;
  for (const std::vector<std::string>& call : order.calls) {
    line += line.empty() ? "scontrol" : " && scontrol";
    for (const std::string& word : call) {
      const bool plain = word.find_first_of("[]*?$`\"'\\ \t&|;<>()#~!{}") == std::string::npos;
      std::string quoted;
      for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      line += plain ? " " + word : " '" + quoted + "'";
    }
  }
  return line;
}

}  // namespace berth::io
