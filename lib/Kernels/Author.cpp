//===- Author.cpp - Writing kernels in C++ --------------------------------===//

#include "tally/Kernels/Author.h"

#include "tally/Model/AccessText.h"
#include "tally/Model/Check.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

void KernelAuthor::buffer(std::string_view name, std::initializer_list<uint64_t> shape,
                          std::string_view space, std::string_view elementType) {
  builder.buffer(name, std::vector<uint64_t>(shape), space, elementType);
}

InstrId KernelAuthor::op(QueueId queue, std::string_view name, std::string_view operation,
                         const Tiles &tiles) {
  InstrId id = builder.instr(name, queue, operation);
  builder.computes(tiles.computes);
  touch(AccessKind::Read, tiles.reads, name);
  touch(AccessKind::Write, tiles.writes, name);
  touch(AccessKind::Accumulate, tiles.accumulates, name);
  return id;
}

InstrId KernelAuthor::copy(QueueId queue, std::string_view name, uint64_t bytes,
                           const std::string &from, const std::string &to,
                           std::string_view operation) {
  return op(queue, name, fmt::format("{}(bytes={})", operation, bytes),
            {.reads = {from}, .writes = {to}, .computes = "r0"});
}

void KernelAuthor::touch(AccessKind kind, const std::vector<std::string> &tiles,
                         std::string_view instr) {
  for (const std::string &text : tiles) {
    std::string error;
    std::optional<ParsedAccess> tile = parseAccess(text, error);
    if (!tile) {
      errors.push_back(fmt::format("tile '{}' of '{}': {}", text, instr, error));
      continue;
    }
    NameId name = builder.peek().strings.find(tile->buffer);
    const std::vector<Buffer> &buffers = builder.peek().buffers.raw();
    auto buffer = std::ranges::find(buffers, name, &Buffer::name);
    if (!name.valid() || buffer == buffers.end()) {
      errors.push_back(fmt::format("tile '{}' of '{}': there is no buffer '{}'; declare it before",
                                   text, instr, tile->buffer));
      continue;
    }
    BufferId id(static_cast<uint32_t>(buffer - buffers.begin()));
    builder.access(kind, id, toString(*tile));
  }
}

std::optional<Kernel> KernelAuthor::finish(Diagnostics &diagnostics) {
  Kernel kernel = builder.finish();
  for (const std::string &error : errors) {
    diagnostics.error(kernel.where, error);
  }
  check(kernel, diagnostics);
  return diagnostics.hasErrors() ? std::nullopt : std::optional(std::move(kernel));
}

} // namespace tally
