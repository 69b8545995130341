// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"

#include "job_rules.hpp"
#include "job_running.hpp"
#include "job_time.hpp"
#include "resource_keys.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace berth::io {
namespace {

using model::Factors;
using model::kGpuMilli;
using model::Level;
using model::Shape;

Level read_level(const JsonAt& at) {
  const std::string_view word = at.text();
  const auto found = std::ranges::find(kLevelNames, word);
  if (found == std::end(kLevelNames)) {
    at.fail("unknown level " + in_quotes(word), known_words(word, kLevelNames));
  }
  return static_cast<Level>(found - std::begin(kLevelNames));
}

using Given = std::array<std::optional<double>, model::kLevels>;

Given read_given(const JsonAt& at, std::span<const std::string_view> levels) {
  Given given;
  const std::size_t skipped = given.size() - levels.size();
  at.fields(levels, [&](std::size_t level, const JsonAt& value) {
    given[skipped + level] = value.amount(1.0);
  });
  return given;
}

/// Fills in missing levels: each gets the factor of the next narrower one, the narrowest 1.
Factors filled(const JsonAt& at, const Given& given) {
  Factors factors{};
  double narrower = 1.0;
  for (std::size_t level = 0; level < factors.size(); ++level) {
    factors[level] = given[level].value_or(narrower);
    if (factors[level] > narrower) {
      at.fail(fmt::format("{} {} is more than the narrower level's {}", kLevelNames[level],
                          factors[level], narrower),
              "factors never rise with width");
    }
    narrower = factors[level];
  }
  return factors;
}

void read_home(const JsonAt& at, JobLine& line) {
  static constexpr std::string_view keys[] = {"rack", "pod", "factor"};
  std::optional<JsonAt> factor;
  const std::uint64_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) line.home_rack = value.name();
    if (key == 1) line.home_pod = value.name();
    if (key == 2) factor = value;
  });
  if ((seen & 3) == 3) at.fail("names a rack and a pod", "home is one of them");
  if ((seen & 3) == 0) at.fail("names neither a rack nor a pod");
  if (!factor) return;
  Given given = read_given(*factor, std::span(kLevelNames).subspan(1));
  constexpr auto rack = static_cast<std::size_t>(Level::rack);
  const bool home_is_pod = (seen & 2) != 0;  // then the pod is the nearest level
  if (home_is_pod && !given[rack]) given[rack] = given[static_cast<std::size_t>(Level::pod)];
  given[0] = given[rack];
  line.home_factor = filled(*factor, given);
}

/// Reads a share of a GPU; 1000 thousandths are one whole GPU.
void read_share(const JsonAt& at, Shape& shape) {
  const std::int64_t milli = at.integer(0, kMaxAmount);
  if (milli > kGpuMilli) {
    at.fail(fmt::format("a share is at most 1000 thousandths of one GPU, found {}", milli),
            "ask for whole GPUs with \"gpus\"");
  }
  if (milli == kGpuMilli) {
    shape.gpus = 1;
  } else {
    shape.gpu_milli = static_cast<std::int32_t>(milli);
  }
}

/// Amount by a key of units: cores as a number, memory as text.
std::int64_t read_units(const JsonAt& at, const UnitKey& unit) {
  const bool text = unit.resource == model::kMemory;
  std::string word;
  if (text && at.type() == simdjson::dom::element_type::STRING) word = std::string(at.text());
  if (!text) word = fmt::format("{}", at.real());
  const auto amount = amount_of(unit, word);
  if (!amount) at.fail(fmt::format("expected {}", unit.expected));
  return *amount;
}

JobLine::TaskLine read_task(const JsonAt& at) {
  constexpr std::size_t kFirst = 4;
  static constexpr auto keys = resource_keys<kFirst, 3>(
      {"shape", "count", "gpus", "gpu_milli"}, {"k_of", kUnitKeys[0].key, kUnitKeys[1].key});
  constexpr std::size_t kKOf = kFirst + model::kResources, kUnits = kKOf + 1;
  JobLine::TaskLine task;
  std::int64_t gpus = 0;
  Shape& shape = task.shape;
  const auto seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) task.label = value.name();
    if (key == 1) task.count = static_cast<std::int32_t>(value.integer(1, kMaxCount));
    if (key == 2) gpus = value.integer(0, kMaxCount);
    if (key == 3) read_share(value, shape);
    if (key == kKOf) task.k_of = static_cast<std::int32_t>(value.integer(1, kMaxCount));
    if (key >= kFirst && key < kKOf) shape.needs[key - kFirst] = value.integer(0, kMaxAmount);
    if (key >= kUnits) {
      const UnitKey& unit = kUnitKeys[key - kUnits];
      shape.needs[unit.resource] = read_units(value, unit);
    }
  });
  for (std::size_t u = 0; u < kUnitKeys.size(); ++u) {
    const std::uint32_t both = 1u << (kUnits + u) | 1u << (kFirst + kUnitKeys[u].resource);
    if ((seen & both) == both) at.fail(both_given(kUnitKeys[u]), "keep one of them");
  }
  if (task.k_of > task.count) {
    at.fail(fmt::format("\"k_of\" is {}, the group has {} tasks", task.k_of, task.count));
  }
  if (gpus > 0 && shape.uses_gpu()) {
    at.fail("asks for \"gpus\" and for \"gpu_milli\"", "a task takes whole GPUs or one share");
  }
  if (gpus > 0) shape.gpus = static_cast<std::int32_t>(gpus);
  return task;
}

