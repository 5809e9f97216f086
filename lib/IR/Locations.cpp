//===- Locations.cpp - Places and messages, between MLIR and the core -----===//
#include "tally/IR/Load.h"

#include "tally/Support/Printable.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <fmt/format.h>

namespace tally::ir {

void FileTable::startKernel(written::KernelResolver &newResolver) {
  resolver = &newResolver;
  for (mlir::StringAttr file : files) {
    resolver->file(std::string_view(file.getValue()));
  }
}

void FileTable::endKernel(mlir::MLIRContext *context) {
  for (size_t i = files.size(); i < resolver->files().size(); ++i) {
    files.push_back(mlir::StringAttr::get(context, resolver->files()[i]));
    numbers.try_emplace(files.back(), static_cast<uint32_t>(i));
  }
  resolver = nullptr;
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
    if (isNew && resolver) {
      entry->second = resolver->file(std::string_view(file.getValue()));
    } else if (isNew) {
      entry->second = static_cast<uint32_t>(files.size());
      files.push_back(file);
    }
    lastFile = file;
    lastNumber = entry->second;
  }
  return {lastNumber, position.getStartLine(), position.getStartColumn()};
}

mlir::Location toMlir(mlir::MLIRContext *context, const std::vector<std::string> &files,
                      Location where) {
  if (!where.known() || where.file >= files.size()) {
    return mlir::UnknownLoc::get(context);
  }
  return mlir::FileLineColLoc::get(context, files[where.file], where.line, where.column);
}

void emit(const std::vector<std::string> &files, const Diagnostics &diagnostics,
          mlir::MLIRContext *context) {
  using enum mlir::DiagnosticSeverity;
  constexpr mlir::DiagnosticSeverity severities[] = {Error, Warning, Remark};
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    mlir::InFlightDiagnostic sent =
        context->getDiagEngine().emit(toMlir(context, files, diagnostic.where),
                                      severities[static_cast<size_t>(diagnostic.severity)]);
    sent << printable(diagnostic.message);
    for (const DiagnosticNote &note : diagnostic.notes) {
      sent.attachNote(toMlir(context, files, note.where)) << printable(note.message);
    }
  }
}

} // namespace tally::ir
