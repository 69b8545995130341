// SPDX-License-Identifier: Apache-2.0
#include "berth/model/digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

#include <openssl/evp.h>

#include "berth/model/limit_table.hpp"

namespace berth::model {

/// Collects values before calling OpenSSL, because each is only a few bytes.
struct Sha256::HashState {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  std::array<char, 4096> waiting{};
  std::size_t size = 0;

  /// Returns space for this many bytes, at most the size of `waiting`.
  char* room(std::size_t bytes) {
    if (bytes > waiting.size() - size) flush();
    return waiting.data() + size;
  }
  void flush() {
    EVP_DigestUpdate(context, waiting.data(), size);
    size = 0;
  }
};

Sha256::Sha256() : state_(std::make_unique<HashState>()) {
  if (EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available in the linked OpenSSL");
  }
}

Sha256::~Sha256() { EVP_MD_CTX_free(state_->context); }

Sha256& Sha256::text(std::string_view bytes) {
  if (bytes.size() > state_->waiting.size()) {
    state_->flush();
    EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
    return *this;
  }
  std::ranges::copy(bytes, state_->room(bytes.size()));
  state_->size += bytes.size();
  return *this;
}

Sha256& Sha256::integer(std::int64_t value) {
  constexpr std::size_t kMost = 24;
  char* const begin = state_->room(kMost);
  char* end = std::to_chars(begin, begin + kMost - 1, value).ptr;
  *end++ = '\t';
  state_->size += static_cast<std::size_t>(end - begin);
  return *this;
}

Sha256& Sha256::real(double value) {
  return integer(std::isnan(value) ? -1 : std::bit_cast<std::int64_t>(value == 0.0 ? 0.0 : value));
}

Sha256& Sha256::name(std::string_view value) {
  return integer(static_cast<std::int64_t>(value.size())).text(value);
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  state_->flush();
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  std::string out;
  for (const unsigned char byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

namespace {

/// Amounts without a tag.
Sha256& add_required(Sha256& sha, const Resources& amounts) {
  for (std::size_t r = 0; r < kRequiredResources; ++r) sha.integer(amounts[r]);
  return sha;
}

/// Amounts with a tag, without those equal to `left_out`.
void add_optional(Sha256& sha, const Resources& amounts, std::int64_t left_out) {
  for (std::size_t r = kRequiredResources; r < kResources; ++r) {
    if (amounts[r] != left_out) sha.text(kResourceTable[r].tag).integer(amounts[r]);
  }
}

void add_queue(Sha256& sha, const Cluster& cluster, const Queue& queue) {
  sha.name(queue.name).integer(queue.gpu_quota);
  if (queue.parent.valid()) {
    sha.text("in ").name(cluster.queues[queue.parent.index()].name);
  }
  if (std::isfinite(queue.over_quota_penalty)) sha.text("over ").real(queue.over_quota_penalty);
  if (queue.gpu_hours >= 0) sha.text("hours ").integer(queue.gpu_hours);
}

/// Adds machine states and content; nothing when all machines are up and empty, so that digests of
/// such clusters match the first version of the format.
void add_states(Sha256& sha, const Cluster& cluster) {
  for (std::size_t m = 0; m < cluster.machine_state.size(); ++m) {
    if (cluster.machine_state[m] == MachineState::up) continue;
    sha.text("state ").name(cluster.machine_names[m]);
    sha.integer(static_cast<std::int64_t>(cluster.machine_state[m]));
  }
  for (const Immovable& content : cluster.immovable) {
    if (content.job.valid()) continue;  // part of the job's own record
    sha.text("used ").name(cluster.machine_names[content.machine.index()]);
    sha.integer(std::bit_cast<std::int64_t>(content.devices)).integer(content.milli);
    add_optional(add_required(sha, content.taken), content.taken, 0);
  }
}

/// Nothing without windows and drain deadlines, as in `add_states`.
void add_windows(Sha256& sha, const Cluster& cluster) {
  for (const DrainDeadline& d : cluster.drain_deadlines) {
    sha.text("drained by ").name(cluster.machine_names[d.machine.index()]).integer(d.deadline);
  }
  for (const Window& window : cluster.windows) {
    sha.text("window ").integer(static_cast<std::int64_t>(window.kind));
    sha.integer(window.from).integer(window.to);
    for (const MachineRange& range : window.machines) sha.integer(range.first).integer(range.end);
    for (const QueueId queue : window.queues) sha.text("queue ").integer(queue.value());
    for (const std::string& job : window.jobs) sha.text("job ").name(job);
  }
}

/// Adds the limits of a rack or a pod.
template <class Domain>
void add_limits(Sha256& sha, const Domain& domain) {
  for_each_limit(domain, [&](const LimitRow& row, double limit) {
    if (row.tag.empty()) sha.real(limit);
    if (!row.tag.empty() && std::isfinite(limit)) sha.text(row.tag).real(limit);
  });
}

/// Spare GPUs by pod and name of the type, so that numbers of types do not matter.
std::vector<Spare> by_names(const Cluster& cluster) {
  std::vector<Spare> spare = cluster.spare;
  std::ranges::sort(spare, {}, [&](const Spare& s) {
    return std::pair(s.pod, std::string_view(cluster.gpu_types[s.gpu_type.index()]));
  });
  return spare;
}

void add_cluster(Sha256& sha, const Cluster& cluster) {
  for (const Pod& pod : cluster.pods) {
    sha.name(pod.name);
    add_limits(sha, pod);
  }
  for (const Rack& rack : cluster.racks) {
    sha.name(rack.name).integer(rack.pod.value());
    add_limits(sha, rack);
  }
  for (const Queue& queue : cluster.queues) add_queue(sha, cluster, queue);
  for (const Spare& spare : by_names(cluster)) {
    sha.text(row_of(LimitKind::spare).tag).name(cluster.pods[spare.pod.index()].name);
    sha.name(cluster.gpu_types[spare.gpu_type.index()]).integer(spare.gpus).real(spare.penalty);
  }
  for (const License& license : cluster.licenses) {
    sha.text(row_of(LimitKind::license).tag).name(license.name).integer(license.count);
  }
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const MachineClass& c = cluster.class_of(MachineId(m));
    sha.name(cluster.machine_names[m]).integer(cluster.machine_rack[m].value());
    sha.name(c.gpu_type.valid() ? cluster.gpu_types[c.gpu_type.index()] : "").integer(c.gpus);
    add_optional(add_required(sha, c.capacity), c.capacity, kNoLimit);
    if (c.gpu_slices > 0) sha.text("slices ").integer(c.gpu_slices);
  }
  add_states(sha, cluster);
  add_windows(sha, cluster);
}

/// GPU types in order of their names, so that their numbers do not matter.
std::vector<std::size_t> by_name(const std::vector<std::string>& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t t) -> const std::string& { return names[t]; });
  return order;
}

void add_types(Sha256& sha, const InstanceView& instance, std::span<const std::size_t> order,
               const Job& job) {
  const auto& names = instance.cluster.gpu_types;
  for (const std::size_t t : order) {
    if (job.gpu_types != ~std::uint64_t{0} && ((job.gpu_types >> t) & 1) != 0) sha.name(names[t]);
    const double speed = instance.workload.speed(job, GpuTypeId(t));
    if (speed != 1.0) sha.name(names[t]).real(speed);
  }
}

void add_running(Sha256& sha, const Cluster& cluster, const WorkloadView& workload,
                 const Running& running) {
  sha.text(running.pinned ? "pinned " : "runs ").real(running.stop_cost).real(running.move_cost);
  for (const TaskPlacement& t : workload.tasks_of(running)) {
    sha.name(cluster.machine_names[t.machine.index()]).integer(t.group);
    sha.integer(std::bit_cast<std::int64_t>(t.devices)).integer(t.milli);
  }
  if (running.since != kNotGiven) sha.text("since ").integer(running.since);
  if (running.remaining != kNotGiven) sha.text("remaining ").integer(running.remaining);
}

void add_communication(Sha256& sha, const Communication& c) {
  if (c.pattern == CommunicationPattern::none) return;
  sha.text("talks ").integer(static_cast<std::int64_t>(c.pattern)).integer(c.mbps);
  if (c.pattern == CommunicationPattern::ps) sha.integer(c.servers);
}

/// Nothing without rules, so that digests of jobs without them match the first version.
void add_rules(Sha256& sha, const PlacementRules& rules) {
  const PlacementRules none;
  if (rules.max_tasks != none.max_tasks || rules.min_domains != none.min_domains) {
    sha.text("tasks ");
    for (const std::int32_t most : rules.max_tasks) sha.integer(most);
    for (const std::int32_t least : rules.min_domains) sha.integer(least);
  }
  if (rules.exclusive) sha.text("alone ");
  for (const std::string& label : rules.labels) sha.text("label ").name(label);
  for (const std::string& label : rules.not_with) sha.text("not with ").name(label);
  for (const LicenseUse& use : rules.licenses) {
    sha.text("takes ").integer(use.license).integer(use.count);
  }
}

void add_utility(Sha256& sha, const Utility& utility) {
  if (utility.points.empty()) return;
  sha.text(utility.steps ? "steps " : "linear ");
  for (const UtilityPoint& point : utility.points) sha.integer(point.seconds).real(point.factor);
}

void add_configurations(Sha256& sha, const std::vector<Configuration>& configurations) {
  for (const Configuration& c : configurations) {
    sha.text("configuration ");
    for (const std::int32_t count : c.counts) sha.integer(count);
    sha.real(c.speed).real(c.value);
  }
}

/// Nothing without rules, as in `add_rules`.
void add_time(Sha256& sha, const WorkloadTables& tables, const Job& job, JobId id) {
  const TimeRules& rules = tables.time_of(job);
  const TimeRules none;
  const auto add = [&](std::string_view tag, std::int64_t value, std::int64_t left_out) {
    if (value != left_out) sha.text(tag).integer(value);
  };
  add("duration ", rules.duration, none.duration);
  add("limit ", rules.limit, none.limit);
  add("not before ", rules.not_before, none.not_before);
  add("deadline ", rules.deadline, none.deadline);
  add("checkpoint ", rules.checkpoint_every, none.checkpoint_every);
  add("restart ", rules.restart_cost, none.restart_cost);
  if (rules.preemptible) sha.text("preemptible ");
  add_utility(sha, tables.utilities[rules.utility]);
  add_configurations(sha, tables.configurations[rules.configurations]);
  for (const Dependency& d : tables.dependencies_of(id)) {
    sha.text("after ").name(tables.job_names[d.after.index()]);
  }
}

void add_job(Sha256& sha, const InstanceView& instance, std::span<const std::size_t> types,
             JobId id) {
  const WorkloadView& workload = instance.workload;
  const Job& job = workload.job(id);
  sha.name(workload.tables().job_names[id.index()]).integer(job.arrival).integer(job.priority);
  sha.real(job.weight).real(job.value).integer(job.required ? 1 : 0);
  sha.integer(static_cast<std::int64_t>(job.domain)).integer(job.queue.value());
  sha.integer(job.home_rack.value()).integer(job.home_pod.value());
  for (const double f : workload.tables().factors[job.home_factor]) sha.real(f);
  for (const double f : workload.tables().factors[job.width_factor]) sha.real(f);
  add_types(sha, instance, types, job);
  for (const TaskGroup& g : workload.groups_of(job)) {
    const Shape& s = workload.shape(g.shape);
    sha.name(workload.tables().labels[g.label]).integer(g.count);
    add_required(sha, s.needs).integer(s.gpus).integer(s.gpu_milli);
    add_optional(sha, s.needs, 0);
    if (g.k_of > 0) sha.name("k_of").integer(g.k_of);
  }
  add_communication(sha, job.communication);
  add_rules(sha, workload.rules_of(job));
  add_time(sha, workload.tables(), job, id);
  if (const Running* running = workload.running_of(job)) {
    add_running(sha, instance.cluster, workload, *running);
  }
}

/// The lines of one job in one buffer, reused from job to job: the lines of all jobs would need
/// more memory than the plan.
class JobLines {
 public:
  explicit JobLines(const InstanceView& instance) : instance_(instance) {}