constexpr std::size_t kMaxGroups = 1024;  ///< of a job: each is compared with the others

void read_tasks(const JsonAt& at, JobLine& line) {
  at.each([&](const JsonAt& element) {
    const JobLine::TaskLine task = read_task(element);
    const auto same = [&](const JobLine::TaskLine& other) { return other.label == task.label; };
    if (std::ranges::any_of(line.tasks, same)) {
      element.fail("two task groups are called " + in_quotes(task.label),
                   "give each its own \"shape\" name");
    }
    if (line.tasks.size() == kMaxGroups) at.fail("more than 1024 task groups");
    line.tasks.push_back(task);
  });
  if (line.tasks.empty()) at.fail("a job needs at least one task");
}

void read_gpu_types(const JsonAt& at, JobLine& line) {
  at.each([&](const JsonAt& type) { line.gpu_types.push_back(type.name()); });
}

void read_speeds(const JsonAt& at, JobLine& line) {
  at.entries([&](const JsonAt& speed) {
    if (const std::string fault = name_fault(speed.key()); !fault.empty()) at.fail(fault);
    for (const auto& other : line.speeds) {
      if (other.first == speed.key()) speed.fail("given twice");
    }
    line.speeds.emplace_back(speed.key(), speed.amount(kMaxSpeed));
  });
}

/// @param old_name  the key is "spread", the old name of "width_factor"
void read_width_factor(const JsonAt& at, bool old_name, JobLine& line) {
  using Key = JobLine::WidthFactorKey;
  if (line.width_factor_key != Key::none) {
    at.fail("\"spread\" is the old name of \"width_factor\", and both are given",
            "keep \"width_factor\"");
  }
  line.width_factor_key = old_name ? Key::spread : Key::width_factor;
  line.width_factor = filled(at, read_given(at, kLevelNames));
}

void clear(JobLine& line) {
  JobLine fresh;
  std::swap(fresh.tasks, line.tasks);
  std::swap(fresh.gpu_types, line.gpu_types);
  std::swap(fresh.speeds, line.speeds);
  std::swap(fresh.running, line.running);
  fresh.tasks.clear();
  fresh.gpu_types.clear();
  fresh.speeds.clear();
  fresh.running.clear();
  line = std::move(fresh);
}

}  // namespace

void read_job_line(const JsonAt& at, JobLine& line) {
  static constexpr std::string_view keys[] = {
      "id",         "tasks",      "arrival",       "queue",      "priority",   "weight",
      "required",   "gpu_types",  "speed",         "domain",     "home",       "width_factor",
      "value",      "running",    "communication", "spread",     kRuleKeys[0], kRuleKeys[1],
      kRuleKeys[2], kRuleKeys[3], kRuleKeys[4],    kRuleKeys[5], kTimeKeys[0], kTimeKeys[1],
      kTimeKeys[2], kTimeKeys[3], kTimeKeys[4],    kTimeKeys[5], kTimeKeys[6], kTimeKeys[7],
      kTimeKeys[8], kTimeKeys[9], "name",          "user"};
  constexpr std::size_t kSpread = 15, kFirstTime = kSpread + 1 + kRuleKeys.size(),
                        kName = kFirstTime + kTimeKeys.size(), kUser = kName + 1;
  static_assert(std::size(keys) == kUser + 1);
  RuleValues rules;
  TimeValues times;
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  clear(line);
  const std::uint64_t seen = at.fields(keys, [&](std::size_t key, const JsonAt& value) {
    switch (key) {
      case 0:
        line.id = value.name();
        break;
      case 1:
        read_tasks(value, line);
        break;
      case 2:
        line.arrival = value.integer(0, kMaxAmount);
        break;
      case 3:
        line.queue = value.name();
        break;
      case 4:
        line.priority = static_cast<std::int32_t>(value.integer(-most, most));
        break;
      case 5:
        line.weight = value.amount(kMaxWorth);
        break;
      case 6:
        line.required = value.boolean();
        break;
      case 7:
        read_gpu_types(value, line);
        break;
      case 8:
        read_speeds(value, line);
        break;
      case 9:
        line.domain = read_level(value);
        break;
      case 10:
        read_home(value, line);
        break;
      case 11:
      case kSpread:
        read_width_factor(value, key == kSpread, line);
        break;
      case 12:
        line.value = value.amount(kMaxWorth);
        break;
      case 13:
        read_running(value, line);
        break;
      case 14:
        read_communication(value, line);
        break;
      case kName:
        line.name = value.name();
        break;
      case kUser:
        line.user = value.name();
        break;
      default:
        if (key < kFirstTime) rules[key - kSpread - 1] = value;
        if (key >= kFirstTime) times[key - kFirstTime] = value;
        break;
    }
  });
  at.need(keys, 2, seen);
  read_rules(rules, line);
  read_time(times, line);
}

}  // namespace berth::io
