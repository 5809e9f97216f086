//===- Source.h - Where statements say that they come from ----------------===//
//
// A statement may name a place outside of the text that the kernel was read from, as a line of the
// program that wrote it. Outputs show that place wherever they show the statement; a place in the
// kernel's own text is shown by messages, and by pages, which are read without that text.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_SOURCE_H
#define TALLY_MODEL_SOURCE_H

#include "tally/Model/Kernel.h"

namespace tally {

/// `k.py:12:5`, with something in front of it; empty unless it is a place elsewhere.
std::string sourceText(const Kernel &kernel, Location where, std::string_view before = {});

/// `k.mlir:12:5`, wherever it is; empty if it is not known.
std::string anyPlaceText(const Kernel &kernel, Location where);

/// `{"file":"k.py","line":12,"column":5}`; empty unless it is a place elsewhere.
std::string sourceJson(const Kernel &kernel, Location where);

/// `'load'`; `'load' (k.py:12:5)`, if it comes from elsewhere.
std::string nameWithSource(const Kernel &kernel, InstrId instr);

} // namespace tally

#endif // TALLY_MODEL_SOURCE_H
