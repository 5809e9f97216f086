# Warnings and sanitizers of our own code, and the one way to add a library.

add_library(tally_flags INTERFACE)
target_include_directories(tally_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(TALLY_WARNINGS -Wall -Wextra -Wpedantic)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees an overlap in `"x" + std::to_string(n)` that cannot be (GCC bug 105651).
  list(APPEND TALLY_WARNINGS -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 uses what C++17 deprecates; clang blames the caller.
  list(APPEND TALLY_WARNINGS -Wno-deprecated-declarations)
endif()
if(TALLY_WERROR)
  list(APPEND TALLY_WARNINGS -Werror)
endif()
option(TALLY_LIBFUZZER "Build the libFuzzer targets in fuzz/targets, all with sanitizers (clang)" OFF)
if(TALLY_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TALLY_LIBFUZZER needs clang: -DCMAKE_CXX_COMPILER=clang++-22")
  endif()
  set(TALLY_SANITIZE ON)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(TALLY_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# tally_library(Name SOURCES a.cpp ... LINK lib ...): the static library tally_<Name>,
# exported as tally::<Name>.
function(tally_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(tally_${name} STATIC ${ARG_SOURCES})
  add_library(tally::${name} ALIAS tally_${name})
  set_target_properties(tally_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_options(tally_${name} PRIVATE ${TALLY_WARNINGS})
  target_compile_features(tally_${name} PUBLIC cxx_std_20)
  target_link_libraries(tally_${name} PUBLIC tally_flags ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
  set_property(GLOBAL APPEND PROPERTY TALLY_LIBRARIES tally_${name})
endfunction()
