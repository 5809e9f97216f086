//===- Standing.h - Where operations stand ---------------------------------===//
#ifndef TALLY_TOOLS_TALLY_STANDING_H
#define TALLY_TOOLS_TALLY_STANDING_H

#include "tally/Code/Code.h"

#include <string>
#include <string_view>
#include <vector>

namespace tally::tool {

/// In which body each operation of an engine stands, and whether it is part of a barrier.
struct Standing {
  LoopId body;
  bool inBarrier = false;

  bool operator==(const Standing &) const = default;
};

std::vector<Standing> standingsOn(const Kernel &kernel, const std::vector<Op> &ops);

/// `a barrier in 'n'`, or `a wait` outside of loops.
std::string standingText(const Kernel &kernel, Standing standing, std::string_view what);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_STANDING_H