  /// The job's lines, sorted.
  std::span<const std::string_view> of(const JobPlacement& placed) {
    text_.clear();
    ends_.clear();
    for (const TaskPlacement& t : placed.tasks) {
      if (t.devices == 0) add(placed, t, -1, 0);
      for (std::uint64_t rest = t.devices; rest != 0; rest &= rest - 1) {
        add(placed, t, std::countr_zero(rest), t.milli);
      }
    }
    lines_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      lines_.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
    std::ranges::sort(lines_);
    return lines_;
  }

 private:
  void add(const JobPlacement& placed, const TaskPlacement& task, int device, std::int32_t milli) {
    text_ += instance_.workload.tables().job_names[placed.job.index()];
    text_ += '\t';
    text_ += instance_.cluster.machine_names[task.machine.index()];
    for (const std::int64_t number : {std::int64_t{device}, std::int64_t{milli}, placed.start}) {
      std::array<char, 24> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
      text_ += '\t';
      text_.append(digits.data(), end);
    }
    text_ += '\n';
    ends_.push_back(text_.size());
  }

  InstanceView instance_;
  std::string text_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> lines_;
};

}  // namespace

InstanceDigest::InstanceDigest(const InstanceView& instance)
    : instance_(instance), types_(by_name(instance.cluster.gpu_types)) {
  sha_.text("berth instance 1\n");
  add_cluster(sha_, instance.cluster);
}

