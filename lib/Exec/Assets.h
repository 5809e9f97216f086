//===- Assets.h - Headers as text -----------------------------------------===//
//
// CMake makes Assets.cpp of lib/Data/Arithmetic.h, tally/Support/Mix.h, Counters.h and
// Runtime.h.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_EXEC_ASSETS_H
#define TALLY_LIB_EXEC_ASSETS_H

#include <string_view>

namespace tally::exec::assets {

extern const std::string_view arithmetic;
extern const std::string_view mix;
extern const std::string_view counters;
extern const std::string_view runtime;

} // namespace tally::exec::assets

#endif // TALLY_LIB_EXEC_ASSETS_H
