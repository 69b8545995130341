# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program, headers, archives, and the files of find_package(berth) and
# pkg-config. No installed file names the source or build folder; the program finds PETSc by its run
# path.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY BERTH_LIBRARIES)  # bottom up
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/berth)
foreach(library IN LISTS libraries)
  set_target_properties(berth_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS berth_${library} EXPORT berthTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
set_target_properties(berth_flags PROPERTIES EXPORT_NAME flags)
install(TARGETS berth_flags EXPORT berthTargets)
install(EXPORT berthTargets NAMESPACE berth:: DESTINATION ${package_dir})

set_target_properties(berth PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS berth RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The program itself makes its manual page and its completion (berth help KIND).
function(install_made_by_berth kind path)
  get_filename_component(folder ${path} DIRECTORY)
  install(CODE "
    set(tree \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    file(MAKE_DIRECTORY \"\${tree}/${folder}\")
    execute_process(COMMAND \"\${tree}/${CMAKE_INSTALL_BINDIR}/berth\" help ${kind}
                    OUTPUT_FILE \"\${tree}/${path}\" RESULT_VARIABLE failed)
    if(failed)
      message(WARNING \"berth does not run here: without ${path}\")
      file(REMOVE \"\${tree}/${path}\")
    endif()")
endfunction()
install_made_by_berth(man ${CMAKE_INSTALL_MANDIR}/man1/berth.1)
install_made_by_berth(bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/berth)
install(FILES ${PROJECT_SOURCE_DIR}/src/python/berth.py DESTINATION ${CMAKE_INSTALL_DATADIR}/berth/python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/berth)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/berthConfig.cmake.in ${PROJECT_BINARY_DIR}/berthConfig.cmake
                              INSTALL_DESTINATION ${package_dir}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berthConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/berthConfig.cmake ${PROJECT_BINARY_DIR}/berthConfigVersion.cmake
              cmake/BerthPetsc.cmake DESTINATION ${package_dir})

# pkg-config reads from left to right: a library precedes those it uses. Only archives are
# installed, so their dependencies are listed for plain `pkg-config --libs` too.
set(pc_libs "")
foreach(library IN LISTS libraries)
  string(PREPEND pc_libs " -lberth_${library}")
endforeach()
pkg_check_modules(MPI_PC QUIET mpich)
if(MPI_PC_FOUND AND "${MPI_C_LIBRARIES}" MATCHES "libmpich")
  set(pc_mpi ", mpich")
else()  # an MPI without a .pc of that name: its wrapper mpicxx must compile and link
  set(pc_mpi "")
endif()
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/berth.pc.in ${PROJECT_BINARY_DIR}/berth.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/berth.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
