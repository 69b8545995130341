// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/blmvm.hpp"

#include "petsc/petsc.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "berth/base/assert.hpp"
// after petsc.hpp, which adapts PETSc's headers to C++
#include <petsctao.h>

namespace berth::solver {
namespace {

void require(PetscErrorCode code, const char* what) {
  if (code != 0) {
    throw std::runtime_error(std::string("PETSc: ") + what + " failed with code " +
                             std::to_string(static_cast<int>(code)));
  }
}

/// State of the callbacks during a solve: the best point, and the exception of the function, if
/// any.
struct Course {
  const SmoothFunction* evaluate = nullptr;
  StopToken stop = {};
  std::vector<double> best;
  double best_value = 0.0;
  int evaluations = 0;
  int patience = 0;
  double least_gain = 0.0;
  std::vector<double> lowest;  ///< after each iteration
  bool stopped = false;
  std::exception_ptr thrown;
};

PetscErrorCode call(Tao, Vec x, PetscReal* value, Vec gradient, void* context) {
  auto& course = *static_cast<Course*>(context);
  try {
    course.stopped = course.stop.requested();
  } catch (...) {
    course.thrown = std::current_exception();
  }
  if (course.stopped || course.thrown) return PETSC_ERR_USER;  // the only way to end a line search
  const PetscScalar* point = nullptr;
  PetscScalar* slope = nullptr;
  PetscInt size = 0;
  if (VecGetLocalSize(x, &size) != 0) return PETSC_ERR_ARG_WRONG;
  if (VecGetArrayRead(x, &point) != 0) return PETSC_ERR_ARG_WRONG;
  if (VecGetArray(gradient, &slope) != 0) return PETSC_ERR_ARG_WRONG;
  const auto n = static_cast<std::size_t>(size);
  try {
    *value = (*course.evaluate)(std::span(point, n), std::span(slope, n));
    if (course.evaluations++ == 0 || *value < course.best_value) {
      course.best_value = *value;
      course.best.assign(point, point + n);
    }
  } catch (...) {
    course.thrown = std::current_exception();
  }
  const bool restored =
      VecRestoreArray(gradient, &slope) == 0 && VecRestoreArrayRead(x, &point) == 0;
  return course.thrown || !restored ? PETSC_ERR_USER : 0;
}

/// Owns the PETSc objects of one solve.
struct Workspace {
  Vec x = nullptr, gradient = nullptr, lower = nullptr, upper = nullptr;
  Tao tao = nullptr;

