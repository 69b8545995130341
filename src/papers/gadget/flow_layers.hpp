// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/papers/gadget/flow_program.hpp"
#include "berth/solver/signed_program.hpp"

namespace berth::papers::gadget {

/// A job of so many workers, the first on one node: layers of the network, one for each edge of the
/// ring, and its variables in the program.
class FlowLayers {
 public:
  /// Rows of the program that all layers share, by their first index.
  struct SharedRows {
    std::size_t jobs = 0, nodes = 0, links = 0;
  };
  struct Embedding {
    const SlotJob* job = nullptr;
    std::size_t position = 0;
    std::int32_t workers = 1;
    std::size_t start = 0;  ///< node of the first worker
  };

  /// Adds its rows and columns.
  FlowLayers(const Substrate& substrate, const Embedding& embedding, const SharedRows& rows,
             solver::SignedProgram& program);

  [[nodiscard]] double arrived(std::span<const double> x) const { return x[arrival_]; }
  /// Takes rings out of the flows until none of more than `least` is left. O(columns^2)
  void take_rings(std::vector<double>& x, double least, std::vector<EmbeddedRing>& rings) const;

 private:
  /// A step of the path, backwards: a column and the place from which it comes.
  struct Step {
    std::size_t column = 0;
    std::size_t from = 0;  ///< layer x nodes + node; kSource: the begin
    std::size_t link = 0;  ///< kNoLink: a worker is set here
  };
  static constexpr std::size_t kSource = ~std::size_t{0}, kNoLink = ~std::size_t{0};

  [[nodiscard]] std::size_t place(std::size_t layer, std::size_t node) const {
    return layer * substrate_->gpus.size() + node;
  }
  [[nodiscard]] std::vector<Step> path(std::span<const double> x, double least) const;
  [[nodiscard]] EmbeddedRing ring_of(std::span<const Step> path, double part) const;

  const Substrate* substrate_;
  Embedding embedding_;
  std::size_t arrival_ = 0;
  std::vector<std::vector<Step>> into_;  ///< by place: what enters it
};

}  // namespace berth::papers::gadget
