//===- Library.h - What made code calls -----------------------------------===//
//
// The functions that a module of LlvmTarget leaves to the process: arithmetic, which is that of
// Data, and whatever blocks or ends a thread.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_NATIVE_LIBRARY_H
#define TALLY_LIB_NATIVE_LIBRARY_H

#include <string>
#include <string_view>
#include <vector>

namespace tally::native {

/// A byte, as an i8; not 0 when all threads are to end.
inline constexpr std::string_view stoppedSymbol = "tally_stopped";

struct LibraryFunction {
  std::string symbol;
  void *address;
};

std::vector<LibraryFunction> library();

/// Whether the result of a function follows from its arguments alone, and nothing else happens.
bool isArithmetic(std::string_view name);

} // namespace tally::native

#endif // TALLY_LIB_NATIVE_LIBRARY_H