  explicit Workspace(std::size_t size) {
    require(VecCreateSeq(PETSC_COMM_SELF, static_cast<PetscInt>(size), &x), "VecCreateSeq");
    require(VecDuplicate(x, &gradient), "VecDuplicate");
    require(VecDuplicate(x, &lower), "VecDuplicate");
    require(VecDuplicate(x, &upper), "VecDuplicate");
    require(TaoCreate(PETSC_COMM_SELF, &tao), "TaoCreate");
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    (void)TaoDestroy(&tao);
    for (Vec* v : {&x, &gradient, &lower, &upper}) (void)VecDestroy(v);
  }
};

void copy_in(std::span<const double> values, Vec vector) {
  PetscScalar* to = nullptr;
  require(VecGetArray(vector, &to), "VecGetArray");
  std::ranges::copy(values, to);
  require(VecRestoreArray(vector, &to), "VecRestoreArray");
}

/// PETSc offers an option for this and no function. Reading any option also makes its initial
/// curvature a diagonal: docs/decisions/0012.
void remember(Tao tao, int steps) {
  constexpr const char* kSteps = "-tao_blmvm_mat_lmvm_hist_size";
  require(PetscOptionsSetValue(nullptr, kSteps, std::to_string(steps).c_str()),
          "PetscOptionsSetValue");
  const PetscErrorCode code = TaoSetFromOptions(tao);
  require(PetscOptionsClearValue(nullptr, kSteps), "PetscOptionsClearValue");
  require(code, "TaoSetFromOptions");
}

/// Convergence test, once an iteration: also converged when `patience` iterations gained too
/// little.
PetscErrorCode test(Tao tao, void* context) {
  auto& course = *static_cast<Course*>(context);
  PetscCall(TaoDefaultConvergenceTest(tao, nullptr));
  if (course.patience == 0) return 0;
  course.lowest.push_back(course.best_value);
  const auto patience = static_cast<std::size_t>(course.patience);
  if (course.lowest.size() <= patience) return 0;
  const double before = course.lowest[course.lowest.size() - 1 - patience];
  if (before - course.best_value >= course.least_gain * std::abs(course.best_value)) return 0;
  TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
  PetscCall(TaoGetConvergedReason(tao, &reason));
  if (reason == TAO_CONTINUE_ITERATING) {
    PetscCall(TaoSetConvergedReason(tao, TAO_CONVERGED_USER));
  }
  return 0;
}

void set_up(const Workspace& w, std::span<const double> x, std::span<const double> upper,
            Course& course, const BlmvmOptions& options) {
  copy_in(x, w.x);
  copy_in(upper, w.upper);
  require(VecSet(w.lower, 0.0), "VecSet");
  require(TaoSetType(w.tao, TAOBLMVM), "TaoSetType");
  require(TaoSetSolution(w.tao, w.x), "TaoSetSolution");
  require(TaoSetVariableBounds(w.tao, w.lower, w.upper), "TaoSetVariableBounds");
  require(TaoSetObjectiveAndGradient(w.tao, w.gradient, call, &course),
          "TaoSetObjectiveAndGradient");
  if (options.memory > 0) remember(w.tao, options.memory);
  require(TaoSetConvergenceTest(w.tao, test, &course), "TaoSetConvergenceTest");
  require(TaoSetTolerances(w.tao, 0.0, options.gradient_tolerance, 0.0), "TaoSetTolerances");
  require(TaoSetMaximumIterations(w.tao, options.max_iterations), "TaoSetMaximumIterations");
  // at a kink a line search may try 30 points without gain
  require(TaoSetMaximumFunctionEvaluations(w.tao, 2 * options.max_iterations + 10),
          "TaoSetMaximumFunctionEvaluations");
}

}  // namespace

BlmvmResult minimise(std::span<double> x, std::span<const double> upper,
                     const SmoothFunction& evaluate, const BlmvmOptions& options,
                     const StopToken& stop) {
  BERTH_EXPECT(x.size() == upper.size());
  if (x.empty()) return {.value = evaluate(x, {}), .evaluations = 1};
  Course course{.evaluate = &evaluate,
                .stop = stop,
                .best = {},
                .patience = options.patience,
                .least_gain = options.least_gain,
                .lowest = {},
                .thrown = {}};
  const Workspace workspace(x.size());
  set_up(workspace, x, upper, course, options);
  const PetscErrorCode code = TaoSolve(workspace.tao);
  if (course.thrown) std::rethrow_exception(course.thrown);
  if (!course.stopped) require(code, "TaoSolve");

  BlmvmResult result{.value = course.best_value, .evaluations = course.evaluations};
  if (course.stopped) result.status = BlmvmStatus::stopped;
  std::ranges::copy(course.best, x.begin());
  if (course.stopped) return result;
  TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
  PetscInt iterations = 0;
  require(TaoGetConvergedReason(workspace.tao, &reason), "TaoGetConvergedReason");
  require(TaoGetIterationNumber(workspace.tao, &iterations), "TaoGetIterationNumber");
  result.iterations = static_cast<int>(iterations);
  if (reason == TAO_DIVERGED_MAXITS || reason == TAO_DIVERGED_MAXFCN) {
    result.status = BlmvmStatus::iteration_limit;
  } else if (reason < 0) {
    result.status = BlmvmStatus::numerical_trouble;
  }
  return result;
}

}  // namespace berth::solver
