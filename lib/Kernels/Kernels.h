//===- Kernels.h - One function for each kernel ---------------------------===//
#ifndef TALLY_LIB_KERNELS_KERNELS_H
#define TALLY_LIB_KERNELS_KERNELS_H

#include "tally/Kernels/Author.h"
#include "tally/Kernels/Catalogue.h"

namespace tally::kernels {

WrittenKernel addManyLoop(KernelSize size);
WrittenKernel adamw(KernelSize size);
WrittenKernel flashAttention(KernelSize size);
WrittenKernel rmsnorm(KernelSize size);
WrittenKernel matmul(KernelSize size);
WrittenKernel matmulKUnrolled(KernelSize size);

/// Tokens, each sent to two experts.
WrittenKernel moe(std::string_view name, uint32_t tokens, uint32_t experts, KernelSize size);

/// A transfer that GpSimd starts, which has no hardware that makes descriptors.
inline constexpr std::string_view softwareCopy = "dma_copy.software";

/// The kernel, which is legal as it is written.
WrittenKernel finished(KernelAuthor &author, std::vector<std::string> trips = {},
                       std::vector<Contents> contents = {});

} // namespace tally::kernels

#endif // TALLY_LIB_KERNELS_KERNELS_H
