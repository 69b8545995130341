// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/papers/elastic_jobs.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/papers/sjf_bco/sjf_bco.hpp"
#include "berth/speed/profiles.hpp"

namespace berth::papers {

/// SJF-BCO while jobs arrive. Whenever jobs arrive, the search of the paper runs over the jobs that
/// wait, from the cluster as it is; until the next arrival the waiting jobs start at the limit and
/// the threshold found. What a GPU has accumulated counts from the last search on: then it is the
/// expected rest of the job that it has. Slots are seconds, iterations microseconds of work.
/// A search takes O(sizes x log(seconds of work) x jobs) steps of the model.
class SjfBcoPolicy final : public policy::Policy {
 public:
  /// @throws InputError: jobs that are no rings of workers with a GPU each; several GPU types
  explicit SjfBcoPolicy(const PaperWorld& world);

  void decide(policy::State& state) override;

 private:
  /// Rates in microseconds of work a slot.
  class WorkSpeeds final : public speed::Model {
   public:
    explicit WorkSpeeds(const speed::Model& model) : model_(&model) {}
    [[nodiscard]] bool coupled() const override { return model_->coupled(); }
    void shared(const speed::RunningJob& job, std::vector<std::uint64_t>& keys) const override {
      model_->shared(job, keys);
    }
    void rates(std::span<const speed::RunningJob> running,
               std::span<speed::Rate> rates) const override;

   private:
    const speed::Model* model_;
  };

  [[nodiscard]] BatchClock clock_of(const policy::State& state) const;
  void plan(const policy::State& state, std::span<const std::size_t> order);
  void start_in_order(policy::State& state, std::span<const std::size_t> order);
  bool start(policy::State& state, std::size_t job, std::span<const std::uint32_t> gpus) const;

  speed::ProfiledSpeeds profiled_;
  WorkSpeeds speeds_;
  std::vector<Gpu> line_;
  std::vector<std::size_t> first_;   ///< by machine: its first GPU in line_
  RingBatch batch_;                  ///< by JobId, with the work that is left
  std::vector<double> accumulated_;  ///< by GPU, seconds since the last search
  SjfBcoOptions options_;
  double limit_ = 0.0;
  std::int32_t kappa_ = 0;
};

std::unique_ptr<policy::Policy> make_sjf_bco(const PaperWorld& world);

}  // namespace berth::papers
