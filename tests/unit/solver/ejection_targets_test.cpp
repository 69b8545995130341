// SPDX-License-Identifier: Apache-2.0
// Costs that a search has kept must be those that it would compute anew.
#include "local_search/ejection_targets.hpp"

#include "instance_builder.hpp"
#include "local_search/fill_idle_capacity.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/precedence.hpp"

namespace berth::solver::local_search {
namespace {

using Targets = EjectionTargets<Occupancy>;

/// A filled cluster, and one search that stays while jobs come and go.
class KeptCosts : public testing::TestWithParam<std::uint64_t> {
 protected:
  KeptCosts() {
    occupancy_.admit(plan_.jobs);
    fill_idle_capacity(occupancy_, plan_.jobs);
    for (std::size_t p = 0; p < pools_.pools.size(); ++p) {
      prices_.push_back(random_unit({GetParam(), p, 1}));
    }
    kept_.emplace(space_, prices_);
  }

  [[nodiscard]] std::uint64_t draw(std::uint64_t bound, std::uint64_t step, std::uint64_t what) {
    return random_below(bound, {GetParam(), step, what});
  }

  /// Takes the job away and asks both searches for its target; then it goes there, if there is
  /// room, or back, if it `stays`.
  void move(std::uint32_t position, bool stays) {
    Targets anew(space_, prices_);
    kept_->start_chain();
    anew.start_chain();
    const model::JobPlacement old = occupancy_.placed(space_.jobs[position]);
    if (!old.tasks.empty()) {
      for (Targets* targets : {&*kept_, &anew}) {
        targets->note_move(position);
        targets->note_vacated(old);
      }
      occupancy_.give_back(old.job);
    }
    const auto target = kept_->best(position, 1);
    const auto expected = anew.best(position, 1);
    kept_->forget_vacated();
    ASSERT_EQ(target.has_value(), expected.has_value());
    if (target) {
      ++found_;
      ASSERT_EQ(target->gain, expected->gain);
      ASSERT_EQ(target->machine_gpus, expected->machine_gpus);
      std::vector<MachineId> machines;
      for (const auto& machine : target->machine_gpus) machines.push_back(machine.first);
      if (auto placed = occupancy_.fit(space_.jobs[position], machines)) {
        return occupancy_.take(std::move(*placed));
      }
    }
    if (!old.tasks.empty() && stays) occupancy_.take(old);
  }

  /// A chain that has moved the job asks for a target of another one: costs without the former are
  /// not those of the next chain.
  void ask_without(std::uint32_t moved, std::uint32_t position) {
    if (!space_.is_placed(moved)) return;
    kept_->start_chain();
    kept_->note_move(moved);
    const auto tasks = occupancy_.placed(space_.jobs[moved]).tasks;
    for (const model::TaskPlacement& t : tasks) (void)kept_->victims(t.machine, 1);
    (void)kept_->best(position, 1);
    for (const model::TaskPlacement& t : tasks) kept_->forget_costs(t.machine);
  }

  test::InstanceBuilder plan_ = test::mixed_instance(GetParam(), 160);
  planner_model::Valuation valuation_ = plan_.value();
  planner_model::Pools pools_ = plan_.pools();
  assignment::PoolIndex pool_index_{plan_.instance.cluster, pools_};
  assignment::OptionTable option_table_{valuation_, pool_index_, plan_.jobs};
  assignment::PoolMachines machines_{pool_index_, plan_.machines};
  std::vector<std::uint32_t> ranks_ = planner_model::precedence_ranks(valuation_, plan_.jobs);
  Occupancy occupancy_{valuation_, plan_.machines};
  std::vector<double> prices_;
  SearchSpace<Occupancy> space_{.state = occupancy_,
                                .option_table = option_table_,
                                .pool_index = pool_index_,
                                .machines = machines_,
                                .jobs = plan_.jobs,
                                .ranks = ranks_};
  std::optional<Targets> kept_;
  int found_ = 0;
};

TEST_P(KeptCosts, are_those_that_a_new_search_finds) {
  for (std::uint64_t step = 0; step < 1000; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    const auto job = [&](std::uint64_t what) {
      return static_cast<std::uint32_t>(draw(plan_.jobs.size(), step, what));
    };
    if (step % 3 == 2) ask_without(job(2), job(3));
    ASSERT_NO_FATAL_FAILURE(move(job(4), draw(20, step, 5) > 0));
  }
  EXPECT_GT(found_, 100);
}

INSTANTIATE_TEST_SUITE_P(Drawn, KeptCosts, testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace berth::solver::local_search
