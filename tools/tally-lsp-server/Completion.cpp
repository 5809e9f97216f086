//===- Completion.cpp - What could stand at the cursor --------------------===//

#include "Completion.h"

#include "Header.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lsp = llvm::lsp;

namespace tally::server {
namespace {

lsp::CompletionItemKind kindOf(NameKind kind) {
  switch (kind) {
  case NameKind::Kernel:
    return lsp::CompletionItemKind::Module;
  case NameKind::Engine:
  case NameKind::Queue:
    return lsp::CompletionItemKind::Class;
  case NameKind::Instr:
    return lsp::CompletionItemKind::Function;
  case NameKind::Semaphore:
    return lsp::CompletionItemKind::Event;
  default:
    return lsp::CompletionItemKind::Variable;
  }
}

class Completer {
public:
  Completer(const Document &document, const Outline &outline, size_t offset)
      : document(document), outline(outline), offset(offset), typed{offset, offset} {}

  lsp::CompletionList run() {
    const size_t at = document.tokenAt(offset);
    const Token *token = at < document.tokens().size() ? &document.tokens()[at] : nullptr;
    bool isInside = token && token->span.begin < offset;
    if (isInside && token->kind == Token::Kind::Comment) {
      return {};
    }
    if (isInside && token->kind == Token::Kind::String && inString(*token)) {
      completeString(*token, at);
    } else if (isInside && token->kind == Token::Kind::Symbol) {
      typed = {token->span.begin + 1, token->span.end};
      addSymbols(at, "");
    } else {
      bool isWord = isInside && token->kind == Token::Kind::Word;
      typed = isWord ? token->span : typed;
      completeWord(isInside && !isWord ? at + 1 : at);
    }
    return std::move(list);
  }

private:
  bool inString(const Token &token) const { return offset < token.span.end || !token.isClosed; }

  /// The operation that goes on up to this token, which need not be there yet.
  const Operation *operationBefore(size_t token) const {
    std::optional<size_t> op = token == 0 ? std::nullopt : outline.operationAt(token - 1);
    return op && token <= endOf(outline.operations()[*op]) ? &outline.operations()[*op] : nullptr;
  }

  /// Behind its last token, and comments that follow.
  size_t endOf(const Operation &op) const {
    size_t end = op.endToken;
    while (end < document.tokens().size() && document.tokens()[end].kind == Token::Kind::Comment) {
      ++end;
    }
    return end;
  }

  /// What is expected in front of a token.
  const Word *expectedAt(const Operation &op, size_t token) const {
    Header header(op.word);
    for (size_t i = op.firstToken + 1; i < std::min(token, op.endToken); ++i) {
      if (document.tokens()[i].kind != Token::Kind::Comment) {
        header.pass(document.tokens()[i], document.text(document.tokens()[i].span));
      }
    }
    return header.expected();
  }

  //===--------------------------------------------------------------------===//
  // Words
  //===--------------------------------------------------------------------===//

  void completeWord(size_t at) {
    bool isNew = beginsOperation(at);
    if (isNew) {
      addOperations();
    }
    // The operation before may go on in this line.
    const Operation *op = isBrace(at) || (isNew && isOperation()) ? nullptr : operationBefore(at);
    if (!op) {
      return;
    }
    if (op->word == "code" && !op->name) {
      addSymbols(at, "@");
      return;
    }
    const Word *expected = expectedAt(*op, at);
    if (!expected) {
      addClauses(*op);
    } else if (expected->strings != Strings::Declares) {
      addNames(*expected, op->scope, "\"");
    }
  }

  /// First in its line, or right behind a brace.
  bool beginsOperation(size_t at) const {
    std::string_view text = document.text();
    size_t line = text.find_last_of("\r\n", typed.begin == 0 ? 0 : typed.begin - 1);
    size_t start = line == std::string_view::npos ? 0 : line + 1;
    bool isFirst = text.substr(start, typed.begin - std::min(start, typed.begin))
                       .find_first_not_of(" \t\r\n") == std::string_view::npos;
    return isFirst || isBrace(at);
  }

  /// Whether what is typed is the beginning of an operation.
  bool isOperation() const {
    constexpr std::string_view prefix = "tally.";
    std::string_view word = document.text(typed);
    return !word.empty() && (prefix.starts_with(word) || word.starts_with(prefix));
  }

  bool isBrace(size_t at) const {
    std::string_view before =
        at == 0 ? std::string_view() : document.text(document.tokens()[at - 1].span);
    return before == "{" || before == "}";
  }

  /// The innermost operation whose body is open at the cursor.
  std::string_view around() const {
    std::string_view innermost;
    for (const Operation &op : outline.operations()) {
      if (op.body && op.body->touches(typed.begin)) {
        innermost = op.word;
      }
    }
    return innermost;
  }

