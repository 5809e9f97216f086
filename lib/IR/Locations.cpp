//===- Locations.cpp - Places and messages, between MLIR and the core -----===//
#include "tally/IR/Load.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <fmt/format.h>

namespace tally::ir {

void FileTable::startKernel(KernelBuilder &newBuilder) {
  builder = &newBuilder;
  for (mlir::StringAttr file : files) {
    builder->file(std::string_view(file.getValue()));
  }
}

Location FileTable::where(mlir::Operation *op) {
  mlir::Location location = op->getLoc();
  auto position = mlir::dyn_cast<mlir::FileLineColRange>(location);
  if (!position) {
    position = location->findInstanceOf<mlir::FileLineColRange>();
  }
  if (!position) {
    return {};
  }
  if (mlir::StringAttr file = position.getFilename(); file != lastFile) {
    auto [entry, isNew] = numbers.try_emplace(file, 0);
    if (isNew) {
      entry->second = builder->file(std::string_view(file.getValue()));
      files.push_back(file);
    }
    lastFile = file;
    lastNumber = entry->second;
  }
  return {lastNumber, position.getStartLine(), position.getStartColumn()};
}

mlir::Location toMlir(mlir::MLIRContext *context, const Kernel &kernel, Location where) {
  if (!where.known() || where.file >= kernel.files.size()) {
    return mlir::UnknownLoc::get(context);
  }
  return mlir::FileLineColLoc::get(context, kernel.files[where.file], where.line, where.column);
}

static mlir::DiagnosticSeverity toMlir(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return mlir::DiagnosticSeverity::Error;
  case Severity::Warning:
    return mlir::DiagnosticSeverity::Warning;
  case Severity::Remark:
    return mlir::DiagnosticSeverity::Remark;
  }
  return mlir::DiagnosticSeverity::Error;
}

void emit(const Kernel &kernel, const Diagnostics &diagnostics, mlir::MLIRContext *context) {
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    mlir::Location where = toMlir(context, kernel, diagnostic.where);
    mlir::InFlightDiagnostic sent =
        context->getDiagEngine().emit(where, toMlir(diagnostic.severity));
    sent << diagnostic.message;
    for (const DiagnosticNote &note : diagnostic.notes) {
      sent.attachNote(toMlir(context, kernel, note.where)) << note.message;
    }
  }
}

/// The allowed name with the smallest edit distance, if that is small.
static std::string_view nearestName(std::string_view name,
                                    const std::vector<std::string_view> &allowed) {
  std::string_view nearest;
  unsigned best = static_cast<unsigned>(name.size() / 3) + 2;
  for (std::string_view candidate : allowed) {
    unsigned distance = llvm::StringRef(name).edit_distance(llvm::StringRef(candidate), true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string unknownName(std::string_view kind, std::string_view plural, std::string_view name,
                        const std::vector<std::string_view> &allowed, uint32_t &effort) {
  std::string message = fmt::format("unknown {} '{}'", kind, name);
  if (allowed.empty() && effort != 0) {
    return fmt::format("{}; there are no {}", message, plural);
  }
  constexpr size_t fewNames = 8;
  if (!allowed.empty() && allowed.size() <= fewNames) {
    return fmt::format("{}; the {} are '{}'", message, plural, fmt::join(allowed, "', '"));
  }
  if (effort == 0) {
    return message;
  }
  --effort;
  std::string_view nearest = nearestName(name, allowed);
  return nearest.empty() ? message : fmt::format("{}; did you mean '{}'?", message, nearest);
}

} // namespace tally::ir
