//===- Catalogue.h - The kernels that come with tally ---------------------===//
//
// Kernels as they run on a Trainium core, written with Author.h: what is loaded, computed and
// stored by which engine, in which tiles, and which run of which instruction needs which other.
// Each comes in two sizes of the same structure: `paper`, as published, and `small`, for tests.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_KERNELS_CATALOGUE_H
#define TALLY_KERNELS_CATALOGUE_H

#include "tally/Data/Inputs.h"
#include "tally/Model/Kernel.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

enum class KernelSize : uint8_t { Small, Paper };

/// A kernel, and the run-time values of one run of it.
struct WrittenKernel {
  Kernel kernel;
  std::vector<std::string> trips; ///< as `--trips` options; empty if all trips are constant
  std::vector<Contents> contents =
      {}; ///< of buffers, when it starts; others as initialMemory() says
};

struct CatalogueEntry {
  std::string_view name;
  std::string_view summary;
  WrittenKernel (*write)(KernelSize size);
};

/// All kernels, in a fixed order.
std::span<const CatalogueEntry> catalogue();

/// The kernel of this name; null if there is none.
const CatalogueEntry *findKernel(std::string_view name);

} // namespace tally

#endif // TALLY_KERNELS_CATALOGUE_H
