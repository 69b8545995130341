// SPDX-License-Identifier: Apache-2.0
#pragma once

// A PETSc configured without a C++ compiler does not define these macros for C++.
#include <petscconf.h>
#ifndef PETSC_FUNCTION_NAME_CXX
#define PETSC_FUNCTION_NAME_CXX __func__
#endif
#ifndef PETSC_CXX_RESTRICT
#define PETSC_CXX_RESTRICT __restrict__
#endif

#include <petscmat.h>
#include <petscsys.h>
