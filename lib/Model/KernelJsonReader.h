//===- KernelJsonReader.h - A kernel inside a larger document -------------===//
#ifndef TALLY_LIB_MODEL_KERNELJSONREADER_H
#define TALLY_LIB_MODEL_KERNELJSONREADER_H

#include "../Support/StrictJson.h"
#include "tally/Model/Kernel.h"

namespace tally {

/// The kernel described by `document`; not to be used if `errors` grew.
Kernel readKernelJson(const JsonAt &document, std::string_view fileName);

/// The kernel as JSON without the final line feed, `indent` blanks to the right.
std::string kernelJson(const Kernel &kernel, unsigned indent);

} // namespace tally

#endif // TALLY_LIB_MODEL_KERNELJSONREADER_H
