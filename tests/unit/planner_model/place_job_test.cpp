// SPDX-License-Identifier: Apache-2.0
// Workers and parameter servers of one job in racks whose uplinks are narrow.
#include "tiny.hpp"

#include <set>

#include <gtest/gtest.h>

#include "berth/planner_model/room.hpp"

namespace berth::planner_model {
namespace {

/// `racks` racks of four machines with 8 GPUs; 4 workers of 8 GPUs for each rack, and servers.
struct Racks {
  test::Tiny tiny;
  JobId job;
  std::vector<MachineId> machines;

  Racks(int racks, double uplink_gbps, std::int32_t servers, std::int64_t mbps) {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 8, 64000, 1000);
    tiny.pod();
    for (int r = 0; r < racks; ++r) {
      tiny.rack();
      tiny.instance.cluster.racks.back().uplink_gbps = uplink_gbps;
      for (int m = 0; m < 4; ++m) machines.push_back(tiny.machine(c));
    }
    job = tiny.job({{.count = 4 * racks, .gpus = 8, .label = "worker"},
                    {.count = servers, .cpu_milli = 4000, .label = "server"}});
    tiny[job].communication = {
        .pattern = model::CommunicationPattern::ps, .servers = 1, .mbps = mbps};
  }

  /// Racks with servers; 0: the job has no placement that the uplinks carry.
  std::size_t racks_with_servers() {
    const CouplingLimits limits(tiny.instance, model::Objective::value);
    LimitUsage usage(tiny.instance, &limits);
    for (std::size_t l = 0; l < usage.size(); ++l) usage.allow(l, limits.capacity(l));
    Room room(tiny.instance.cluster);
    const auto placed = place_job(room, tiny.instance.workload, job, machines, &usage);
    if (!placed || !usage.carries(*placed)) return 0;
    std::set<RackId> racks;
    for (const model::TaskPlacement& t : placed->tasks) {
      if (t.group == 1) racks.insert(tiny.instance.cluster.machine_rack[t.machine.index()]);
    }
    return racks.size();
  }
};

/// Two servers in one of four racks load its uplink with 12 x 5 Gbit/s; in two racks 4 x 5 / 2 +
/// 12 x 5 / 2 = 40 Gbit/s.
TEST(PlaceJob, spreads_servers_over_racks_as_uplinks_need) {
  EXPECT_EQ(Racks(4, 50.0, 2, 5000).racks_with_servers(), 2U);
  EXPECT_EQ(Racks(4, 60.0, 2, 5000).racks_with_servers(), 1U);
  EXPECT_EQ(Racks(4, 39.0, 2, 5000).racks_with_servers(), 0U);
  EXPECT_EQ(Racks(4, 30.0, 4, 5000).racks_with_servers(), 4U);
}

/// One rack: nothing crosses the uplink.
TEST(PlaceJob, keeps_servers_beside_the_workers_of_one_rack) {
  EXPECT_EQ(Racks(1, 0.001, 2, 5000).racks_with_servers(), 1U);
}

}  // namespace
}  // namespace berth::planner_model
