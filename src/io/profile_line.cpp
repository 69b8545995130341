// SPDX-License-Identifier: Apache-2.0
#include "profile_line.hpp"

#include "words.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "berth/speed/static_duration.hpp"

namespace berth::io {
namespace {

using speed::ProfileKind;

constexpr double kMost = 1e15;  // of any amount
constexpr std::array<std::string_view, 6> kModels{
    "throughput", "parameter_server", "overlap", "goodput", "ring", "coded"};

/// A key and the number that it sets.
template <class Owner>
struct NumberKey {
  std::string_view key;
  double Owner::*member;
};

template <class Owner>
bool set_number(const JsonAt& at, std::span<const NumberKey<Owner>> table, Owner& owner) {
  for (const NumberKey<Owner>& row : table) {
    if (row.key != at.key()) continue;
    owner.*row.member = at.amount(kMost);
    return true;
  }
  return false;
}

using Servers = speed::ParameterServerJob;
constexpr NumberKey<Servers> kServerKeys[] = {{"seconds_per_sample", &Servers::seconds_per_sample},
                                              {"gradient_gbit", &Servers::gradient_gbit},
                                              {"batch", &Servers::batch},
                                              {"workers_per_server", &Servers::workers_per_server},
                                              {"internal_gbps", &Servers::internal_gbps},
                                              {"external_gbps", &Servers::external_gbps}};

using Overlap = speed::OverlapJob;
constexpr NumberKey<Overlap> kOverlapKeys[] = {{"batch", &Overlap::batch},
                                               {"forward", &Overlap::forward},
                                               {"backward", &Overlap::backward},
                                               {"model_gbit", &Overlap::model_gbit},
                                               {"server_gbps", &Overlap::server_gbps},
                                               {"worker_overhead", &Overlap::worker_overhead},
                                               {"server_overhead", &Overlap::server_overhead},
                                               {"forward_factor", &Overlap::forward_factor},
                                               {"backward_factor", &Overlap::backward_factor},
                                               {"transfer_factor", &Overlap::transfer_factor},
                                               {"sending_workers", &Overlap::sending_workers}};

using Layer = speed::Layer;
constexpr NumberKey<Layer> kLayerKeys[] = {
    {"backward", &Layer::backward}, {"transfer", &Layer::transfer}, {"forward", &Layer::forward}};

using Ring = speed::RingJob;
constexpr NumberKey<Ring> kRingKeys[] = {{"gradient_gbit", &Ring::gradient_gbit},
                                         {"forward_per_sample", &Ring::forward_per_sample},
                                         {"backward", &Ring::backward},
                                         {"batch", &Ring::batch},
                                         {"reduce_gbps", &Ring::reduce_gbps}};

using Coded = speed::CodedJob;
constexpr NumberKey<Coded> kCodedKeys[] = {{"seconds", &Coded::seconds}, {"tail", &Coded::tail}};

using Iteration = speed::IterationTime;
constexpr NumberKey<Iteration> kIterationKeys[] = {
    {"compute_fixed", &Iteration::compute_fixed},
    {"compute_per_sample", &Iteration::compute_per_sample},
    {"sync_local_fixed", &Iteration::sync_local_fixed},
    {"sync_local_per_gpu", &Iteration::sync_local_per_gpu},
    {"sync_fixed", &Iteration::sync_fixed},
    {"sync_per_gpu", &Iteration::sync_per_gpu},
    {"overlap", &Iteration::overlap}};

using Goodput = speed::ElasticBatchJob;
constexpr NumberKey<Goodput> kGoodputKeys[] = {{"smallest_batch", &Goodput::smallest_batch},
                                               {"batch", &Goodput::batch}};

using Noise = speed::NoisePoint;
constexpr NumberKey<Noise> kNoiseKeys[] = {{"work", &Noise::work},
                                           {"noise_scale", &Noise::noise_scale}};

using Links = speed::RingOptions;
constexpr NumberKey<Links> kLinkKeys[] = {{"internal_gbps", &Links::internal_gbps},
                                          {"external_gbps", &Links::external_gbps},
                                          {"degradation", &Links::degradation},
                                          {"contention", &Links::contention},
                                          {"seconds_per_machine", &Links::seconds_per_machine}};

/// An object of numbers only.
template <class Owner, std::size_t n>
Owner read_numbers(const JsonAt& at, const NumberKey<Owner> (&table)[n]) {
  std::array<std::string_view, n> keys;
  for (std::size_t k = 0; k < n; ++k) keys[k] = table[k].key;
  Owner owner;
  at.fields(keys, [&](std::size_t, const JsonAt& value) {
    set_number(value, std::span<const NumberKey<Owner>>(table), owner);
  });
  return owner;
}

speed::ThroughputRow read_row(const JsonAt& at, const model::Cluster& cluster) {
  static constexpr std::string_view keys[] = {"gpu_type", "gpus", "per_second", "extra_machines"};
  speed::ThroughputRow row;
  const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) {
      const auto type = std::ranges::find(cluster.gpu_types, value.text());
      if (type == cluster.gpu_types.end()) return;  // a type that this cluster has not
      row.gpu_type = GpuTypeId(static_cast<std::size_t>(type - cluster.gpu_types.begin()));
    }
    if (key == 1) row.gpus = static_cast<std::int32_t>(value.integer(1, 1 << 30));
    if (key == 2) row.per_second = value.amount(kMost);
    if (key == 3) row.extra_machines = static_cast<std::int32_t>(value.integer(0, 1 << 30));
  });
  at.need(keys, 3, seen);
  return row;
}

