// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"
#include "slurm/hostlist.hpp"
#include "slurm/snapshot.hpp"
#include "words.hpp"

#include <algorithm>
#include <ctime>
#include <unordered_map>

namespace berth::io::slurm {
namespace {

constexpr const char* kPartitionHint =
    "save `scontrol -o show partition`, or from Slurm 23.02 on `scontrol show partition --json`";
constexpr const char* kReservationHint =
    "save `scontrol -o show reservation`, or from Slurm 23.02 on with --json";

bool is_json(const Source& source) {
  const std::size_t first = source.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && source.text[first] == '{';
}

/// `Key=Value` words of `scontrol show`, one record on one or many lines; a record begins at its
/// first key.
class ShowText {
 public:
  ShowText(const Source& source, const char* hint) : source_(source), hint_(hint) {}

  template <class Visit>
  void each(const Visit& visit) {
    std::string_view rest = source_.text;
    while (!rest.empty()) {
      const std::size_t end = rest.find_first_of(" \t\r\n");
      const std::string_view word = rest.substr(0, end);
      const std::size_t equals = word.find('=');
      if (equals != std::string_view::npos) {
        field_ = word.substr(0, equals);
        visit(field_, word.substr(equals + 1));
      }
      if (end == std::string_view::npos) break;
      line_ += rest[end] == '\n' ? 1 : 0;
      rest.remove_prefix(end + 1);
    }
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError({.file = source_.name, .line = line_, .field = std::string(field_)}, problem,
                     hint_);
  }

  [[nodiscard]] std::vector<std::string> hosts(std::string_view value) const {
    Hosts found = expand_hosts(value);
    if (!found.fault.empty()) fail(found.fault);
    return std::move(found.names);
  }

  /// A limit; no value for UNLIMITED, INFINITE, NONE.
  [[nodiscard]] std::optional<std::int64_t> limit(std::string_view value) const {
    if (value == "UNLIMITED" || value == "INFINITE" || value == "NONE") return std::nullopt;
    return whole(value);
  }

  /// Minutes of `days-hours:minutes:seconds`, `hours:minutes:seconds` or `minutes`, rounded up.
  [[nodiscard]] std::optional<std::int64_t> minutes(std::string_view value) const {
    if (value == "UNLIMITED" || value == "INFINITE" || value == "NONE") return std::nullopt;
    std::int64_t days = 0;
    if (const std::size_t dash = value.find('-'); dash != std::string_view::npos) {
      days = whole(value.substr(0, dash));
      value = value.substr(dash + 1);
    }
    std::vector<std::int64_t> parts;
    for (const std::string_view part : split_list(value, ':')) parts.push_back(whole(part));
    if (parts.size() == 1 && days == 0) return parts[0];
    parts.resize(3, 0);
    return (days * 24 + parts[0]) * 60 + parts[1] + (parts[2] > 0 ? 1 : 0);
  }

  /// `2026-11-21T11:21:17`, local time.
  [[nodiscard]] std::int64_t time(std::string_view value) const {
    std::tm tm{};
    const std::string copy(value);
    const char* const end = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &tm);
    if (end == nullptr || *end != '\0') fail("expected a time, found " + in_quotes(value));
    tm.tm_isdst = -1;
    return std::mktime(&tm);
  }

 private:
  [[nodiscard]] std::int64_t whole(std::string_view value) const {
    std::int64_t number = 0;
    if (!read_number(value, number) || number < 0 || number > kMaxAmount) {
      fail("expected a number, found " + in_quotes(value));
    }
    return number;
  }

