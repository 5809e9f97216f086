//===- ProgramWriter.h - Code of engines, for a target --------------------===//
#ifndef TALLY_LIB_EXEC_PROGRAMWRITER_H
#define TALLY_LIB_EXEC_PROGRAMWRITER_H

#include "Subject.h"

namespace tally::exec {

/// Writes every instruction that does something, and then every engine.
void writeProgram(const Subject &subject, Target &target);

} // namespace tally::exec

#endif // TALLY_LIB_EXEC_PROGRAMWRITER_H
