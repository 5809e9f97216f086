//===- Server.h - The documents of an editor, and its questions -----------===//
//
//   open, change ─ Document ─ Outline ──▶ definition, references, symbols, completion
//                      │
//                   examine() ──▶ diagnostics, and facts for hover
//
// What needs tokens only is answered at once. To examine a document may take seconds: it happens
// when a document is opened, and after changes as soon as there is nothing more to read.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_SERVER_H
#define TALLY_LSP_SERVER_SERVER_H

#include "Examine.h"

#include "llvm/Support/LSP/Transport.h"

#include <map>
#include <memory>
#include <string>

namespace tally::server {

class Server {
public:
  explicit Server(llvm::lsp::JSONTransport &transport);
  ~Server();

  /// Until the editor says `exit`, or its stream ends. False unless it said `shutdown` before.
  bool run();

  /// Examines what has changed, as long as there is nothing to read from `input`.
  void examineChanged(int input);

private:
  struct Open;
  template <typename T> using Reply = llvm::lsp::Callback<T>;
  using AtPosition = llvm::lsp::TextDocumentPositionParams;

  void registerMethods();

  void initialize(const llvm::lsp::InitializeParams &params, Reply<llvm::json::Value> reply);
  void initialized(const llvm::lsp::InitializedParams &params);
  void shutdown(const llvm::lsp::NoParams &params, Reply<std::nullptr_t> reply);
  void didOpen(const llvm::lsp::DidOpenTextDocumentParams &params);
  void didChange(const llvm::lsp::DidChangeTextDocumentParams &params);
  void didClose(const llvm::lsp::DidCloseTextDocumentParams &params);
  void hover(const AtPosition &params, Reply<llvm::json::Value> reply);
  void definition(const AtPosition &params, Reply<llvm::json::Value> reply);
  void references(const llvm::lsp::ReferenceParams &params, Reply<llvm::json::Value> reply);
  void completion(const llvm::lsp::CompletionParams &params, Reply<llvm::json::Value> reply);
  void symbols(const llvm::lsp::DocumentSymbolParams &params, Reply<llvm::json::Value> reply);

  /// The open document; null, with an answer, if it cannot be asked about.
  Open *find(const llvm::lsp::URIForFile &uri, Reply<llvm::json::Value> &reply);

  /// True, with an answer, if questions are too early or too late.
  template <typename T> bool refuses(Reply<T> &reply) const;

  bool takesChanges() const { return isInitialized && !isShutDown; }

  void examineNow(Open &open, int input);

  llvm::lsp::JSONTransport &transport;
  llvm::lsp::MessageHandler handler;
  llvm::lsp::OutgoingNotification<llvm::lsp::PublishDiagnosticsParams> publish;
  std::map<std::string, std::unique_ptr<Open>> documents; ///< by URI
  bool isInitialized = false;
  bool isShutDown = false;
};

} // namespace tally::server

#endif // TALLY_LSP_SERVER_SERVER_H
