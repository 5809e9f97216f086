//===- InstrWriter.h - What an instruction computes, for a target ---------===//
#ifndef TALLY_LIB_EXEC_INSTRWRITER_H
#define TALLY_LIB_EXEC_INSTRWRITER_H

#include "Subject.h"

namespace tally::exec {

/// Writes one instruction, from beginInstr() to endInstr().
void writeInstr(const Subject &subject, Target &target, InstrId id);

/// The value of an expression of a tile or a formula; none: no value. Counts come from `target`.
Value writeIndex(const BodyTile &tile, TileExprId id, const Kernel &kernel, Target &target);

} // namespace tally::exec

#endif // TALLY_LIB_EXEC_INSTRWRITER_H
