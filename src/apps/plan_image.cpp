// SPDX-License-Identifier: Apache-2.0
#include "plan_image.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>

#include "berth/base/archive.hpp"
#include "berth/base/name_table.hpp"
#include "berth/model/digest.hpp"
#include "berth/model/limit_table.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::apps {
namespace {

constexpr std::size_t kDigits = 64;  ///< of a SHA-256

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
  std::vector<model::RawUnplacedJob> waiting;
  waiting.reserve(table.jobs.size());
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    waiting.push_back({.job = std::string(table.jobs[i]), .reason = std::string(table.reasons[i])});
  }
  return waiting;
}

template <class Archive, class Read>
void list(Archive& archive, Read& read, WaitingTable& waiting) {
  model::Workload& workload = read.instance.workload;
  archive(read.instance.cluster, static_cast<model::WorkloadTables&>(workload), workload.jobs,
          workload.groups);
  archive(read.plan.placement, read.plan.objective, read.plan.certificate, waiting);
}

std::string head(const std::string& key) { return "berth plan image " + key + "\n"; }

std::string digest(std::string_view bytes) {
  model::Sha256 sha;
  sha.text(bytes);
  return sha.hex();
}

std::optional<PlannedInstance> content(std::string_view bytes) {
  PlannedInstance read;
  WaitingTable waiting;
  try {
    ByteReader reader(bytes);
    list(reader, read, waiting);
    if (!reader.done() || waiting.jobs.size() != waiting.reasons.size()) return std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  } catch (const std::length_error&) {
    return std::nullopt;
  }
  read.plan.file.waiting = unpacked(waiting);
  return read;
}

}  // namespace

std::string to_image(const PlannedInstance& read, const std::string& key) {
  WaitingTable waiting = packed(read.plan.file.waiting);
  ByteWriter writer;
  list(writer, const_cast<PlannedInstance&>(read), waiting);  // which changes nothing
  std::string bytes = head(key) + writer.take();
  bytes += digest(bytes);
  return bytes;
}

std::optional<PlannedInstance> from_image(std::string_view bytes, const std::string& key) {
  const std::string first = head(key);
  if (bytes.size() < first.size() + kDigits || !bytes.starts_with(first)) return std::nullopt;
  const std::string_view signed_bytes = bytes.substr(0, bytes.size() - kDigits);
  std::optional<PlannedInstance> read;
  bool sound = false;
  parallel::run_tasks(2, [&](std::size_t task) {
    if (task == 0) sound = digest(signed_bytes) == bytes.substr(signed_bytes.size());
    if (task == 1) read = content(signed_bytes.substr(first.size()));
  });
  if (!sound) read.reset();
  return read;
}

}  // namespace berth::apps
