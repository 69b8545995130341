// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "random_tiny.hpp"

#include <string>

namespace berth::test {

/// 64 machines of two GPU types in two racks, with queues; cluster.yaml.
inline constexpr const char* kBlockCluster =
    "{schema: 1, classes: {a: {gpu_type: A, gpus: 8}, b: {gpu_type: B, gpus: 4}},\n"
    "pods: [{id: pod-0, racks: [{id: rack-0, machines: [{ids: \"m[0-31]\", class: a}]}]},\n"
    "       {id: pod-1, racks: [{id: rack-1, machines: [{ids: \"n[0-31]\", class: b}]}]}],\n"
    "queues: [{id: q0}, {id: q1}]}\n";

/// Jobs files for that cluster, with every shared or named field, blank lines, both kinds of line
/// ends, with and without a line end at the end of the file. `percent` of the lines contain an
/// error.
class JobLines {
 public:
  JobLines(Dice& dice, std::int64_t percent) : dice_(dice), percent_(percent) {}

  std::string text(std::int64_t lines) {
    std::string text = dice_.chance(50) ? "\xEF\xBB\xBF" : "";
    for (std::int64_t line = 0; line < lines; ++line) {
      if (!dice_.chance(10)) text += job(line);
      text += dice_.chance(20) ? "\r\n" : "\n";
    }
    return dice_.chance(50) ? text + job(lines) : text;
  }

 private:
  std::string job(std::int64_t line) {
    if (dice_.chance(percent_)) return bad(line);
    std::string json = "{\"id\":\"j" + std::to_string(line) + "\"" + maybe(30, ",\"queue\":\"q1\"");
    json += maybe(20, ",\"priority\":" + number(9)) + maybe(30, ",\"weight\":1." + number(5));
    json +=
        maybe(5, ",\"arrival\":" + std::string(static_cast<std::size_t>(dice_.below(400)), ' ') +
                     number(9));
    json += maybe(30, ",\"gpu_types\":[\"A\",\"B\",\"" + type() + "\"]");
    json +=
        maybe(40, ",\"speed\":{\"" + type() + "\":1." + number(3) + ",\"A\":0." + number(3) + "}");
    json += maybe(30, ",\"home\":{\"rack\":\"rack-" + number(2) + "\",\"factor\":{\"pod\":0." +
                          number(4) + "}}");
    const std::string key =
        line % 3 == 0 ? "spread" : "width_factor";  // the old name, and the present name
    json += maybe(30, ",\"" + key + "\":{\"cluster\":0." + number(4) + "}");
    return json + (dice_.chance(20) ? at_work(line) : tasks()) + "}";
  }

  std::string tasks() {
    std::string groups = ",\"tasks\":[{\"shape\":\"w" + number(5) + "\",\"gpus\":" + number(9) +
                         ",\"count\":1" + number(2) + "}";
    if (dice_.chance(60)) return groups + "]";
    groups += ",{\"shape\":\"s\",\"cpu_milli\":" + number(4) + "}]";
    return groups +
           maybe(50, ",\"communication\":{\"pattern\":\"ps\",\"gbps\":1,\"servers\":\"s\"}");
  }

  /// A running job, sometimes on devices of another one.
  std::string at_work(std::int64_t line) {
    return R"(,"tasks":[{"gpus":1}],"running":{"pinned":)" +
           std::string(dice_.chance(50) ? "true" : "false") + R"(,"tasks":[{"machine":"m)" +
           std::to_string(line % 32) + R"(","gpus":[{"index":)" + std::to_string(line / 32 % 8) +
           "}]}]}";
  }

  std::string bad(std::int64_t line) {
    const std::string start = "{\"id\":\"j" + std::to_string(line) + "\",\"tasks\":[{}],";
    switch (dice_.below(8)) {
      case 0:
        return start;
      case 1:
        return start + R"("home":{"rack":"rack-x"}})";
      case 2:
        return start + R"("queue":"q9"})";
      case 3:
        return start + R"("gpu_types":[)" + types(63) + "]}";
      case 4:
        return start + R"("speed":{"new":2},"running":{"tasks":[{"machine":"x"}]}})";
      case 5:
        return start + R"("wieght":1})";
      default:
        return R"({"id":"j)" + number(line + 1) + R"(","tasks":[{}]})";  // often a repeated id
    }
  }

  static std::string types(int count) {
    std::string list = "\"T0\"";
    for (int t = 1; t < count; ++t) list += ",\"T" + std::to_string(t) + "\"";
    return list;
  }
  std::string type() { return "X" + number(12); }
  std::string number(std::int64_t bound) { return std::to_string(dice_.below(bound)); }
  std::string maybe(std::int64_t percent, const std::string& text) {
    return dice_.chance(percent) ? text : "";
  }

  Dice& dice_;
  std::int64_t percent_;
};

}  // namespace berth::test
