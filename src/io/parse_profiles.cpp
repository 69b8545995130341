// SPDX-License-Identifier: Apache-2.0
#include "json_lines.hpp"
#include "profile_line.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

using speed::JobProfile;
using speed::ProfileKind;

/// A line that gives a job its profile.
struct ProfiledJob {
  JobId job;
  std::string profile;
  double reference = 0.0;
  std::int64_t batch = 0;
  std::int64_t line = 0;
  speed::JobLoss loss;
};

class ProfilesReader {
 public:
  ProfilesReader(std::string file, const model::Instance& instance)
      : file_(std::move(file)), instance_(instance) {
    const NameTable& names = instance.workload.job_names;
    for (std::size_t j = 0; j < names.size(); ++j) jobs_.emplace(names[j], JobId(j));
    profiles_.links = {.internal_gbps = 100.0, .external_gbps = 10.0};
  }

  void read_line(const JsonAt& at, std::int64_t line) {
    bool defines = false, links = false, names_job = false;
    at.entries([&](const JsonAt& value) {
      defines = defines || value.key() == "model";
      links = links || value.key() == "links";
      names_job = names_job || value.key() == "job";
    });
    if (links) {
      at.entries([&](const JsonAt& value) {
        if (value.key() != "links") value.fail("unknown key beside links");
        profiles_.links = read_links(value);
      });
    } else if (names_job) {
      read_job(at, line);
    } else if (defines) {
      ProfileDefinition profile = read_profile(at, instance_.cluster);
      const std::string name = profile.name;
      if (name.empty()) at.fail("has no \"profile\"");
      if (!definitions_.emplace(name, std::move(profile)).second)
        at.fail("profile \"" + name + "\" is defined twice");
    } else {
      at.fail("neither defines a profile nor names a job",
              "give \"profile\" and \"model\", or \"job\" and \"profile\"");
    }
  }

  speed::Profiles finish() {
    profiles_.jobs.resize(instance_.workload.size());
    for (const ProfiledJob& job : profiled_) assign(job);
    return std::move(profiles_);
  }

