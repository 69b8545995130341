// SPDX-License-Identifier: Apache-2.0
// Without MPI and without PETSc the library says what is missing, and who makes it.
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"
#include "berth/generate/generate.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/pipeline/plan_horizon.hpp"

namespace berth {
namespace {

template <class Call>
std::string fault(const Call& call) {
  try {
    call();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(WithoutSession, a_plan_asks_for_petsc) {
  const model::Instance instance = generate::generate_hetero({.gpus = 64, .seed = 1});
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  EXPECT_THAT(fault([&] {
                pipeline::plan_cluster(comm::Communicator::serial(), instance, {}, silent);
              }),
              testing::AllOf(testing::HasSubstr("PetscSession"), testing::HasSubstr("berth::plan")));
  EXPECT_THAT(fault([&] { pipeline::plan_horizon(instance, {}, silent); }),
              testing::HasSubstr("PetscSession"));
}

TEST(WithoutSession, a_world_asks_for_mpi) {
  EXPECT_THAT(fault([] { comm::Communicator::world(); }),
              testing::AllOf(testing::HasSubstr("Environment"), testing::HasSubstr("berth::plan")));
}

}  // namespace
}  // namespace berth
