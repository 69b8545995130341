// SPDX-License-Identifier: Apache-2.0
#include "machine_states.hpp"

#include "id_range.hpp"
#include "machine_names.hpp"
#include "resource_keys.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "berth/model/free_machine.hpp"

namespace berth::io {
namespace {

using model::Cluster;
using model::Immovable;
using model::MachineState;

constexpr std::array<std::string_view, 4> kStateNames{"up", "drained", "reserved", "drain"};

class StatesReader {
 public:
  explicit StatesReader(Cluster& cluster)
      : cluster_(&cluster), names_(cluster), seen_(cluster.machines(), 0) {
    cluster.machine_state.assign(cluster.machines(), MachineState::up);
  }

  void read_entry(const YamlAt& at) {
    const YamlMap map(at, {"ids", "state", "deadline", "used"});
    MachineEntry entry;
    if (const auto word = map.find("state")) entry.state = read_state(*word);
    if (const auto deadline = map.find("deadline")) {
      if (entry.state != MachineState::drain) {
        deadline->fail("only machines in state drain have a deadline", "say state: drain");
      }
      entry.deadline = deadline->integer(kMaxAmount);
    }
    if (const auto some = map.find("used")) entry.used = read_used(*some);
    names_.each(map.need("ids"), [&](const YamlAt& ids, model::MachineRange range) {
      for (std::int32_t m = range.first; m < range.end; ++m) put(ids, MachineId(m), entry);
    });
  }

 private:
  struct MachineEntry {
    MachineState state = MachineState::up;
    std::int64_t deadline = model::kNever;
    std::vector<Immovable> used = {};
  };

  static MachineState read_state(const YamlAt& at) {
    const std::string word = at.name();
    const auto* const found = std::ranges::find(kStateNames, word);
    if (found == kStateNames.end()) {
      at.fail("unknown state " + in_quotes(word), known_words(word, kStateNames));
    }
    return static_cast<MachineState>(found - kStateNames.begin());
  }

  /// One piece for all resources, and one for every device.
  static std::vector<Immovable> read_used(const YamlAt& at) {
    const YamlMap map(at, resource_keys<0, 3>({}, {"gpus", kUnitKeys[0].key, kUnitKeys[1].key}));
    Immovable rest{.machine = {}};
    read_resources(map, rest.taken);
    std::vector<Immovable> pieces;
    if (!rest.taken.none()) pieces.push_back(rest);
    if (const auto gpus = map.find("gpus")) {
      gpus->each([&](const YamlAt& gpu) { pieces.push_back(read_device(gpu)); });
    }
    return pieces;
  }

  static Immovable read_device(const YamlAt& at) {
    const YamlMap map(at, {"index", "milli"});
    Immovable piece{.machine = {}, .milli = static_cast<std::int32_t>(model::kGpuMilli)};
    piece.devices = std::uint64_t{1} << map.need("index").integer(model::kMaxGpusPerMachine - 1);
    if (const auto milli = map.find("milli")) {
      piece.milli = static_cast<std::int32_t>(milli->integer(model::kGpuMilli));
    }
    return piece;
  }

  void put(const YamlAt& ids, MachineId machine, const MachineEntry& entry) {
    const std::size_t m = machine.index();
    if (seen_[m] != 0) {
      ids.fail("machine " + in_quotes(cluster_->machine_names[m]) + " is given twice",
               "first on line " + std::to_string(seen_[m]));
    }
    seen_[m] = static_cast<std::int32_t>(ids.line());
    take(ids, machine, entry.used);
    cluster_->machine_state[m] = entry.state;
    if (entry.deadline != model::kNever) {
      cluster_->drain_deadlines.push_back({machine, entry.deadline});
    }
  }

  void take(const YamlAt& ids, MachineId m, std::span<const Immovable> used) {
    model::FreeMachine free(cluster_->class_of(m));
    for (Immovable piece : used) {
      piece.machine = m;
      if (!free.fits(piece)) {
        ids.fail("machine " + in_quotes(cluster_->machine_names[m.index()]) +
                     " has less than \"used\" takes",
                 "its class is " + cluster_->class_of(m).name);
      }
      free.take(piece);
      cluster_->immovable.push_back(piece);
    }
  }

  Cluster* cluster_;
  MachineNames names_;
  std::vector<std::int32_t> seen_;  ///< by MachineId: line, 0 = not yet
};

/// Text of a machine's content that belongs to no job, in the reader's form.
std::string used_text(std::span<const Immovable> content) {
  Immovable rest{.machine = {}};
  std::string gpus;
  for (const Immovable& piece : content) {
    if (piece.job.valid()) continue;
    rest.taken += piece.taken;
    for (std::uint64_t mask = piece.devices; mask != 0; mask &= mask - 1) {
      gpus.append(gpus.empty() ? "" : ", ").append("{index: ");
      gpus.append(std::to_string(std::countr_zero(mask))).append(", milli: ");
      gpus.append(std::to_string(piece.milli)).append("}");
    }
  }
  std::string text;
  const auto add = [&](const std::string& part) { text.append(text.empty() ? "" : ", ") += part; };
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (rest.taken[r] == 0) continue;
    add(std::string(model::kResourceTable[r].key) + ": " + std::to_string(rest.taken[r]));
  }
  if (!gpus.empty()) add("gpus: [" + gpus + "]");
  return text.empty() ? text : ", used: {" + text + "}";
}

}  // namespace

void read_machine_states(const YamlAt& list, model::Cluster& cluster) {
  StatesReader reader(cluster);
  list.each([&](const YamlAt& entry) { reader.read_entry(entry); });
  if (std::ranges::all_of(cluster.machine_state,
                          [](MachineState s) { return s == MachineState::up; })) {
    cluster.machine_state.clear();
  }
  std::ranges::stable_sort(cluster.immovable, {}, &Immovable::machine);
  std::ranges::sort(cluster.drain_deadlines, {}, &model::DrainDeadline::machine);
}

std::string machine_states_text(const model::Cluster& cluster) {
  std::string text;
  RangeBuilder ranges;
  std::string open;  // what the machines of the open run have in common
  const auto close = [&] {
    for (const std::string& range : ranges.finish()) {
      text += "  - {ids: \"" + range + "\"" + open + "}\n";
    }
  };
  auto next = cluster.drain_deadlines.begin();
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const MachineState state = cluster.state_of(MachineId(m));
    std::string what;
    if (state != MachineState::up) {
      what.append(", state: ").append(kStateNames[static_cast<std::size_t>(state)]);
    }
    if (next != cluster.drain_deadlines.end() && next->machine == MachineId(m)) {
      what.append(", deadline: ").append(std::to_string(next++->deadline));
    }
    what += used_text(cluster.immovable_on(MachineId(m)));
    if (what != open) {
      if (!open.empty()) close();
      open = what;
    }
    if (!open.empty()) ranges.add(cluster.machine_names[m]);
  }
  if (!open.empty()) close();
  return text.empty() ? text : "machine_states:\n" + text;
}

}  // namespace berth::io
