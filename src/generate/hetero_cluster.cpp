// SPDX-License-Identifier: Apache-2.0
#include "hetero_cluster.hpp"

#include "cluster_builder.hpp"
#include "draws.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "berth/base/random.hpp"

namespace berth::generate {
namespace {

struct Outfit {
  std::int64_t cores;
  std::int64_t memory_gib;
};

struct MachineKind {
  std::string_view gpu_type;
  std::string_view name;
  std::int64_t rack_machines;
  std::array<Outfit, 2> outfits;
};

enum : std::size_t { h100, a100, l40s, v100 };
constexpr std::array<MachineKind, 4> kKinds{{
    {"H100", "h100", 8, {{{112, 2048}, {96, 1024}}}},
    {"A100", "a100", 16, {{{128, 1024}, {96, 768}}}},
    {"L40S", "l40s", 16, {{{96, 768}, {64, 512}}}},
    {"V100", "v100", 16, {{{64, 512}, {48, 384}}}},
}};

/// GPU types of eight consecutive pods; the fourth and the eighth change to another type half way
/// (definition of the preset hetero).
constexpr std::array<std::size_t, 8> kFirstHalf{h100, a100, l40s, a100, h100, v100, a100, l40s};
constexpr std::array<std::size_t, 8> kSecondHalf{h100, a100, l40s, v100, h100, v100, a100, h100};
/// GPU types along a cluster of fewer than eight pods, by eighths (definition of the preset
/// hetero).
constexpr std::array<std::size_t, 8> kAlong{h100, h100, a100, a100, a100, l40s, l40s, v100};

class HeteroCluster {
 public:
  explicit HeteroCluster(const GenerateOptions& options)
      : options_(options),
        machines_((options.gpus + kGpusPerMachine - 1) / kGpusPerMachine),
        pods_((machines_ + kMachinesPerPod - 1) / kMachinesPerPod) {}

  model::Cluster build() {
    for (std::int64_t pod = 0; pod < pods_; ++pod) add_pod(pod);
    return cluster_.take();
  }

 private:
  void add_pod(std::int64_t pod) {
    cluster_.start_pod();
    const std::int64_t begin = pod * kMachinesPerPod;
    const std::int64_t end = std::min(begin + kMachinesPerPod, machines_);
    for (std::int64_t m = begin; m < end;) {
      const std::size_t kind = kind_at(pod, m - begin, m);
      const std::int64_t count = std::min(rack_machines(kind), end - m);
      add_rack(kind, m, count);
      m += count;
    }
    for (std::int64_t left = cpu_machines(end) - cpu_machines(begin); left > 0; left -= 16) {
      cluster_.start_rack();
      const ClassId id =
          cluster_.class_id({.name = "cpu",
                             .gpu_type = {},
                             .capacity = model::machine_capacity({128'000, 512 * 1024})});
      for (std::int64_t i = 0; i < std::min<std::int64_t>(left, 16); ++i) cluster_.add_machine(id);
    }
  }

  [[nodiscard]] std::size_t kind_at(std::int64_t pod, std::int64_t within, std::int64_t m) const {
    if (pods_ < 8) return kAlong[static_cast<std::size_t>(8 * m / machines_)];
    const auto& half = 2 * within < kMachinesPerPod ? kFirstHalf : kSecondHalf;
    return half[static_cast<std::size_t>(pod % 8)];
  }

  [[nodiscard]] std::int64_t rack_machines(std::size_t kind) const {
    if (machines_ < 32) return 2;
    if (machines_ < 128) return 4;
    return machines_ < kMachinesPerPod ? 8 : kKinds[kind].rack_machines;
  }

  [[nodiscard]] std::int64_t cpu_machines(std::int64_t through) const {
    return static_cast<std::int64_t>(options_.cpu_machines * static_cast<double>(through) + 0.5);
  }

  void add_rack(std::size_t kind, std::int64_t first, std::int64_t count) {
    cluster_.start_rack();
    const std::size_t outfit = random_below(
        2, {options_.seed, static_cast<std::uint64_t>(Draw::outfit), cluster_.racks()});
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t left = options_.gpus - (first + i) * kGpusPerMachine;
      const auto gpus = static_cast<std::int32_t>(std::min<std::int64_t>(kGpusPerMachine, left));
      cluster_.add_machine(gpu_class(kind, outfit, gpus));
    }
  }

  ClassId gpu_class(std::size_t kind, std::size_t outfit, std::int32_t gpus) {
    const MachineKind& k = kKinds[kind];
    const Outfit& o = k.outfits[outfit];
    std::string name = fmt::format("{}-{}c", k.name, o.cores);
    if (gpus < kGpusPerMachine) name += fmt::format("-{}gpu", gpus);
    return cluster_.class_id(
        {.name = std::move(name),
         .gpu_type = cluster_.gpu_type(k.gpu_type),
         .gpus = gpus,
         .capacity = model::machine_capacity({1000 * o.cores, 1024 * o.memory_gib})});
  }

  GenerateOptions options_;
  std::int64_t machines_;  // with GPUs
  std::int64_t pods_;
  ClusterBuilder cluster_;
};

}  // namespace

model::Cluster hetero_cluster(const GenerateOptions& options) {
  return HeteroCluster(options).build();
}

}  // namespace berth::generate
