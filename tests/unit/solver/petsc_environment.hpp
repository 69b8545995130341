// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <gtest/gtest.h>

#include "berth/solver/petsc_session.hpp"

namespace berth::test {

/// Keeps PETSc up for all tests of a program: MPI starts once.
class PetscEnvironment : public testing::Environment {
 public:
  void SetUp() override { session_.emplace(); }
  void TearDown() override { session_.reset(); }

 private:
  std::optional<solver::PetscSession> session_;
};

inline const testing::Environment* const kPetsc =
    testing::AddGlobalTestEnvironment(new PetscEnvironment);

}  // namespace berth::test
