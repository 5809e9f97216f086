//===- EmitReset.h - Counters go back to zero -----------------------------===//
#ifndef TALLY_LIB_LOWER_EMITRESET_H
#define TALLY_LIB_LOWER_EMITRESET_H

#include "CounterDemand.h"
#include "ValueWriter.h"

namespace tally {

/// What an engine does at the start of an iteration that has a reset point: before the first that
/// might not fit, it meets the others, and sets back everything that it has counted.
void emitReset(const EmitContext &context, const CounterDemand &counters, KnownExprs &known,
               const ResetSite &site, EngineId engine, ValueWriter &writer);

} // namespace tally

#endif // TALLY_LIB_LOWER_EMITRESET_H
