// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_fields.hpp"

#include <optional>
#include <string>
#include <vector>

#include "berth/io/profiles_file.hpp"

namespace berth::io {

/// A profile as one line defines it.
struct ProfileDefinition {
  std::string name;
  speed::ProfileKind kind = speed::ProfileKind::none;
  double reference = 0.0;  ///< 0: not given
  std::string servers = "server";
  std::optional<speed::ThroughputTable> table;
  speed::ParameterServerJob parameter_server;
  speed::OverlapProfile overlap;
  speed::ElasticBatchJob goodput;
  speed::RingJob ring;
  speed::CodedJob coded;
};

/// @throws InputError with line and field
ProfileDefinition read_profile(const JsonAt& at, const model::Cluster& cluster);
speed::RingOptions read_links(const JsonAt& at);
speed::JobLoss read_loss(const JsonAt& at);

}  // namespace berth::io