  const Source& source_;
  const char* hint_;
  std::int64_t line_ = 1;
  std::string_view field_;
};

void read_state(Partition& p, std::string_view state) {
  p.starts = state == "UP" || state == "DRAIN";
}

void read_sharing(Partition& p, std::string_view value) {
  p.exclusive = value == "EXCLUSIVE";
  p.shared = value.starts_with("FORCE") || value.starts_with("YES");
}

std::vector<Partition> partitions_of_text(const Source& source) {
  std::vector<Partition> partitions;
  ShowText show(source, kPartitionHint);
  show.each([&](std::string_view key, std::string_view value) {
    if (key == "PartitionName") partitions.emplace_back().name = value;
    if (partitions.empty()) return;
    Partition& p = partitions.back();
    if (key == "Nodes") p.nodes = show.hosts(value);
    if (key == "State") read_state(p, value);
    if (key == "MaxTime") p.max_minutes = show.minutes(value);
    if (key == "MaxNodes") p.max_nodes = show.limit(value);
    if (key == "MaxCPUsPerNode") p.max_cpus_per_node = show.limit(value);
    if (key == "OverSubscribe") read_sharing(p, value);
    if (key == "PriorityTier") p.tier = show.limit(value).value_or(p.tier);
  });
  return partitions;
}

std::optional<std::int64_t> limit(const JsonAt& at) {
  const Number n = number(at);
  return n.set && !n.infinite ? std::optional(n.value) : std::nullopt;
}

const Readers<Partition> kMaximums{
    {"time", [](Partition& p, const JsonAt& v) { p.max_minutes = limit(v); }},
    {"nodes", [](Partition& p, const JsonAt& v) { p.max_nodes = limit(v); }},
    {"cpus_per_node", [](Partition& p, const JsonAt& v) { p.max_cpus_per_node = limit(v); }},
    // number of jobs that may share a resource; 0 is OverSubscribe=EXCLUSIVE
    {"shares", [](Partition& p, const JsonAt& v) {
       const std::int64_t shares = number(v).or_else(1) & 0x7FFF;
       p.exclusive = shares == 0;
       p.shared = shares > 1;
     }}};
const Readers<Partition> kState{{"state", [](Partition& p, const JsonAt& v) {
                                   for (const std::string& word : flags(v)) read_state(p, word);
                                 }}};
const Readers<Partition> kPriority{
    {"tier", [](Partition& p, const JsonAt& v) { p.tier = number(v).or_else(p.tier); }}};
const Readers<Partition> kNodes{
    {"configured", [](Partition& p, const JsonAt& v) { p.nodes = hosts(v); }}};
const Readers<Partition> kPartition{
    {"name", [](Partition& p, const JsonAt& v) { p.name = v.name(); }},
    {"nodes", [](Partition& p, const JsonAt& v) { read_fields(v, kNodes, p); }},
    {"maximums", [](Partition& p, const JsonAt& v) { read_fields(v, kMaximums, p); }},
    {"partition", [](Partition& p, const JsonAt& v) { read_fields(v, kState, p); }},
    {"priority", [](Partition& p, const JsonAt& v) { read_fields(v, kPriority, p); }}};

const Readers<Reservation> kReservation{
    {"name", [](Reservation& r, const JsonAt& v) { r.name = v.name(); }},
    {"node_list", [](Reservation& r, const JsonAt& v) { r.nodes = hosts(v); }},
    {"start_time", [](Reservation& r, const JsonAt& v) { r.start = number(v).or_else(0); }},
    {"end_time", [](Reservation& r, const JsonAt& v) { r.end = number(v).or_else(0); }},
    {"flags", [](Reservation& r, const JsonAt& v) {
       const std::vector<std::string> words = flags(v);
       r.maintenance = std::ranges::find(words, "MAINT") != words.end();
     }}};

template <class Item>
std::vector<Item> items(const Source& source, std::string_view key, const char* hint,
                        const Readers<Item>& readers) {
  std::vector<Item> found;
  read_list(source, key, hint, [&](const JsonAt& at) {
    at.each([&](const JsonAt& element) {
      read_fields(element, readers, found.emplace_back());
      if (found.back().name.empty()) element.fail("an entry without a \"name\"", hint);
    });
  });
  return found;
}

}  // namespace

std::vector<Partition> read_partitions(const Source& source) {
  if (is_json(source)) return items(source, "partitions", kPartitionHint, kPartition);
  std::vector<Partition> found = partitions_of_text(source);
  if (found.empty()) {
    throw InputError({.file = source.name, .line = 0, .field = "PartitionName"}, "no partitions",
                     kPartitionHint);
  }
  return found;
}