void read_rows(const JsonAt& at, const model::Cluster& cluster, ProfileDefinition& profile) {
  std::vector<speed::ThroughputRow> rows;
  at.each([&](const JsonAt& value) {
    const speed::ThroughputRow row = read_row(value, cluster);
    if (row.gpu_type.valid()) rows.push_back(row);
  });
  try {
    profile.table.emplace(std::move(rows));
  } catch (const std::invalid_argument& fault) {
    at.fail(fault.what());
  }
}

void read_layers(const JsonAt& at, ProfileDefinition& profile) {
  std::vector<Layer> layers;
  at.each([&](const JsonAt& value) { layers.push_back(read_numbers(value, kLayerKeys)); });
  if (layers.empty()) at.fail("has no layer");
  const speed::WaitFree overlap = speed::wait_free(layers);
  profile.overlap.job.backward_factor = overlap.backward_factor;
  profile.overlap.job.transfer_factor = overlap.transfer_factor;
}

void read_noise(const JsonAt& at, ProfileDefinition& profile) {
  at.each([&](const JsonAt& value) {
    profile.goodput.noise.push_back(read_numbers(value, kNoiseKeys));
  });
}

/// Whether the key is one of this kind of model; sets what it says.
bool read_key(const JsonAt& at, const model::Cluster& cluster, ProfileDefinition& profile) {
  const auto number = [&](const auto& table, auto& owner) {
    using Owner = std::remove_reference_t<decltype(owner)>;
    return set_number(at, std::span<const NumberKey<Owner>>(table), owner);
  };
  switch (profile.kind) {
    case ProfileKind::throughput:
      if (at.key() != "rows") return false;
      read_rows(at, cluster, profile);
      return true;
    case ProfileKind::parameter_server:
      return number(kServerKeys, profile.parameter_server);
    case ProfileKind::overlap:
      if (at.key() == "layers") read_layers(at, profile);
      return at.key() == "layers" || number(kOverlapKeys, profile.overlap.job);
    case ProfileKind::goodput:
      if (at.key() == "noise") read_noise(at, profile);
      return at.key() == "noise" || number(kIterationKeys, profile.goodput.time) ||
             number(kGoodputKeys, profile.goodput);
    case ProfileKind::ring:
      return number(kRingKeys, profile.ring);
    case ProfileKind::coded:
      return number(kCodedKeys, profile.coded);
    case ProfileKind::none:
      break;
  }
  return false;
}

/// Parameters that a model refuses are mistakes of the line: the model is made for one job.
void check(const JsonAt& at, ProfileDefinition profile) {
  const model::Workload none{};
  const speed::StaticDuration others{model::WorkloadView(none)};
  if (profile.kind == ProfileKind::throughput && !profile.table) at.fail("has no \"rows\"");
  try {
    profile.parameter_server.reference = profile.overlap.reference = 1.0;
    profile.goodput.reference = 1.0;
    if (profile.kind == ProfileKind::parameter_server)
      speed::ParameterServerModel({&profile.parameter_server, 1}, others);
    if (profile.kind == ProfileKind::overlap) speed::OverlapModel({&profile.overlap, 1}, others);
    if (profile.kind == ProfileKind::goodput)
      speed::ElasticBatchModel({&profile.goodput, 1}, others);
    if (profile.kind == ProfileKind::coded) {
      profile.coded.reference = 1.0;
      speed::CodedModel({&profile.coded, 1}, 1, others);
    }
    if (profile.kind == ProfileKind::ring) {
      const model::Cluster cluster{};
      profile.ring.reference = 1.0;
      speed::RingModel(cluster, {&profile.ring, 1}, {}, others);
    }
  } catch (const std::invalid_argument& fault) {
    at.fail(fault.what());
  }
}

}  // namespace

ProfileDefinition read_profile(const JsonAt& at, const model::Cluster& cluster) {
  ProfileDefinition profile;
  at.entries([&](const JsonAt& value) {
    if (value.key() == "profile") profile.name = value.name();
    if (value.key() != "model") return;
    const auto* const found = std::ranges::find(kModels, value.text());
    if (found == kModels.end()) {
      value.fail("unknown model " + in_quotes(value.text()), known_words(value.text(), kModels));
    }
    profile.kind = static_cast<ProfileKind>(1 + (found - kModels.begin()));
  });
  if (profile.kind == ProfileKind::none) at.fail("has no \"model\"");
  at.entries([&](const JsonAt& value) {
    if (value.key() == "profile" || value.key() == "model") return;
    if (value.key() == "reference") {
      profile.reference = value.amount(kMost);
      if (profile.reference == 0.0)
        value.fail("is 0", "it divides rates; leave it out or raise it");
    } else if (value.key() == "servers") {
      profile.servers = value.name();
    } else if (!read_key(value, cluster, profile)) {
      value.fail("unknown key of this model", "docs/formats.md lists the keys of each model");
    }
  });
  check(at, profile);
  return profile;
}

speed::RingOptions read_links(const JsonAt& at) {
  speed::RingOptions links{.internal_gbps = 100.0, .external_gbps = 10.0};
  at.entries([&](const JsonAt& value) {
    if (value.key() == "sharing") {
      static constexpr std::array<std::string_view, 2> words{"count", "duty"};
      const auto* const found = std::ranges::find(words, value.text());
      if (found == words.end()) value.fail("is neither count nor duty");
      links.sharing = static_cast<speed::LinkSharing>(found - words.begin());
    } else if (!set_number(value, std::span<const NumberKey<Links>>(kLinkKeys), links)) {
      value.fail("unknown key of links");
    }
  });
  try {
    const model::Cluster cluster{};
    const model::Workload none{};
    const speed::StaticDuration others{model::WorkloadView(none)};
    speed::RingModel(cluster, {}, links, others);
  } catch (const std::invalid_argument& fault) {
    at.fail(fault.what());
  }
  return links;
}

}  // namespace berth::io