void InstanceDigest::add(JobId job) { add_job(sha_, instance_, types_, job); }

std::string instance_digest(const InstanceView& instance) {
  InstanceDigest digest(instance);
  for (std::size_t j = 0; j < instance.workload.size(); ++j) digest.add(JobId(j));
  return digest.hex();
}

struct PlanDigest::DigestState {
  Sha256 sha = {};
  JobLines lines;
};

PlanDigest::PlanDigest(const InstanceView& instance)
    : state_(new DigestState{.lines = JobLines(instance)}) {}
PlanDigest::PlanDigest(PlanDigest&&) noexcept = default;
PlanDigest::~PlanDigest() = default;

/// The lines of a job begin with its name and a tab, which no name contains and which sorts before
/// every character of a name: in order of names, the jobs' lines are sorted.
void PlanDigest::add(const JobPlacement& placed) {
  for (const std::string_view line : state_->lines.of(placed)) state_->sha.text(line);
}

std::string PlanDigest::hex() { return state_->sha.hex(); }

namespace {

/// Sorts by name; usually the items are in order already.
template <class Item, class NameOf>
void sort_by_name(std::vector<Item>& items, const NameOf& name_of) {
  if (!std::ranges::is_sorted(items, {}, name_of)) std::ranges::sort(items, {}, name_of);
}

}  // namespace

std::vector<JobId> jobs_by_name(const WorkloadView& workload) {
  std::vector<JobId> jobs;
  jobs.reserve(workload.size());
  for (std::size_t j = 0; j < workload.size(); ++j) jobs.emplace_back(j);
  sort_by_name(jobs, [&](JobId job) { return workload.tables().job_names[job.index()]; });
  return jobs;
}

std::string plan_digest(const InstanceView& instance, const Placement& placement) {
  std::vector<std::size_t> order(placement.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_by_name(order, [&](std::size_t i) {
    return instance.workload.tables().job_names[placement[i].job.index()];
  });
  PlanDigest digest(instance);
  for (const std::size_t i : order) digest.add(placement[i]);
  return digest.hex();
}

}  // namespace berth::model