std::vector<Reservation> read_reservations(const Source& source) {
  if (is_json(source)) return items(source, "reservations", kReservationHint, kReservation);
  std::vector<Reservation> reservations;  // an empty list is valid: "No reservations in the system"
  ShowText show(source, kReservationHint);
  show.each([&](std::string_view key, std::string_view value) {
    if (key == "ReservationName") reservations.emplace_back().name = value;
    if (reservations.empty()) return;
    Reservation& r = reservations.back();
    if (key == "Nodes") r.nodes = show.hosts(value);
    if (key == "StartTime") r.start = show.time(value);
    if (key == "EndTime") r.end = show.time(value);
    if (key == "Flags") {
      const auto words = split_list(value);
      r.maintenance = std::ranges::find(words, "MAINT") != words.end();
    }
  });
  return reservations;
}

std::vector<SlurmLicense> read_licenses(const Source& source) {
  std::vector<SlurmLicense> licenses;  // an empty list is valid
  ShowText show(source, "save `scontrol -o show licenses`");
  show.each([&](std::string_view key, std::string_view value) {
    if (key == "LicenseName") licenses.emplace_back().name = value;
    if (licenses.empty()) return;
    if (key == "Free") licenses.back().free += show.limit(value).value_or(0);
    if (key == "Reserved") licenses.back().free -= show.limit(value).value_or(0);
  });
  return licenses;
}

void read_job_details(const Source& source, std::vector<SlurmJob>& jobs) {
  std::unordered_map<std::int64_t, SlurmJob*> by_id;
  for (SlurmJob& job : jobs) by_id.emplace(job.id, &job);
  std::string_view rest = source.text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    constexpr std::string_view kId = "JobId=", kSwitches = " Switches=";
    if (!line.starts_with(kId)) continue;
    std::int64_t id = 0, switches = 0;
    const auto word = [&](std::size_t from, std::string_view ends) {
      return line.substr(from, line.find_first_of(ends, from) - from);
    };
    if (!read_number(word(kId.size(), " "), id)) continue;
    // after the files' names: names and comments before them are free text
    const std::size_t files = line.rfind(" StdOut=");
    const std::size_t at = line.find(kSwitches, files == std::string_view::npos ? 0 : files);
    const auto job = by_id.find(id);
    if (at == std::string_view::npos || job == by_id.end()) continue;
    if (read_number(word(at + kSwitches.size(), "@ "), switches)) job->second->switches = switches;
  }
}

Config read_config(const Source& source) {
  Config config;
  std::string_view rest = source.text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("SelectTypeParameters")) {
      config.memory = line.find("MEMORY") != std::string_view::npos;
    } else if (line.starts_with("SelectType")) {
      config.whole_nodes = line.find("linear") != std::string_view::npos;
    }
  }
  if (!config.memory) {
    throw InputError({.file = source.name, .line = 0, .field = "SelectTypeParameters"},
                     "is missing", "save `scontrol show config`");
  }
  return config;
}

Snapshot read_snapshot(const SlurmSources& sources) {
  Snapshot snapshot{.nodes = read_nodes(sources.nodes),
                    .partitions = {},
                    .reservations = {},
                    .jobs = read_jobs(sources.jobs),
                    .licenses = {},
                    .config = {}};
  if (!sources.partitions.name.empty()) snapshot.partitions = read_partitions(sources.partitions);
  if (!sources.reservations.name.empty()) {
    snapshot.reservations = read_reservations(sources.reservations);
  }
  if (!sources.licenses.name.empty()) snapshot.licenses = read_licenses(sources.licenses);
  if (!sources.job_details.name.empty()) read_job_details(sources.job_details, snapshot.jobs);
  if (!sources.config.name.empty()) snapshot.config = read_config(sources.config);
  for (SlurmJob& job : snapshot.jobs) {
    if (job.state == "PENDING") take_back_pin(job);
  }
  return snapshot;
}

}  // namespace berth::io::slurm
