// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <utility>

#include <fmt/format.h>

#include "berth/io/sweep_file.hpp"

namespace berth::io {

std::string sweep_csv(const std::vector<SweepRow>& rows) {
  std::string text = "replay,policy,seed,load,run_digest";
  for (const model::RunFigureRow& figure : model::kRunFigureRows) {
    text += ',';
    text += figure.key;
  }
  text += '\n';
  for (const SweepRow& row : rows) {
    text += fmt::format("{},{},{},{},{}", row.name, row.policy, row.seed, row.load, row.run_digest);
    for (const double figure : row.figures) text += fmt::format(",{}", figure);
    text += '\n';
  }
  return text;
}

std::string sweep_json(const std::vector<SweepRow>& rows) {
  JsonText json;
  json.open('{').field("schema", std::int64_t{1}).key("replays").open('[');
  for (const SweepRow& row : rows) {
    json.next_line().open('{').field("replay", row.name).field("policy", row.policy);
    json.field("seed", row.seed).field("load", row.load).field("run_digest", row.run_digest);
    json.key("figures").open('{');
    for (std::size_t f = 0; f < row.figures.size(); ++f) {
      json.field(model::kRunFigureRows[f].key, row.figures[f]);
    }
    json.close('}').close('}');
  }
  json.close(']').close('}');
  json.str() += '\n';
  return std::move(json.str());
}

}  // namespace berth::io
