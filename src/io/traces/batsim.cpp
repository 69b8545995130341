// SPDX-License-Identifier: Apache-2.0
#include "trace_json.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <map>

namespace berth::io {
namespace {

/// Seconds of a profile of delay; nothing for profiles whose time a platform decides.
std::optional<double> delay_of(const JsonAt& profile) {
  static constexpr std::string_view keys[] = {"type", "delay"};
  std::string_view type;
  std::optional<double> delay;
  const std::uint64_t seen = profile.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) type = value.text();
    if (key == 1) delay = value.amount(static_cast<double>(kMaxSeconds));
  });
  profile.need(keys, 1, seen);
  if (type != "delay" && type != "DelayProfile") return std::nullopt;
  profile.need(keys, 2, seen);
  return delay;
}

using BatsimProfiles = std::map<std::string, std::optional<double>, std::less<>>;

void add_batsim_job(const JsonAt& element, std::int64_t record, const BatsimProfiles& profiles,
                    TraceJobs& jobs) {
  static constexpr std::string_view keys[] = {"id", "subtime", "res", "profile", "walltime"};
  TraceJob job{.id = {}, .line = record};
  std::optional<double> delay;
  const std::uint64_t seen = element.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) job.id = name_or_number(value);
    if (key == 1) job.submit = value.real();
    if (key == 2) job.gpus = value.integer(0, kMaxCount);
    if (key == 3) {
      const auto found = profiles.find(value.text());
      if (found == profiles.end()) value.fail("no such profile: " + in_quotes(value.text()));
      delay = found->second;
    }
    if (key == 4 && !value.empty() && value.real() > 0.0) job.limit = value.real();
  });
  element.need(keys, 4, seen);
  if (!delay) return jobs.skip(record, "have a profile whose time a platform decides");
  job.duration = *delay;
  if (job.limit && *job.limit < job.duration) {
    jobs.note(record, "reach their walltime: killed then");
    job.duration = *job.limit;
  }
  jobs.add(std::move(job));
}

}  // namespace

/// Workload of Batsim (Dutot et al., JSSPP 2016): jobs with id, subtime, res (resources, which
/// count as GPUs), profile and walltime (absent or -1: none), and profiles by name. Only profiles
/// of delay have a time of their own. Times have fractions of a second. A job that reaches its
/// walltime is killed. Rows are numbers of records.
void read_batsim_trace(const TraceText& trace, TraceJobs& jobs) {
  static constexpr std::string_view keys[] = {"profiles", "jobs"};
  const JsonDocument document(trace.text, trace.file);
  const JsonAt root = document.root();
  BatsimProfiles profiles;
  const std::uint64_t seen = root.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key != 0) return;
    value.entries([&](const JsonAt& profile) {
      profiles.emplace(std::string(profile.key()), delay_of(profile));
    });
  });
  root.need(keys, 2, seen);
  root.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    std::int64_t record = 0;
    if (key != 1) return;
    value.each([&](const JsonAt& job) { add_batsim_job(job, ++record, profiles, jobs); });
  });
}

}  // namespace berth::io
