//===- ReadFile.h - Files that are read whole, up to a limit --------------===//
//
// All input comes in by this way: a file, a pipe, a device or stdin, which may go on forever. At
// most one byte more than the limit is read.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_READFILE_H
#define TALLY_SUPPORT_READFILE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace tally {

/// What is read, and how much of it there may be.
struct InputKind {
  std::string_view name; ///< in errors: "..., the limit of kernels and code"
  size_t maxBytes;
  std::string_view wayOut;
};

inline constexpr InputKind kernelInput{"kernels and code", size_t(1) << 30,
                                       "put each kernel into a file of its own"};
inline constexpr InputKind machineInput{"a machine description", size_t(16) << 20,
                                        "leave out facts that no command needs"};
inline constexpr InputKind scheduleInput{"a schedule", size_t(16) << 20,
                                         "a run with fewer trips has a shorter one"};

inline constexpr InputKind traceInput{"a trace", size_t(1) << 30,
                                      "a run with fewer trips has a shorter one"};

struct FileText {
  std::string text;
  std::string problem; ///< why it cannot be read; empty: `text` is all of it
};

/// All of a file, or of stdin for "-".
FileText readFile(const std::string &path, const InputKind &kind);

/// Whether this program has read the file, by whatever name.
bool wasRead(const std::string &path);

} // namespace tally

#endif // TALLY_SUPPORT_READFILE_H
