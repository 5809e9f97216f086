//===- CheckDeps.h - Are these legal dependences? -------------------------===//
#ifndef TALLY_LIB_MODEL_CHECKDEPS_H
#define TALLY_LIB_MODEL_CHECKDEPS_H

#include "tally/Model/Kernel.h"

namespace tally::model {

/// The part of check() (Check.h) about the dependences of a kernel.
void checkDeps(const Kernel &kernel, Diagnostics &diagnostics);

} // namespace tally::model

#endif // TALLY_LIB_MODEL_CHECKDEPS_H
