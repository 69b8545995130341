// SPDX-License-Identifier: Apache-2.0
#include "flow_layers.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::papers::gadget {
FlowLayers::FlowLayers(const Substrate& substrate, const Embedding& embedding,
                       const SharedRows& rows, solver::SignedProgram& program)
    : substrate_(&substrate), embedding_(embedding) {
  const std::size_t nodes = substrate.gpus.size();
  const auto layers = static_cast<std::size_t>(embedding.workers);
  const double bandwidth = embedding.job->job->bandwidth;
  into_.resize(layers * nodes);
  const std::size_t first = program.rows().size();  // of the rows by place: out <= in
  for (std::size_t p = 0; p < layers * nodes; ++p) program.add_row(0.0);
  const auto enter = [&](std::size_t to, std::size_t column, std::size_t from, std::size_t link) {
    into_[to].push_back({column, from, link});
  };
  const std::size_t begin = place(0, embedding.start);
  enter(
      begin,
      program.add_column({.entries = {{rows.nodes + embedding.start, 1.0}, {first + begin, -1.0}}}),
      kSource, kNoLink);
  for (std::size_t layer = 0; layer < layers && layers > 1; ++layer) {
    for (std::size_t l = 0; l < substrate.links.size(); ++l) {
      const std::size_t from = place(layer, substrate.links[l].from);
      const std::size_t to = place(layer, substrate.links[l].to);
      const std::size_t column = program.add_column(
          {.entries = {{rows.links + l, bandwidth}, {first + from, 1.0}, {first + to, -1.0}}});
      enter(to, column, from, l);
    }
  }
  for (std::size_t layer = 1; layer < layers; ++layer) {
    for (std::size_t node = embedding.start; node < nodes; ++node) {
      if (substrate.gpus[node] == 0) continue;
      const std::size_t from = place(layer - 1, node), to = place(layer, node);
      const std::size_t column = program.add_column(
          {.entries = {{rows.nodes + node, 1.0}, {first + from, 1.0}, {first + to, -1.0}}});
      enter(to, column, from, kNoLink);
    }
  }
  arrival_ = program.add_column({.value = embedding.job->gain(embedding.workers),
                                 .entries = {{rows.jobs + embedding.position, 1.0},
                                             {first + place(layers - 1, embedding.start), 1.0}}});
}

/// The way back from the end along columns of more than `least`, fewest steps; empty: none.
std::vector<FlowLayers::Step> FlowLayers::path(std::span<const double> x, double least) const {
  const std::size_t end = place(static_cast<std::size_t>(embedding_.workers) - 1, embedding_.start);
  std::vector<Step> by(into_.size());  // the step that leaves the place for the end
  std::vector<std::size_t> towards(into_.size(), kSource);
  std::vector<bool> met(into_.size(), false);
  std::queue<std::size_t> open;
  open.push(end);
  met[end] = true;
  for (; !open.empty(); open.pop()) {
    const std::size_t here = open.front();
    for (const Step& step : into_[here]) {
      if (x[step.column] <= least) continue;
      if (step.from == kSource) {
        std::vector<Step> steps = {step};
        for (std::size_t p = here; p != end; p = towards[p]) steps.push_back(by[p]);
        return steps;
      }
      if (met[step.from]) continue;
      met[step.from] = true;
      by[step.from] = step;
      towards[step.from] = here;
      open.push(step.from);
    }
  }
  return {};
}

EmbeddedRing FlowLayers::ring_of(std::span<const Step> path, double part) const {
  EmbeddedRing ring{.job = embedding_.position, .nodes = {}, .routes = {}, .part = part};
  for (const Step& step : path) {
    if (step.link != kNoLink) {
      ring.routes.back().push_back(step.link);
      continue;
    }
    ring.nodes.push_back(step.from == kSource ? embedding_.start
                                              : step.from % substrate_->gpus.size());
    ring.routes.emplace_back();
  }
  BERTH_ENSURE(std::cmp_equal(ring.nodes.size(), embedding_.workers));
  return ring;
}

void FlowLayers::take_rings(std::vector<double>& x, double least,
                            std::vector<EmbeddedRing>& rings) const {
  while (x[arrival_] > least) {
    const std::vector<Step> steps = path(x, least);
    if (steps.empty()) return;  // what arrives by rounding alone
    double part = x[arrival_];
    for (const Step& step : steps) part = std::min(part, x[step.column]);
    for (const Step& step : steps) x[step.column] -= part;
    x[arrival_] -= part;
    rings.push_back(ring_of(steps, part));
  }
}

}  // namespace berth::papers::gadget