  void addOperations() {
    const std::string_view body = around();
    for (const Word &word : vocabulary()) {
      if (word.isOperation() && word.standsIn(body)) {
        add(fmt::format("tally.{}", word.operation), lsp::CompletionItemKind::Keyword, word);
      }
    }
  }

  void addClauses(const Operation &op) {
    std::set<std::string_view> present;
    for (size_t i = op.firstToken; i < op.endToken; ++i) {
      const Token &token = document.tokens()[i];
      if (token.span.end < typed.begin || token.span.begin > typed.end) {
        present.insert(document.text(token.span));
      }
    }
    for (const Word &word : vocabulary()) {
      if (word.operation == op.word && !word.isOperation() && !present.contains(word.clause)) {
        add(std::string(word.clause), lsp::CompletionItemKind::Property, word);
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  void completeString(const Token &token, size_t at) {
    const Operation *op = operationBefore(at);
    const Word *expected = op ? expectedAt(*op, at) : nullptr;
    if (!expected || expected->strings == Strings::Declares) {
      return;
    }
    if (expected->strings == Strings::Uses) {
      typed = token.inner();
      addNames(*expected, op->scope, "");
      return;
    }
    const Span before{token.span.begin + 1, offset};
    bool isIndex = expected->strings == Strings::Formula ||
                   document.text(before).find_first_of("[ ") != std::string_view::npos;
    typed = nameAround(token.inner());
    isIndex ? addOfTile(*op) : addNames(*expected, op->scope, "");
  }

  /// What is typed of a name in a tile.
  Span nameAround(Span inner) const {
    auto isPart = [&](size_t at) {
      char sign = document.text()[at];
      return sign == '_' || sign == '$' || sign == '.' || (sign >= '0' && sign <= '9') ||
             (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
    };
    Span span{offset, offset};
    for (; span.begin > inner.begin && isPart(span.begin - 1); --span.begin) {
    }
    for (; span.end < inner.end && isPart(span.end); ++span.end) {
    }
    return span;
  }

  /// Iterations of the loops around, values, and the words of tiles.
  void addOfTile(const Operation &op) {
    for (std::optional<size_t> at = op.around; at; at = outline.operations()[*at].around) {
      const Operation &loop = outline.operations()[*at];
      if (loop.word == "loop" && loop.name) {
        const Name &name = outline.names()[*loop.name];
        add(std::string(name.text), lsp::CompletionItemKind::Variable, *findWord("loop"));
      }
    }
    for (const Name &name : outline.names()) {
      if (name.kind == NameKind::Value && name.scope == op.scope && name.isDeclared) {
        add(fmt::format("${}", name.text), lsp::CompletionItemKind::Variable, *name.word);
      }
    }
    for (const Word &word : vocabulary()) {
      if (word.operation == "tile") {
        add(std::string(word.clause), lsp::CompletionItemKind::Operator, word);
      }
    }
  }

  void addNames(const Word &expected, std::string_view scope, std::string_view quote) {
    for (const Name &name : outline.names()) {
      bool isKind = name.kind == expected.kind ||
                    (expected.kind == NameKind::Queue && name.kind == NameKind::Engine);
      bool isHere = name.scope == scope || name.kind == NameKind::Register;
      if (name.isDeclared && isKind && isHere) {
        add(fmt::format("{0}{1}{0}", quote, name.text), kindOf(name.kind),
            *findWord(outline.operations()[name.operation].word));
      }
    }
  }

  void addSymbols(size_t at, std::string_view mark) {
    const Operation *op = operationBefore(at);
    for (const Name &name : outline.names()) {
      if (op && op->word == "code" && name.kind == NameKind::Kernel && name.isDeclared) {
        add(fmt::format("{}{}", mark, name.text), kindOf(name.kind), *findWord("kernel"));
      }
    }
  }

  /// Takes the place of what is typed. One of each.
  void add(std::string text, lsp::CompletionItemKind kind, const Word &word) {
    if (!labels.insert(text).second) {
      return;
    }
    lsp::CompletionItem item(text, kind, fmt::format("{:05}", list.items.size()));
    item.detail = word.form;
    item.documentation = lsp::MarkupContent{lsp::MarkupKind::Markdown, std::string(word.meaning)};
    item.filterText = text;
    item.textEdit = lsp::TextEdit{document.lines().rangeOf(typed), std::move(text)};
    list.items.push_back(std::move(item));
  }

  const Document &document;
  const Outline &outline;
  size_t offset;
  Span typed; ///< what the completion takes the place of
  lsp::CompletionList list;
  std::set<std::string> labels;
};

} // namespace

lsp::CompletionList completionsAt(const Document &document, const Outline &outline, size_t offset) {
  return Completer(document, outline, offset).run();
}

} // namespace tally::server
