// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "berth/solver/petsc_session.hpp"

namespace berth::test {

/// One PETSc session for all tests of a suite. At most one such suite a program: TAO cannot be
/// started twice.
template <class Test = testing::Test>
class WithPetsc : public Test {
 protected:
  static void SetUpTestSuite() { petsc = std::make_unique<solver::PetscSession>(); }
  static void TearDownTestSuite() { petsc.reset(); }
  static inline std::unique_ptr<solver::PetscSession> petsc;
};

}  // namespace berth::test
