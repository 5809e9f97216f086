//===- Source.cpp - Where statements say that they come from --------------===//

#include "tally/Model/Source.h"

#include "tally/Support/Places.h"

#include <fmt/format.h>

namespace tally {

static bool isElsewhere(const Kernel &kernel, Location where) {
  return where.known() && where.file != 0 && where.file < kernel.files.size();
}

std::string sourceText(const Kernel &kernel, Location where, std::string_view before) {
  return isElsewhere(kernel, where) ? std::string(before) + placeText(where, kernel.files) : "";
}

std::string anyPlaceText(const Kernel &kernel, Location where) {
  return where.known() ? placeText(where, kernel.files) : "";
}

std::string sourceJson(const Kernel &kernel, Location where) {
  return isElsewhere(kernel, where) ? placeJson(where, kernel.files) : "";
}

std::string nameWithSource(const Kernel &kernel, InstrId instr) {
  std::string source = sourceText(kernel, kernel.instrs[instr].where);
  return source.empty() ? fmt::format("'{}'", kernel.nameOf(instr))
                        : fmt::format("'{}' ({})", kernel.nameOf(instr), source);
}

} // namespace tally
