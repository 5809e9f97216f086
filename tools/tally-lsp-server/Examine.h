//===- Examine.h - What there is to say about a document ------------------===//
//
// What `tally check` and `tally deps` say of a file before they run anything, and what `tally
// explain` says of its instructions. The same functions of the libraries say it here:
//
//   read ─ remarkKernel() ─ findAsked() or remarkUncovered() ─ compile()
//     │         │                     │                            │
//   syntax,   bounds             dependences                    waits, limits of
//   legality                                                    the machine
//
// It happens in a child process (Child.h), which says each thing as soon as it is known. Where the
// child ends early, a message says what was not examined.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_EXAMINE_H
#define TALLY_LSP_SERVER_EXAMINE_H

#include "Child.h"
#include "Outline.h"

#include <map>
#include <string>
#include <vector>

namespace tally::server {

/// Texts for hover, in Markdown.
struct Facts {
  std::map<std::string, std::string, std::less<>> texts; ///< by key

  /// Empty if nothing is known.
  std::string_view find(const std::string &key) const;

  static std::string ofInstr(std::string_view kernel, std::string_view instr);

  /// Of the written dependence with this number, from 0.
  static std::string ofDep(std::string_view kernel, size_t number);
};

struct Examined {
  std::vector<llvm::lsp::Diagnostic> diagnostics;
  Facts facts;
  bool isRead = false;        ///< the text holds sound kernels
  bool isInterrupted = false; ///< ended since `watched` has something to read
};

/// `watched`: a file descriptor, or -1.
Examined examine(const Document &document, const Outline &outline, const llvm::lsp::URIForFile &uri,
                 int watched);

} // namespace tally::server

#endif // TALLY_LSP_SERVER_EXAMINE_H
