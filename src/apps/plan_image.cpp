// SPDX-License-Identifier: Apache-2.0
#include "plan_image.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "berth/base/archive.hpp"
#include "berth/base/name_table.hpp"
#include "berth/model/digest.hpp"
#include "berth/model/limit_table.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::apps {
namespace {

constexpr std::size_t kDigits = 64;  ///< of a SHA-256
constexpr std::size_t kSpare = 64;   ///< jobs that `explain` adds for a while, and their groups

/// Waiting jobs, packed: a large plan has tens of thousands.
struct WaitingTable {
  NameTable jobs, reasons;
};

template <class Archive>
void describe(Archive& archive, WaitingTable& waiting) {
  archive(waiting.jobs, waiting.reasons);
}

WaitingTable packed(const std::vector<model::RawUnplacedJob>& waiting) {
  WaitingTable table;
  for (const model::RawUnplacedJob& job : waiting) {
    table.jobs.add(job.job);
    table.reasons.add(job.reason);
  }
  return table;
}

std::vector<model::RawUnplacedJob> unpacked(const WaitingTable& table) {
  if (table.jobs.size() != table.reasons.size()) throw std::out_of_range("a reason for each job");
  std::vector<model::RawUnplacedJob> waiting;
  waiting.reserve(table.jobs.size());
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    waiting.push_back({.job = std::string(table.jobs[i]), .reason = std::string(table.reasons[i])});
  }
  return waiting;
}

/// Placements, packed: hundreds of thousands of short lists.
struct PlacementTable {
  struct Row {
    std::int64_t start;
    JobId job;
    std::uint32_t tasks;  ///< the next ones of `tasks`
  };
  std::vector<Row> jobs;
  std::vector<model::TaskPlacement> tasks;
};

template <class Archive>
void describe(Archive& archive, PlacementTable& placed) {
  archive(placed.jobs, placed.tasks);
}

PlacementTable packed(const model::Placement& placement) {
  PlacementTable table;
  for (const model::JobPlacement& placed : placement) {
    table.jobs.push_back(
        {placed.start, placed.job, static_cast<std::uint32_t>(placed.tasks.size())});
    table.tasks.insert(table.tasks.end(), placed.tasks.begin(), placed.tasks.end());
  }
  return table;
}

model::Placement unpacked(const PlacementTable& table) {
  model::Placement placement(table.jobs.size());
  std::span<const model::TaskPlacement> left = table.tasks;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    const auto& [start, job, tasks] = table.jobs[i];
    if (tasks > left.size()) throw std::out_of_range("tasks end too soon");
    placement[i] = {.job = job, .start = start, .tasks = {left.begin(), left.begin() + tasks}};
    left = left.subspan(tasks);
  }
  return placement;
}

/// The two halves of an image, about equal in time.
template <class Archive>
void list_instance(Archive& archive, model::Instance& instance) {
  archive(instance.cluster, static_cast<model::WorkloadTables&>(instance.workload),
          instance.workload.jobs, instance.workload.groups);
}
template <class Archive>
void list_plan(Archive& archive, ReadPlan& plan, PlacementTable& placed, WaitingTable& waiting) {
  archive(placed, plan.objective, plan.certificate, waiting);
}

std::string head(const std::string& key) { return "berth plan image " + key + "\n"; }

std::string digest(std::string_view bytes) {
  model::Sha256 sha;
  sha.text(bytes);
  return sha.hex();
}

model::Instance instance_of(std::string_view bytes) {
  model::Instance instance;
  ByteReader reader(bytes);
  const auto jobs = reader.next<std::uint64_t>(), groups = reader.next<std::uint64_t>();
  if (jobs > bytes.size() / sizeof(model::Job) ||
      groups > bytes.size() / sizeof(model::TaskGroup)) {
    throw std::out_of_range("more jobs than bytes");
  }
  instance.workload.jobs.reserve(jobs + kSpare);
  instance.workload.groups.reserve(groups + kSpare);
  list_instance(reader, instance);
  if (!reader.done()) throw std::out_of_range("more bytes than an instance has");
  return instance;
}

ReadPlan plan_of(std::string_view bytes) {
  ReadPlan plan;
  PlacementTable placed;
  WaitingTable waiting;
  ByteReader reader(bytes);
  list_plan(reader, plan, placed, waiting);
  if (!reader.done()) throw std::out_of_range("more bytes than a plan has");
  plan.placement = unpacked(placed);
  plan.file.waiting = unpacked(waiting);
  return plan;
}

/// False when the bytes are no content.
bool is_read(const std::function<void()>& read) {
  try {
    read();
  } catch (const std::out_of_range&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
  return true;
}

}  // namespace

std::string to_image(const PlannedInstance& read, const std::string& key) {
  auto& [instance, plan] = const_cast<PlannedInstance&>(read);  // writing changes nothing
  PlacementTable placed = packed(plan.placement);
  WaitingTable waiting = packed(plan.file.waiting);
  ByteWriter first, second;
  first(std::uint64_t{instance.workload.jobs.size()},
        std::uint64_t{instance.workload.groups.size()});
  list_instance(first, instance);
  list_plan(second, plan, placed, waiting);
  const std::uint64_t split = first.size();
  std::string bytes = head(key) + to_bytes(split) + first.take() + second.take();
  bytes += digest(bytes);
  return bytes;
}

std::optional<PlannedInstance> from_image(std::string_view bytes, const std::string& key) {
  const std::string first = head(key);
  if (bytes.size() < first.size() + sizeof(std::uint64_t) + kDigits || !bytes.starts_with(first)) {
    return std::nullopt;
  }
  const std::string_view signed_bytes = bytes.substr(0, bytes.size() - kDigits);
  const std::string_view content = signed_bytes.substr(first.size());
  const auto split = from_bytes<std::uint64_t>(content.substr(0, sizeof(std::uint64_t)));
  const std::string_view halves = content.substr(sizeof split);
  if (split > halves.size()) return std::nullopt;
  PlannedInstance read;
  std::array<bool, 3> sound{};
  parallel::run_tasks(sound.size(), [&](std::size_t task) {
    if (task == 0) {
      sound[0] = is_read([&] { read.instance = instance_of(halves.substr(0, split)); });
    }
    if (task == 1) sound[1] = is_read([&] { read.plan = plan_of(halves.substr(split)); });
    if (task == 2) sound[2] = digest(signed_bytes) == bytes.substr(signed_bytes.size());
  });
  if (!std::ranges::all_of(sound, std::identity{})) return std::nullopt;
  return read;
}

}  // namespace berth::apps
