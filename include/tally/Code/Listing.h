//===- Listing.h - Code as a person reads it ------------------------------===//
//
//   engine act: 2 registers
//        [r0 := 0]                                    total(A)
//        loop A:
//          [r0 += 1]
//          [r1 := 2*r0]
//     {A.dma >= r1}
//          scale  {A.act++}                           'load' -> 'scale'
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CODE_LISTING_H
#define TALLY_CODE_LISTING_H

#include "tally/Code/Code.h"

#include <string>

namespace tally {

struct ListingOptions {
  bool expandBarriers = false; ///< their operations instead of one SYNC line
};

/// The code of one engine.
std::string listing(const Kernel &kernel, const Code &code, EngineId engine,
                    const ListingOptions &options = {});

/// The code of all engines, one after the other.
std::string listing(const Kernel &kernel, const Code &code, const ListingOptions &options = {});

} // namespace tally

#endif // TALLY_CODE_LISTING_H
