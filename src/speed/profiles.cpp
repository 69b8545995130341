// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/profiles.hpp"

#include "berth/base/assert.hpp"
#include "berth/speed/interference.hpp"
#include "berth/speed/static_duration.hpp"

namespace berth::speed {

double& Profiles::reference(JobId job) {
  const std::size_t j = job.index();
  switch (jobs[j].kind) {
    case ProfileKind::throughput:
      return throughputs[j].reference;
    case ProfileKind::parameter_server:
      return parameter_servers[j].reference;
    case ProfileKind::overlap:
      return overlaps[j].reference;
    case ProfileKind::goodput:
      return goodputs[j].reference;
    case ProfileKind::coded:
      return coded[j].reference;
    default:
      BERTH_EXPECT(jobs[j].kind == ProfileKind::ring);
      return rings[j].reference;
  }
}

ProfiledSpeeds::ProfiledSpeeds(const model::InstanceView& instance, const Profiles& profiles,
                               double interference) {
  chain_.push_back(std::make_unique<StaticDuration>(instance.workload));
  const auto add = [&](auto model) { chain_.push_back(std::move(model)); };
  if (!profiles.throughputs.empty()) {
    add(std::make_unique<ThroughputModel>(instance.cluster, profiles.tables, profiles.throughputs,
                                          top()));
  }
  if (!profiles.parameter_servers.empty())
    add(std::make_unique<ParameterServerModel>(profiles.parameter_servers, top()));
  if (!profiles.overlaps.empty()) add(std::make_unique<OverlapModel>(profiles.overlaps, top()));
  if (!profiles.goodputs.empty())
    add(std::make_unique<ElasticBatchModel>(profiles.goodputs, top()));
  if (!profiles.coded.empty())
    add(std::make_unique<CodedModel>(profiles.coded, profiles.seed, top()));
  if (!profiles.rings.empty()) {
    add(std::make_unique<RingModel>(instance.cluster, profiles.rings, profiles.links, top()));
  }
  if (interference > 0.0) add(std::make_unique<Interference>(interference, top()));
}

}  // namespace berth::speed
