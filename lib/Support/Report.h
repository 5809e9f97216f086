//===- Report.h - Errors and notes with values in them --------------------===//
#ifndef TALLY_LIB_SUPPORT_REPORT_H
#define TALLY_LIB_SUPPORT_REPORT_H

#include "tally/Support/Diagnostics.h"

#include <fmt/format.h>

namespace tally {

template <typename... Args>
Diagnostic &report(Diagnostics &diagnostics, Location where, fmt::format_string<Args...> format,
                   Args &&...args) {
  return diagnostics.error(where, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace tally

#endif // TALLY_LIB_SUPPORT_REPORT_H
