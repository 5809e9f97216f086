//===- Certify.cpp - Asking the proved checker ----------------------------===//

#include "Certify.h"
#include "Interrupt.h"
#include "Progress.h"

#include "tally/Certify/Certificate.h"
#include "tally/Deps/Bounds.h"
#include "tally/Run/MayAsk.h"
#include "tally/Support/WholeFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace tally::tool {
namespace {

constexpr const char *checkerName = "tally-certify";

Exit undecided(const std::string &message) {
  complain(message);
  return Exit::Undecided;
}

/// Beside this program, where both are built and installed; else on the path.
std::string findChecker() {
  // Any function of this program tells where it lies.
  void *here = reinterpret_cast<void *>(&findChecker);
  llvm::SmallString<256> path(llvm::sys::fs::getMainExecutable(nullptr, here));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, checkerName);
  if (llvm::sys::fs::can_execute(path)) {
    return std::string(path);
  }
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(checkerName);
  return found ? *found : "";
}

/// A few of the tiles that are not shown to stay within their buffers.
std::vector<std::string> grantedOf(const Kernel &kernel) {
  constexpr size_t mostTold = 3;
  std::vector<std::string> granted = takenForGranted(kernel, findTileBounds(kernel));
  if (granted.size() > mostTold) {
    std::string more = fmt::format("so do {} more", granted.size() - mostTold);
    granted.resize(mostTold);
    granted.push_back(more);
  }
  return granted;
}

/// What bounds of single loops do not show: that formulas keep all dependences from asking.
bool nothingAsks(const Kernel &kernel) {
  bool isTied = std::ranges::any_of(
      kernel.loops, [](const Loop &loop) { return loop.trip.kind == Trip::Kind::Formula; });
  for (DepId dep : kernel.deps.ids()) {
    if (!isTied || mayAsk(kernel, dep)) {
      return false;
    }
  }
  return true;
}

CertificateNotes notesOf(const LoadedKernel &loaded, const PlanDecisions &plan,
                         AccessesNote accesses) {
  bool isTrusted = accesses == AccessesNote::Derived || accesses == AccessesNote::Held;
  CertificateNotes notes{.accesses = accesses};
  if (isTrusted) {
    notes.granted = grantedOf(loaded.kernel);
    notes.accesses = isSeenToTouch(loaded.kernel) ? accesses : AccessesNote::Untouched;
  }
  const bool isIdle =
      accesses == AccessesNote::Derived && notes.accesses == AccessesNote::Untouched;
  const bool neverAsk = isIdle || nothingAsks(loaded.kernel);
  for (DepId dep : loaded.kernel.deps.ids()) {
    if (neverAsk) {
      notes.neverAsks.push_back(dep);
    }
    if (plan.rememberedFor(dep) < mostRemembered) {
      notes.waitsLonger.push_back(dep);
    }
  }
  return notes;
}

std::string certificates(const std::vector<LoadedKernel> &kernels,
                         const std::vector<PlanDecisions> &plans,
                         const std::vector<AccessesNote> &accesses, const Machine &machine) {
  std::string text;
  for (size_t i = 0; i < kernels.size(); ++i) {
    text += writeCertificate(kernels[i].kernel, *kernels[i].code, machine,
                             notesOf(kernels[i], plans[i], accesses[i]));
  }
  return text;
}

/// A new file in the folder for such; none if there cannot be one.
void createTemporary(TemporaryFile &file) {
  llvm::SmallString<128> path;
  if (!llvm::sys::fs::createTemporaryFile("tally", "cert", path)) {
    file.take(path.str().str());
  }
}

/// What the checker printed, on stderr like all messages.
void show(llvm::StringRef path) {
  if (auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true)) {
    tellLines(std::string_view((*text)->getBuffer()));
  }
}

/// The exit status of the command, which ends with this program if that is interrupted: then it has
/// nothing to say. Negative if it could not be run, for `error`.
int executeAndWait(llvm::ArrayRef<llvm::StringRef> command, llvm::StringRef output,
                   std::string &error) {
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, output, std::nullopt};
  llvm::sys::ProcessInfo started;
  {
    SignalsWait untilKnown;
    started = llvm::sys::ExecuteNoWait(command[0], command, std::nullopt, redirects, 0, &error);
    endTogetherWith(started.Pid);
  }
  if (started.Pid == llvm::sys::ProcessInfo::InvalidPid) {
    return -1;
  }
  int status = llvm::sys::Wait(started, std::nullopt, &error).ReturnCode;
  endTogetherWith(0);
  return status;
}

Exit runChecker(const std::string &checker, llvm::StringRef file) {
  nowDoing("checking the certificates");
  TemporaryFile output;
  createTemporary(output);
  if (output.path().empty()) {
    return undecided("cannot create a temporary file");
  }
  std::string error;
  llvm::StringRef messages = messagesAsJson() ? "--diagnostics=json" : "--diagnostics=text";
  int status = executeAndWait({checker, messages, file}, output.path(), error);
  show(output.path());
  switch (status) {
  case 0:
    return Exit::Yes;
  case 1:
    return Exit::No;
  case 2:
    return Exit::Undecided;
  default:
    return undecided(fmt::format("'{}' ended with status {}{}{}", checker, status,
                                 error.empty() ? "" : ": ", error));
  }
}

} // namespace

Exit certify(const std::vector<LoadedKernel> &kernels, const std::vector<PlanDecisions> &plans,
             const std::vector<AccessesNote> &accesses, const Machine &machine,
             const std::string &keep) {
  TemporaryFile temporary;
  if (keep.empty()) {
    createTemporary(temporary);
  }
  nowDoing("writing the certificates");
  std::string file = keep.empty() ? temporary.path() : keep;
  std::string text = certificates(kernels, plans, accesses, machine);
  bool isWritten =
      keep.empty() ? !file.empty() && writeWholeFile(file, text).empty() : writeOutput(file, text);
  if (!isWritten) {
    return undecided("cannot write the certificates");
  }
  std::string checker = findChecker();
  if (checker.empty()) {
    return undecided(
        fmt::format("cannot find '{}', which belongs next to this program and is built "
                    "where there is an OCaml compiler",
                    checkerName));
  }
  return runChecker(checker, file);
}

} // namespace tally::tool
