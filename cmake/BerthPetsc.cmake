# SPDX-License-Identifier: Apache-2.0
# PETSc built on the MPI that was found. Two MPIs in one program do not work, so a mismatch stops here.
if(NOT PETSC_DIR)
  unset(PETSC_DIR CACHE)  # an earlier run did not find it; the environment may name it now
endif()
set(PETSC_DIR "$ENV{PETSC_DIR}" CACHE PATH "PETSc installation built on the MPI in use")
set(PETSC_ARCH "$ENV{PETSC_ARCH}" CACHE STRING "PETSC_ARCH of an in-place PETSc build, else empty")
if(NOT PETSC_DIR)
  message(FATAL_ERROR "PETSC_DIR is not set. Run scripts/petsc once: it builds PETSc on MPICH into "
                      "a cache folder and prints the path. scripts/demo and scripts/test do it for you.")
endif()
find_path(PETSC_CONF_DIR petscconf.h HINTS ${PETSC_DIR}/${PETSC_ARCH}/include ${PETSC_DIR}/include
          NO_DEFAULT_PATH)
find_library(PETSC_LIBRARY NAMES petsc petsc_real HINTS ${PETSC_DIR}/${PETSC_ARCH}/lib
             ${PETSC_DIR}/lib NO_DEFAULT_PATH)
if(NOT PETSC_CONF_DIR OR NOT PETSC_LIBRARY)
  message(FATAL_ERROR "No PETSc in PETSC_DIR=${PETSC_DIR} (petscconf.h or libpetsc missing). "
                      "Unset it to let scripts/petsc build one.")
endif()

# PETSc's headers compare their MPI with mpi.h and refuse to compile when the two differ; the probe
# below reports that, and a libpetsc linked to another libmpi, in one clear message.
set(probe ${PROJECT_BINARY_DIR}/petsc_probe.c)
file(WRITE ${probe} [=[
#include <petscsys.h>
int main(void) { return PETSC_VERSION_GE(3, 18, 0) ? 0 : 1; }
]=])
try_compile(BERTH_PETSC_MPI_OK ${PROJECT_BINARY_DIR}/petsc_probe ${probe}
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PETSC_DIR}/include;${PETSC_CONF_DIR};${MPI_C_INCLUDE_DIRS}"
            LINK_LIBRARIES ${PETSC_LIBRARY} ${MPI_C_LIBRARIES} OUTPUT_VARIABLE probe_output)
execute_process(COMMAND ldd ${PETSC_LIBRARY} OUTPUT_VARIABLE petsc_needs ERROR_QUIET)
string(REGEX MATCHALL "libmpi[a-z]*\\.so[.0-9]*" petsc_mpi "${petsc_needs}")
set(found_mpi "")
foreach(library IN LISTS MPI_C_LIBRARIES)
  file(REAL_PATH "${library}" real)
  get_filename_component(name "${real}" NAME)
  string(REGEX REPLACE "\\.so.*" "" name "${name}")
  list(APPEND found_mpi ${name})
endforeach()
set(first_mpi "an MPI it does not name")  # a static libpetsc: only the probe can decide
set(same_mpi TRUE)
if(petsc_mpi)
  list(GET petsc_mpi 0 first_mpi)
  string(REGEX REPLACE "\\.so.*" "" first_mpi "${first_mpi}")
  if(NOT first_mpi IN_LIST found_mpi)
    set(same_mpi FALSE)
  endif()
endif()
if(NOT BERTH_PETSC_MPI_OK OR NOT same_mpi)
  message(FATAL_ERROR "PETSc in ${PETSC_DIR} uses '${petsc_mpi}', but the MPI found is "
                      "'${MPI_C_LIBRARIES}'. Build PETSc on this MPI (unset PETSC_DIR and run "
                      "scripts/petsc), or set MPI_HOME to PETSc's MPI.\n${probe_output}")
endif()

add_library(berth_petsc INTERFACE IMPORTED)
target_include_directories(berth_petsc SYSTEM INTERFACE ${PETSC_DIR}/include ${PETSC_CONF_DIR})
target_link_libraries(berth_petsc INTERFACE ${PETSC_LIBRARY} MPI::MPI_C)
message(STATUS "PETSc: ${PETSC_LIBRARY} on ${first_mpi}")
