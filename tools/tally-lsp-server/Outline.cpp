//===- Outline.cpp - The operations of a text, and the names in it --------===//

#include "Outline.h"

#include "Header.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace tally::server {

static constexpr std::string_view prefix = "tally.";

//===----------------------------------------------------------------------===//
// Names in tiles
//===----------------------------------------------------------------------===//

namespace {

/// The names of one tile or formula: `X[A mod 2, $n:16]` has X, A and n.
class TileReader {
public:
  TileReader(const Document &document, const Name &first, std::vector<Name> &names)
      : text(document.text()), at(first.span.begin), end(first.span.end), name(first),
        names(names) {}

  void run(bool beginsWithBuffer) {
    bool isBuffer = beginsWithBuffer;
    while (at < end) {
      char sign = text[at];
      if (sign == '$') {
        ++at;
        add(NameKind::Value);
      } else if (isLetter(sign)) {
        isBuffer ? add(NameKind::Buffer) : addLoop();
        isBuffer = false;
      } else if (llvm::isDigit(sign)) {
        passName();
      } else {
        ++at;
      }
    }
  }

private:
  static bool isLetter(char sign) { return llvm::isAlpha(sign) || sign == '_'; }

  Span passName() {
    const size_t begin = at;
    while (at < end && (isLetter(text[at]) || llvm::isDigit(text[at]) || text[at] == '.')) {
      ++at;
    }
    return {begin, at};
  }

  void add(NameKind kind) { add(kind, passName()); }

  void add(NameKind kind, Span span) {
    if (span.begin < span.end) {
      name.kind = kind;
      name.span = span;
      name.text = text.substr(span.begin, span.end - span.begin);
      names.push_back(name);
    }
  }

  /// A word of tiles is no loop.
  void addLoop() {
    Span span = passName();
    if (!findWord("tile", text.substr(span.begin, span.end - span.begin))) {
      add(NameKind::Loop, span);
    }
  }

  std::string_view text;
  size_t at;
  size_t end;
  Name name;
  std::vector<Name> &names;
};

} // namespace

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// One pass over the tokens. `open` has the operation of each brace that is open, or none.
class OutlineReader {
public:
  OutlineReader(const Document &document, Outline &outline)
      : document(document), outline(outline) {}

  void run() {
    for (size_t i = 0; i < document.tokens().size(); ++i) {
      if (document.tokens()[i].kind != Token::Kind::Comment) {
        pass(i);
      }
    }
    endHeader();
    for (const std::optional<size_t> &each : open) {
      if (each) {
        finish(outline.ops[*each], document.text().size(), document.text().size());
      }
    }
  }

private:
  void pass(size_t i) {
    const Token &token = document.tokens()[i];
    std::string_view text = document.text(token.span);
    if (isInAttributes(text)) {
      return;
    }
    if (token.kind == Token::Kind::Word && text.starts_with(prefix)) {
      endHeader();
      begin(i, text.substr(prefix.size()));
    } else if (text == "{") {
      open.push_back(current ? current : otherBranch);
      if (current) {
        outline.ops[*current].body = Span{token.span.end, token.span.end};
      }
      endHeader();
    } else if (text == "}") {
      endHeader();
      close(token);
    } else if (current) {
      passInHeader(token, text);
      outline.ops[*current].endToken = i + 1;
      outline.ops[*current].header.end = token.span.end;
      outline.ops[*current].whole.end = token.span.end;
    } else if (text == "else") {
      otherBranch = closed;
    }
  }

  /// `attributes {...}` of an operation is no body; what it holds names nothing.
  bool isInAttributes(std::string_view text) {
    if (attributes == 0) {
      attributes = current && text == "attributes" ? 1 : 0;
      return attributes != 0;
    }
    if (text.starts_with(prefix) || (attributes == 1 && text != "{")) { // it is not closed, or open
      attributes = 0;
      return false;
    }
    attributes += text == "{" ? 1 : 0;
    attributes -= text == "}" ? 1 : 0;
    attributes = attributes == 1 ? 0 : attributes;
    return true;
  }

  void begin(size_t token, std::string_view word) {
    Operation op;
    op.word = word;
    op.firstToken = token;
    op.endToken = token + 1;
    op.header = op.whole = document.tokens()[token].span;
    op.around = open.empty() ? std::nullopt : open.back();
    op.scope = op.around ? outline.ops[*op.around].scope : "";
    current = outline.ops.size();
    outline.ops.push_back(std::move(op));
    header.emplace(word);
  }

  void endHeader() {
    current.reset();
    header.reset();
    otherBranch.reset();
    closed.reset();
  }

  void close(const Token &brace) {
    if (open.empty()) {
      return;
    }
    closed = open.back();
    open.pop_back();
    if (closed) {
      finish(outline.ops[*closed], brace.span.begin, brace.span.end);
    }
  }

  static void finish(Operation &op, size_t bodyEnd, size_t end) {
    op.body->end = bodyEnd;
    op.whole.end = end;
  }

