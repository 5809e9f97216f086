//===- CodeStrategy.h - The names that code may give of its making --------===//
//
// Code says by which strategy it was made. What is written by hand says 'manual', what is made for
// a comparison 'ideal'; all others are those of the compiler. A name that is none of these is a
// slip of the pen, and would be shown in every table.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CODE_CODESTRATEGY_H
#define TALLY_CODE_CODESTRATEGY_H

#include <string>
#include <string_view>

namespace tally {

/// The error on a name that is no strategy, with those that are; empty if it is one.
std::string unknownCodeStrategy(std::string_view name);

} // namespace tally

#endif // TALLY_CODE_CODESTRATEGY_H
