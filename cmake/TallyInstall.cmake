# What `cmake --install` leaves behind, and what find_package(tally) finds in it.
#
#   include/tally/       headers; those of IR, Native and Transforms only when MLIR is enabled
#   lib/                 static libraries
#   share/tally/machines machine descriptions
#   share/tally/editors  colours for editors
#   share/man, share/bash-completion, share/zsh
#                        manual pages and completion of `tally` and `tally-nki`
#   lib/cmake/tally      targets: tally::core, tally::Support, tally::Model, ...; with the
#                        component MLIR also tally::IR, tally::Native and tally::Transforms
#
# Tools install themselves, where they are defined. The core and the MLIR part are two export
# sets, so that a user of the core needs no MLIR even where the whole project is installed.
include(CMakePackageConfigHelpers)

get_property(TALLY_CORE_LIBRARIES GLOBAL PROPERTY TALLY_LIBRARIES)
set(TALLY_MLIR_LIBRARIES "")
foreach(library tally_Native tally_IR tally_Transforms)
  if(TARGET ${library})
    list(APPEND TALLY_MLIR_LIBRARIES ${library})
    list(REMOVE_ITEM TALLY_CORE_LIBRARIES ${library})
  endif()
endforeach()
set(TALLY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tally)

# tally::core: everything that needs no MLIR.
add_library(tally_core INTERFACE)
add_library(tally::core ALIAS tally_core)
target_link_libraries(tally_core INTERFACE ${TALLY_CORE_LIBRARIES})
set_target_properties(tally_core PROPERTIES EXPORT_NAME core)
set_target_properties(tally_flags PROPERTIES EXPORT_NAME flags)

# nlohmann-json is header-only and stays inside our .cpp files: without this, CMake would ask
# every user of the static libraries for it.
foreach(library ${TALLY_CORE_LIBRARIES})
  get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
  list(REMOVE_ITEM links "$<LINK_ONLY:nlohmann_json::nlohmann_json>")
  set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
endforeach()

install(TARGETS tally_flags tally_core ${TALLY_CORE_LIBRARIES} EXPORT tallyTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tallyTargets NAMESPACE tally:: DESTINATION ${TALLY_CMAKE_DIR})
# Headers that only our own libraries share are no interface for others.
set(shared_only)
foreach(header
    Code/ControlCost Code/Limits Deps/Denied Deps/Find Lower/KeptWaits Lower/WaitCosts
    Model/ComputeText Model/Nest Model/NeverRuns Model/Ranges Model/Values Run/KernelCursor
    Support/FloorDiv Support/Mix Support/SortByNumber)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/include/tally/${header}.h)
    message(FATAL_ERROR "include/tally/${header}.h is not there; remove it from the list of "
                        "headers that are not installed")
  endif()
  list(APPEND shared_only REGEX "/${header}\\.h$" EXCLUDE)
endforeach()
install(DIRECTORY include/tally DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h"
  PATTERN IR EXCLUDE
  PATTERN Native EXCLUDE
  PATTERN Transforms EXCLUDE
  ${shared_only})
install(DIRECTORY machines/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tally/machines
  FILES_MATCHING PATTERN "*.json")

install(DIRECTORY editors/vscode DESTINATION ${CMAKE_INSTALL_DATADIR}/tally/editors
  PATTERN test EXCLUDE PATTERN node_modules EXCLUDE)

# The Python package stands beside the machines; the program finds it from where it is.
install(PROGRAMS python/tally-nki DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY python/tally DESTINATION ${CMAKE_INSTALL_DATADIR}/tally/python
  FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
# What shells know about it, made of its definitions of options.
install(CODE "
  set(program \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/tally-nki\")
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  set(manual \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/TallyNkiShell.cmake\")")

if(TALLY_MLIR_LIBRARIES)
  install(TARGETS ${TALLY_MLIR_LIBRARIES} EXPORT tallyMLIRTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tallyMLIRTargets NAMESPACE tally:: DESTINATION ${TALLY_CMAKE_DIR})
  # The second folder holds what TableGen made.
  install(DIRECTORY include/tally/IR include/tally/Native include/tally/Transforms
    ${CMAKE_BINARY_DIR}/include/tally/IR
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tally OPTIONAL
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc")
endif()

configure_package_config_file(cmake/tallyConfig.cmake.in
  ${CMAKE_BINARY_DIR}/tallyConfig.cmake INSTALL_DESTINATION ${TALLY_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tallyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tallyConfig.cmake ${CMAKE_BINARY_DIR}/tallyConfigVersion.cmake
  DESTINATION ${TALLY_CMAKE_DIR})
# Messages and --help name documents as they stand in the repository.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tally)
install(DIRECTORY docs kernels examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tally)