  void passInHeader(const Token &token, std::string_view text) {
    if (token.kind == Token::Kind::Symbol) {
      addKernel(token.span);
    } else if (token.kind == Token::Kind::String && header->expected()) {
      addString(token.inner(), *header->expected());
    }
    header->pass(token, text);
  }

  Name nameHere(Span span, const Word *word) const {
    Name name;
    name.span = span;
    name.text = document.text(span);
    name.scope = outline.ops[*current].scope;
    name.operation = *current;
    name.word = word;
    return name;
  }

  /// `@k`, which is the scope of all that stands in it.
  void addKernel(Span span) {
    Operation &op = outline.ops[*current];
    bool isKernel = op.word == "kernel";
    if (op.name || (!isKernel && op.word != "code")) {
      return;
    }
    Name name = nameHere({span.begin + 1, span.end}, findWord(op.word));
    if (name.text.size() >= 2 && name.text.front() == '"' && name.text.back() == '"') {
      name = nameHere({span.begin + 2, span.end - 1}, name.word);
    }
    name.isDeclared = isKernel;
    name.scope.clear();
    op.scope = name.text;
    add(std::move(name));
  }

  void addString(Span span, const Word &word) {
    Name name = nameHere(span, &word);
    name.kind = word.kind;
    if (word.strings == Strings::Tile || word.strings == Strings::Formula) {
      const size_t first = outline.list.size();
      TileReader(document, name, outline.list).run(word.strings == Strings::Tile);
      if (word.strings == Strings::Formula && outline.list.size() == first + 1) {
        outline.list.back().isDeclared = outline.list.back().kind == NameKind::Value;
      }
      return;
    }
    name.isDeclared = word.strings == Strings::Declares;
    scopeRegister(name);
    add(std::move(name));
  }

  /// Each engine has registers of its own.
  void scopeRegister(Name &name) const {
    if (name.kind != NameKind::Register) {
      return;
    }
    for (std::optional<size_t> op = current; op; op = outline.ops[*op].around) {
      if (outline.ops[*op].word == "program" && outline.ops[*op].name) {
        name.scope += '/';
        name.scope += outline.list[*outline.ops[*op].name].text;
        return;
      }
    }
  }

  void add(Name name) {
    std::optional<size_t> &first = outline.ops[*current].name;
    first = first.value_or(outline.list.size());
    outline.list.push_back(std::move(name));
  }

  const Document &document;
  Outline &outline;
  std::vector<std::optional<size_t>> open;
  std::optional<size_t> current; ///< whose header is being read
  std::optional<Header> header;
  std::optional<size_t> closed;      ///< by the last token
  std::optional<size_t> otherBranch; ///< whose else-body begins
  size_t attributes = 0; ///< 1 behind the word `attributes`, and 1 more for each open brace
};

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

Outline::Outline(const Document &document) {
  OutlineReader(document, *this).run();
  index();
}

/// An engine is a queue, too; `c.else` is the other branch of `c`.
Outline::Key Outline::keyOf(const Name &name) {
  constexpr std::string_view other = ".else";
  NameKind kind = name.kind == NameKind::Engine ? NameKind::Queue : name.kind;
  std::string_view text = name.text;
  if (kind == NameKind::Loop && text.ends_with(other)) {
    text.remove_suffix(other.size());
  }
  return {kind, name.scope, text};
}

void Outline::index() {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].isDeclared) {
      declarations.try_emplace(keyOf(list[i]), i);
    }
  }
}

const Name *Outline::nameAt(size_t offset) const {
  auto found = std::ranges::lower_bound(list, offset, {}, [](const Name &n) { return n.span.end; });
  return found != list.end() && found->span.touches(offset) ? &*found : nullptr;
}

const Name *Outline::declarationOf(const Name &name) const {
  auto found = declarations.find(keyOf(name));
  if (found != declarations.end()) {
    return &list[found->second];
  }
  if (name.scope.empty()) { // as in a function of the scf form
    auto [kind, scope, text] = keyOf(name);
    for (const auto &[key, declared] : declarations) {
      if (std::get<0>(key) == kind && std::get<2>(key) == text) {
        return &list[declared];
      }
    }
  }
  return nullptr;
}

std::vector<const Name *> Outline::placesOf(const Name &name) const {
  const Name *declared = declarationOf(name);
  const Key key = keyOf(declared ? *declared : name);
  std::vector<const Name *> places;
  for (const Name &each : list) {
    if (keyOf(each) == key || (each.scope.empty() && declared && declarationOf(each) == declared)) {
      places.push_back(&each);
    }
  }
  return places;
}

std::optional<size_t> Outline::operationAt(size_t token) const {
  auto behind = std::ranges::upper_bound(ops, token, {}, &Operation::firstToken);
  return behind == ops.begin() ? std::nullopt
                               : std::optional(static_cast<size_t>(behind - ops.begin() - 1));
}

} // namespace tally::server