 private:
  void read_job(const JsonAt& at, std::int64_t line) {
    static constexpr std::string_view keys[] = {"job", "profile", "reference", "batch", "loss"};
    ProfiledJob job{.job = {}, .profile = {}, .line = line, .loss = {}};
    const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
      if (key == 0) {
        const auto found = jobs_.find(value.text());
        if (found == jobs_.end()) value.fail("no job of the jobs file has this name");
        job.job = found->second;
      }
      if (key == 1) job.profile = value.name();
      if (key == 2) job.reference = value.amount(1e15);
      if (key == 3) job.batch = value.integer(1, std::int64_t{1} << 40);
      if (key == 4) job.loss = read_loss(value);
    });
    at.need(keys, job.loss.iterations > 0.0 ? 1 : 2, seen);
    profiled_.push_back(std::move(job));
  }

  [[noreturn]] void refuse(const ProfiledJob& job, const std::string& problem,
                           const std::string& hint) const {
    throw InputError({.file = file_, .line = job.line, .field = "profile"}, problem, hint);
  }

  void assign(const ProfiledJob& job) {
    if (job.loss.iterations > 0.0) {
      speed::JobLoss& loss = row(profiles_.losses, job.job);
      if (loss.iterations > 0.0) refuse(job, "the job has a loss already", "");
      loss = job.loss;
    }
    if (job.profile.empty()) return;
    const auto found = definitions_.find(job.profile);
    if (found == definitions_.end())
      refuse(job, "no profile \"" + job.profile + "\"", "define it on a line with \"model\"");
    const ProfileDefinition& profile = found->second;
    JobProfile& assigned = profiles_.jobs[job.job.index()];
    if (assigned.kind != ProfileKind::none) refuse(job, "the job has a profile already", "");
    assigned.kind = profile.kind;
    assigned.batch = job.batch;
    if (profile.kind == ProfileKind::throughput) expect_types(job, *profile.table);
    if (profile.kind == ProfileKind::parameter_server || profile.kind == ProfileKind::overlap)
      assigned.servers = server_group(job, profile.servers);
    add_model(job, profile);
    double& reference = profiles_.reference(job.job);
    if (job.reference > 0.0) {
      reference = job.reference;
    } else if (profile.reference > 0.0 || profile.kind != ProfileKind::coded) {
      reference = profile.reference;
    }
  }

  /// Every GPU type of the cluster that the job may use has a row, be it 0.
  void expect_types(const ProfiledJob& job, const speed::ThroughputTable& table) const {
    const model::Job& record = instance_.workload.job(job.job);
    for (std::size_t t = 0; t < instance_.cluster.gpu_types.size(); ++t) {
      if (!model::lists(record, GpuTypeId(t))) continue;
      bool known = false;
      for (const speed::ThroughputRow& row : table.rows())
        known = known || row.gpu_type == GpuTypeId(t);
      if (known) continue;
      refuse(job,
             "profile \"" + job.profile + "\" has no throughput for GPU type \"" +
                 instance_.cluster.gpu_types[t] + "\", which the job may use",
             "give it a row (0: it does not fit), or list the job's gpu_types");
    }
  }

  [[nodiscard]] std::uint32_t server_group(const ProfiledJob& job, const std::string& name) const {
    std::uint32_t index = 0;
    for (const auto& group : instance_.workload.groups_of(instance_.workload.job(job.job))) {
      if (instance_.workload.labels[group.label] == name) return index;
      ++index;
    }
    refuse(job, "the job has no tasks \"" + name + "\", the parameter servers of the profile",
           "\"servers\" names their shape");
  }

  /// The gang of the job, whose duration is what it takes on average.
  [[nodiscard]] speed::CodedJob coded(const ProfiledJob& job, speed::CodedJob gang) const {
    const auto groups = instance_.workload.groups_of(instance_.workload.job(job.job));
    const auto is_coded = [](const model::TaskGroup& group) { return group.k_of > 0; };
    if (std::ranges::count_if(groups, is_coded) != 1)
      refuse(job, "not one group of the job's tasks has k_of", "it is a key of its tasks");
    const model::TaskGroup& group = *std::ranges::find_if(groups, is_coded);
    gang.workers = group.count;
    gang.needed = group.k_of;
    gang.reference = 1.0 / speed::expected_seconds(gang);
    return gang;
  }

  template <class T>
  T& row(std::vector<T>& list, JobId job) {
    if (list.empty()) list.resize(instance_.workload.size());
    return list[job.index()];
  }

  void add_model(const ProfiledJob& job, const ProfileDefinition& profile) {
    switch (profile.kind) {
      case ProfileKind::throughput: {
        const auto [at, fresh] = tables_.emplace(profile.name, profiles_.tables.size());
        if (fresh) profiles_.tables.push_back(*profile.table);
        row(profiles_.throughputs, job.job).table = static_cast<std::uint32_t>(at->second);
        break;
      }
      case ProfileKind::parameter_server:
        row(profiles_.parameter_servers, job.job) = profile.parameter_server;
        break;
      case ProfileKind::overlap:
        row(profiles_.overlaps, job.job) = profile.overlap;
        break;
      case ProfileKind::goodput:
        row(profiles_.goodputs, job.job) = profile.goodput;
        break;
      case ProfileKind::coded:
        row(profiles_.coded, job.job) = coded(job, profile.coded);
        break;
      case ProfileKind::ring:
        row(profiles_.rings, job.job) = profile.ring;
        break;
      case ProfileKind::none:
        break;
    }
  }

  std::string file_;
  const model::Instance& instance_;
  std::unordered_map<std::string_view, JobId> jobs_;
  std::unordered_map<std::string, ProfileDefinition> definitions_;
  std::unordered_map<std::string, std::size_t> tables_;
  std::vector<ProfiledJob> profiled_;
  speed::Profiles profiles_;
};

}  // namespace

speed::Profiles parse_profiles(std::string_view text, const std::string& file,
                               const model::Instance& instance) {
  ProfilesReader reader(file, instance);
  each_json_line(text, file,
                 [&](const JsonAt& at, std::int64_t line) { reader.read_line(at, line); });
  return reader.finish();
}

}  // namespace berth::io
