# Finds LLVM and MLIR 22, and the way to build against them. Each directory that needs
# MLIR includes this: imported targets are visible only from there downwards.
include_guard(DIRECTORY)

# An exact version is asked for by hand: MLIR's own version file wants major and minor.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "tally needs MLIR 22, found ${LLVM_VERSION}; "
                      "set MLIR_DIR to the directory of MLIRConfig.cmake of version 22")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# MLIR's headers, and the code that mlir-tblgen writes for us, are not ours to warn about.
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS}
                    ${PROJECT_BINARY_DIR}/include)
separate_arguments(TALLY_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${TALLY_LLVM_DEFINITIONS})

# tally_mlir_library(Name SOURCES ... LINK ...): a tally library that uses the dialect.
function(tally_mlir_library name)
  tally_library(${name} ${ARGN})
  add_dependencies(tally_${name} TallyIncGen)
endfunction()

# tally_mlir_tool(name SOURCES ... LINK ...): an executable in <build>/bin.
function(tally_mlir_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  add_dependencies(${name} TallyIncGen)
  target_compile_options(${name} PRIVATE ${TALLY_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
