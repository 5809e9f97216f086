//===- RandomCode.h - Well-formed code that no strategy makes -------------===//
//
// Code for a kernel in which every form of operation occurs: registers read before they are
// written, or written and never read; native counters that the body overwrites; numbers at the
// edges of 32 bits; barriers around loops. It synchronises nothing, but verifyCode()
// accepts it, so whatever translates code has to keep it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_UNITTESTS_TRANSFORMS_RANDOMCODE_H
#define TALLY_UNITTESTS_TRANSFORMS_RANDOMCODE_H

#include "tally/Code/Code.h"

namespace tally::oracle {

/// The code of this seed.
Code randomCode(const Kernel &kernel, uint64_t seed);

} // namespace tally::oracle

#endif // TALLY_UNITTESTS_TRANSFORMS_RANDOMCODE_H
