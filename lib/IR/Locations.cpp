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
      entry->second = resolver ? resolver->file(std::string_view(file.getValue()))
                               : static_cast<uint32_t>(files.size());
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
    sent << printable(diagnostic.message);
    for (const DiagnosticNote &note : diagnostic.notes) {
      sent.attachNote(toMlir(context, kernel, note.where)) << printable(note.message);
    }
  }
}

} // namespace tally::ir
