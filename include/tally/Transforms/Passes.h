//===- Passes.h - The compiler as passes ----------------------------------===//
//
//   --tally-normalize
//       writes each kernel again as the core understands it: tiles in canonical form,
//       engines first, dependences last, no zero distances
//   --tally-sync="strategy=auto machine=trn2"
//       compiles every kernel of the module and puts its code next to it
//   --tally-to-scf
//       replaces code by one function per engine in scf and arith
//
// All are thin: they load, let the core work, and store. The `tally` command offers more, with
// better words; passes are for pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TRANSFORMS_PASSES_H
#define TALLY_TRANSFORMS_PASSES_H

#include "mlir/IR/DialectRegistry.h"

namespace tally {

/// Makes the passes known by name.
void registerPasses();

/// The dialect, and those that its passes produce.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tally

#endif // TALLY_TRANSFORMS_PASSES_H
