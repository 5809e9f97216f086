//===- Server.cpp - The documents of an editor, and its questions ---------===//

#include "Server.h"

#include "Completion.h"
#include "Hover.h"
#include "SsaValues.h"
#include "Symbols.h"

#include <algorithm>
#include <poll.h>

namespace lsp = llvm::lsp;

namespace tally::server {

/// An open document. Hover tells the facts of the last text that could be read.
struct Server::Open {
  Open(lsp::URIForFile uri, int64_t version, std::string text)
      : uri(std::move(uri)), version(version),
        document(std::make_unique<Document>(std::move(text))),
        outline(std::make_unique<Outline>(*document)) {}

  void setText(std::string text) {
    document = std::make_unique<Document>(std::move(text));
    outline = std::make_unique<Outline>(*document);
    hasChanged = true;
  }

  size_t offsetOf(lsp::Position position) const { return document->lines().offsetOf(position); }

  lsp::URIForFile uri;
  int64_t version;
  std::unique_ptr<Document> document;
  std::unique_ptr<Outline> outline;
  Facts facts;
  bool areFactsOld = false;
  bool hasChanged = true; ///< since it was examined
};

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

Server::Server(lsp::JSONTransport &transport)
    : transport(transport), handler(transport),
      publish(handler.outgoingNotification<lsp::PublishDiagnosticsParams>(
          "textDocument/publishDiagnostics")) {
  registerMethods();
}

Server::~Server() = default;

void Server::registerMethods() {
  handler.method("initialize", this, &Server::initialize);
  handler.notification("initialized", this, &Server::initialized);
  handler.method("shutdown", this, &Server::shutdown);
  handler.notification("textDocument/didOpen", this, &Server::didOpen);
  handler.notification("textDocument/didChange", this, &Server::didChange);
  handler.notification("textDocument/didClose", this, &Server::didClose);
  handler.method("textDocument/hover", this, &Server::hover);
  handler.method("textDocument/definition", this, &Server::definition);
  handler.method("textDocument/references", this, &Server::references);
  handler.method("textDocument/completion", this, &Server::completion);
  handler.method("textDocument/documentSymbol", this, &Server::symbols);
}

bool Server::run() {
  llvm::consumeError(transport.run(handler)); // that its stream ended
  return isShutDown;
}

void Server::initialize(const lsp::InitializeParams &, Reply<llvm::json::Value> reply) {
  if (isInitialized) {
    return reply(llvm::make_error<lsp::LSPError>("the server is initialized already",
                                                 lsp::ErrorCode::InvalidRequest));
  }
  isInitialized = true;
  reply(llvm::json::Object{
      {"serverInfo", llvm::json::Object{{"name", "tally-lsp-server"}, {"version", TALLY_VERSION}}},
      {"capabilities",
       llvm::json::Object{
           {"textDocumentSync",
            llvm::json::Object{
                {"openClose", true},
                {"change", static_cast<int>(lsp::TextDocumentSyncKind::Incremental)}}},
           {"completionProvider",
            llvm::json::Object{{"triggerCharacters", llvm::json::Array{"\"", "$", "[", "."}}}},
           {"hoverProvider", true},
           {"definitionProvider", true},
           {"referencesProvider", true},
           {"documentSymbolProvider", true}}}});
}

void Server::initialized(const lsp::InitializedParams &) {}

void Server::shutdown(const lsp::NoParams &, Reply<std::nullptr_t> reply) {
  if (refuses(reply)) {
    return;
  }
  examineChanged(-1);
  isShutDown = true;
  reply(nullptr);
}

template <typename T> bool Server::refuses(Reply<T> &reply) const {
  if (!isInitialized) {
    reply(llvm::make_error<lsp::LSPError>("the first request has to be 'initialize'",
                                          lsp::ErrorCode::ServerNotInitialized));
  } else if (isShutDown) {
    reply(llvm::make_error<lsp::LSPError>("after 'shutdown' only 'exit' is possible",
                                          lsp::ErrorCode::InvalidRequest));
  }
  return !isInitialized || isShutDown;
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

void Server::didOpen(const lsp::DidOpenTextDocumentParams &params) {
  if (!takesChanges()) {
    return;
  }
  const lsp::TextDocumentItem &item = params.textDocument;
  std::unique_ptr<Open> &open = documents[item.uri.uri().str()];
  open = std::make_unique<Open>(item.uri, item.version, item.text);
  examineNow(*open, -1);
}

/// Without a range, the change is the whole text.
static void applyTo(std::string &text, const lsp::TextDocumentContentChangeEvent &change) {
  if (!change.range) {
    text = change.text;
    return;
  }
  Lines lines(text);
  size_t begin = lines.offsetOf(change.range->start);
  size_t end = std::max(begin, lines.offsetOf(change.range->end));
  text.replace(begin, end - begin, change.text);
}

void Server::didChange(const lsp::DidChangeTextDocumentParams &params) {
  auto found = documents.find(params.textDocument.uri.uri().str());
  if (!takesChanges() || found == documents.end()) {
    return;
  }
  Open &open = *found->second;
  std::string text(open.document->text());
  for (const lsp::TextDocumentContentChangeEvent &change : params.contentChanges) {
    applyTo(text, change);
  }
  open.version = params.textDocument.version;
  open.setText(std::move(text));
}

void Server::didClose(const lsp::DidCloseTextDocumentParams &params) {
  auto found = documents.find(params.textDocument.uri.uri().str());
  if (!takesChanges() || found == documents.end()) {
    return;
  }
  publish({found->second->uri, found->second->version}); // nothing is wrong with it any more
  documents.erase(found);
}

void Server::examineNow(Open &open, int input) {
  Examined examined = examine(*open.document, *open.outline, open.uri, input);
  if (examined.isInterrupted) {
    return;
  }
  open.hasChanged = false;
  open.areFactsOld = !examined.isRead;
  if (examined.isRead) {
    open.facts = std::move(examined.facts);
  }
  lsp::PublishDiagnosticsParams params(open.uri, open.version);
  params.diagnostics = std::move(examined.diagnostics);
  publish(params);
}

static bool hasSomethingToRead(int input) {
  pollfd ready{input, POLLIN, 0};
  return input >= 0 && poll(&ready, 1, 0) > 0;
}

void Server::examineChanged(int input) {
  for (auto &[uri, open] : documents) {
    if (open->hasChanged && !hasSomethingToRead(input)) {
      examineNow(*open, input);
    }
  }
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

Server::Open *Server::find(const lsp::URIForFile &uri, Reply<llvm::json::Value> &reply) {
  if (refuses(reply)) {
    return nullptr;
  }
  auto found = documents.find(uri.uri().str());
  if (found == documents.end()) {
    reply(llvm::make_error<lsp::LSPError>("the document '" + uri.uri().str() + "' is not open",
                                          lsp::ErrorCode::InvalidParams));
    return nullptr;
  }
  return found->second.get();
}

void Server::hover(const AtPosition &params, Reply<llvm::json::Value> reply) {
  Open *open = find(params.textDocument.uri, reply);
  if (!open) {
    return;
  }
  if (open->hasChanged) {
    examineNow(*open, -1);
  }
  std::optional<lsp::Hover> found = hoverAt(*open->document, *open->outline, open->facts,
                                            open->areFactsOld, open->offsetOf(params.position));
  reply(found ? llvm::json::Value(*found) : llvm::json::Value(nullptr));
}

void Server::definition(const AtPosition &params, Reply<llvm::json::Value> reply) {
  Open *open = find(params.textDocument.uri, reply);
  if (!open) {
    return;
  }
  std::vector<lsp::Location> places; // their JSON refers to them
  const Name *name = open->outline->nameAt(open->offsetOf(params.position));
  if (const Name *declared = name ? open->outline->declarationOf(*name) : nullptr) {
    places.emplace_back(open->uri, open->document->lines().rangeOf(declared->span));
  } else if (std::optional<Span> made = madeAt(*open->document, open->offsetOf(params.position))) {
    places.emplace_back(open->uri, open->document->lines().rangeOf(*made));
  }
  reply(llvm::json::Value(places));
}

void Server::references(const lsp::ReferenceParams &params, Reply<llvm::json::Value> reply) {
  Open *open = find(params.textDocument.uri, reply);
  if (!open) {
    return;
  }
  std::vector<lsp::Location> places; // their JSON refers to them
  if (const Name *name = open->outline->nameAt(open->offsetOf(params.position))) {
    for (const Name *place : open->outline->placesOf(*name)) {
      if (!place->isDeclared || params.context.includeDeclaration) {
        places.emplace_back(open->uri, open->document->lines().rangeOf(place->span));
      }
    }
  }
  reply(llvm::json::Value(places));
}

void Server::completion(const lsp::CompletionParams &params, Reply<llvm::json::Value> reply) {
  if (Open *open = find(params.textDocument.uri, reply)) {
    reply(llvm::json::Value(
        completionsAt(*open->document, *open->outline, open->offsetOf(params.position))));
  }
}

/// The library's own copies each symbol once for every one around it.
static llvm::json::Array jsonOf(const std::vector<lsp::DocumentSymbol> &symbols) {
  llvm::json::Array list;
  for (const lsp::DocumentSymbol &symbol : symbols) {
    llvm::json::Object object{{"name", symbol.name},
                              {"detail", symbol.detail},
                              {"kind", static_cast<int>(symbol.kind)},
                              {"range", lsp::toJSON(symbol.range)},
                              {"selectionRange", lsp::toJSON(symbol.selectionRange)}};
    if (!symbol.children.empty()) {
      object["children"] = jsonOf(symbol.children);
    }
    list.push_back(std::move(object));
  }
  return list;
}

void Server::symbols(const lsp::DocumentSymbolParams &params, Reply<llvm::json::Value> reply) {
  if (Open *open = find(params.textDocument.uri, reply)) {
    reply(jsonOf(symbolsOf(*open->document, *open->outline)));
  }
}

} // namespace tally::server
