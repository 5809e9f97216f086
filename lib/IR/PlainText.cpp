//===- PlainText.cpp - Kernels from text, without making operations -------===//
//
// Most files hold only kernels, spelt as tally prints them. They are read here with the
// grammar of the operations (Grammar.h), straight into the resolver: a module of a million
// operations, with a location each, takes most of the time and memory of a command otherwise.
//
// Nothing is reported here. Where there is anything to say, or anything that this reader does not
// know (code, attributes, explicit locations, the generic form), it has no answer, and the file is
// read again as a module. So what is accepted, and how an error reads, is decided in one place.
//
//===----------------------------------------------------------------------===//

#include "Grammar.h"
#include "tally/IR/Load.h"

#include "tally/Deps/Bounds.h"

#include <cctype>
#include <set>

namespace tally::ir {
namespace {

/// Has no answer: what is said with it is said again by the other reader.
struct Refusal {
  template <typename T> Refusal operator<<(const T & /*said*/) const { return {}; }

  operator ParseResult() const { return failure(); }
};

/// Tokens of a text, under the names that MLIR's parser has for them.
class PlainParser {
public:
  explicit PlainParser(llvm::StringRef text)
      : next(text.begin()), end(text.end()), lineStart(next) {
    skipBlanks();
  }

  bool atEnd() const { return next == end; }

  Location where(uint32_t file) const {
    return {file, line, static_cast<uint32_t>(next - lineStart) + 1};
  }

  llvm::SMLoc getCurrentLocation() const { return llvm::SMLoc::getFromPointer(next); }

  llvm::SMLoc getNameLoc() const { return getCurrentLocation(); }

  Refusal emitError(llvm::SMLoc /*where*/, llvm::StringRef /*said*/ = {}) const { return {}; }

  ParseResult parseOptionalString(std::string *text);
  ParseResult parseSymbol(llvm::StringRef &name);
  mlir::OptionalParseResult parseOptionalInteger(llvm::APInt &number);
  ParseResult parseOptionalKeyword(llvm::StringRef *word, llvm::ArrayRef<llvm::StringRef> allowed);

  ParseResult parseOptionalKeyword(llvm::StringRef word) { return token(word, peekWord() == word); }

  bool parseOptionalOperation(llvm::StringRef name) {
    llvm::StringRef word = peekWord();
    llvm::StringRef rest = word;
    return succeeded(token(word, rest.consume_front("tally.") && rest == name));
  }

  ParseResult parseOptional(llvm::StringRef mark) {
    return token(mark, llvm::StringRef(next, left()).starts_with(mark));
  }

  ParseResult parseEqual() { return parseOptional("="); }

  ParseResult parseOptionalEqual() { return parseOptional("="); }

  ParseResult parseGreater() { return parseOptional(">"); }

  ParseResult parseArrow() { return parseOptional("->"); }

  template <typename Each> ParseResult parseCommaSeparatedList(Each each) {
    do {
      if (failed(each())) {
        return failure();
      }
    } while (succeeded(parseOptional(",")));
    return success();
  }

  /// In square brackets.
  template <typename Each>
  ParseResult parseCommaSeparatedList(mlir::OpAsmParser::Delimiter /*square*/, Each each) {
    if (failed(parseOptional("["))) {
      return failure();
    }
    return failure(failed(parseOptional("]")) &&
                   (failed(parseCommaSeparatedList(each)) || failed(parseOptional("]"))));
  }

private:
  size_t left() const { return static_cast<size_t>(end - next); }

  void skipBlanks();
  llvm::StringRef peekWord() const;

  /// Passes a token that is there.
  ParseResult token(llvm::StringRef token, bool isThere) {
    if (isThere) {
      next += token.size();
      skipBlanks();
    }
    return failure(!isThere);
  }

  const char *next; ///< a token, or the end
  const char *end;
  const char *lineStart; ///< of the line of `next`
  uint32_t line = 1;
};

/// Some end a comment, or a line of a name, as a line feed does.
bool isControl(char c) {
  return std::iscntrl(static_cast<unsigned char>(c)) && c != '\t';
}

void PlainParser::skipBlanks() {
  for (; next != end; ++next) {
    if (*next == '\n') {
      ++line;
      lineStart = next + 1;
    } else if (*next == '/' && left() > 1 && next[1] == '/') {
      next = std::find_if(next, end, isControl) - 1;
    } else if (*next != ' ' && *next != '\t') {
      return;
    }
  }
}

llvm::StringRef PlainParser::peekWord() const {
  const char *last = next;
  if (last != end && (llvm::isAlpha(*last) || *last == '_')) {
    while (last != end && (llvm::isAlnum(*last) || *last == '_' || *last == '$' || *last == '.')) {
      ++last;
    }
  }
  return {next, static_cast<size_t>(last - next)};
}

ParseResult PlainParser::parseOptionalKeyword(llvm::StringRef *word,
                                              llvm::ArrayRef<llvm::StringRef> allowed) {
  *word = peekWord();
  return token(*word, !word->empty() && llvm::is_contained(allowed, *word));
}

/// One with an escape, or without an end in its line, is none here.
ParseResult PlainParser::parseOptionalString(std::string *text) {
  if (next == end || *next != '"') {
    return failure();
  }
  const char *last = next + 1;
  while (last != end && *last != '"' && *last != '\\' && !isControl(*last)) {
    ++last;
  }
  if (last == end || *last != '"') {
    return failure();
  }
  text->assign(next + 1, last);
  next = last + 1;
  skipBlanks();
  return success();
}

ParseResult PlainParser::parseSymbol(llvm::StringRef &name) {
  if (next == end || *next != '@') {
    return failure();
  }
  ++next;
  name = peekWord();
  return token(name, !name.empty());
}

/// A decimal number of 63 bits at most, without many zeros before it.
mlir::OptionalParseResult PlainParser::parseOptionalInteger(llvm::APInt &number) {
  bool isNegative = succeeded(parseOptional("-"));
  uint64_t value = 0;
  llvm::StringRef digits = llvm::StringRef(next, left()).take_while(llvm::isDigit);
  bool isPlain = digits.size() < 20 && !digits.getAsInteger(10, value) && value <= INT64_MAX;
  number = llvm::APInt(64, isNegative ? -value : value);
  return token(digits, isPlain);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Notes that there was an error.
struct AnyError : Errors {
  void error(const Spot & /*spot*/, std::string /*message*/,
             std::vector<DiagnosticNote> /*notes*/) override {
    found = true;
  }

  bool found = false;
};

/// A kernel, from behind the word that begins it. Each function is false if there is no answer.
class KernelReader {
public:
  KernelReader(PlainParser &parser, std::string_view fileName, Location where)
      : parser(parser), resolver(errors), where(where) {
    resolver.file(fileName);
  }

  bool read(Kernel &kernel);

private:
  bool readBody();
  bool readStatement();
  bool closeBody();
  template <typename... Data> bool readOneOf();
  template <typename Data> bool read();

  bool hasMark(llvm::StringRef mark) { return succeeded(parser.parseOptional(mark)); }

  PlainParser &parser;
  AnyError errors;
  KernelResolver resolver;
  Location where;                                 ///< of the statement at hand
  std::vector<bool> bodies;                       ///< the open ones; whether an 'else' may follow
  bool isDeclared = false;                        ///< engines, values and buffers come first
  std::vector<std::pair<DepData, Location>> deps; ///< all names are known at the end
};

template <typename Data> bool KernelReader::read() {
  constexpr bool declares = std::is_same_v<Data, EngineData> || std::is_same_v<Data, ValueData> ||
                            std::is_same_v<Data, BufferData>;
  Data data;
  if ((declares && isDeclared) || failed(parseStruct(parser, data))) {
    return false;
  }
  isDeclared = !declares;
  if constexpr (std::is_same_v<Data, DepData>) {
    deps.emplace_back(std::move(data), where);
  } else if constexpr (hasBody<Data>) {
    bodies.push_back(hasBranches<Data>);
    resolver.open(data, where);
    return bodies.size() <= maxDepth && hasMark("{");
  } else {
    resolver.add(data, where);
  }
  return true;
}

/// Those whose word stands here.
template <typename... Data> bool KernelReader::readOneOf() {
  bool ok = false;
  auto tryOne = [&]<typename D>(std::type_identity<D>) {
    bool isHere = parser.parseOptionalOperation(D::word);
    ok = isHere && read<D>();
    return isHere;
  };
  return (tryOne(std::type_identity<Data>()) || ...) && ok;
}

/// Behind its bracket.
bool KernelReader::closeBody() {
  bool mayHaveElse = bodies.back();
  bodies.pop_back();
  if (!mayHaveElse || failed(parser.parseOptionalKeyword("else"))) {
    resolver.close();
    return true;
  }
  bodies.push_back(false);
  resolver.otherwise();
  return hasMark("{");
}

/// Up to the bracket that ends the kernel.
bool KernelReader::readBody() {
  while (true) {
    if (!hasMark("}")) {
      where = parser.where(where.file);
      if (!readOneOf<InstrData, DepData, LoopData, IfData, EngineData, ValueData, BufferData>()) {
        return false;
      }
    } else if (bodies.empty()) {
      return true;
    } else if (!closeBody()) {
      return false;
    }
  }
}

bool KernelReader::read(Kernel &kernel) {
  KernelData data;
  llvm::StringRef name;
  if (failed(parser.parseSymbol(name)) || failed(parseStruct(parser, data)) || !hasMark("{")) {
    return false;
  }
  resolver.open(std::string_view(name), data, where);
  if (!readBody()) {
    return false;
  }
  for (const auto &[dep, place] : deps) {
    resolver.add(dep, place);
  }
  kernel = resolver.finish();
  return !errors.found;
}

/// Whether the verifier would have nothing to say.
bool isClean(const Kernel &kernel) {
  Diagnostics diagnostics;
  checkAsRead(kernel, diagnostics);
  return diagnostics.all().empty();
}

} // namespace

std::optional<std::vector<LoadedKernel>> readPlainText(const llvm::MemoryBuffer &buffer) {
  const std::string_view fileName = buffer.getBufferIdentifier();
  PlainParser parser(buffer.getBuffer());
  std::vector<LoadedKernel> kernels;
  std::set<std::string, std::less<>> names;
  bool inModule = succeeded(parser.parseOptionalKeyword("module"));
  if (inModule && failed(parser.parseOptional("{"))) {
    return std::nullopt;
  }
  Location where = parser.where(0);
  for (; parser.parseOptionalOperation(KernelData::word); where = parser.where(0)) {
    KernelReader reader(parser, fileName, where);
    Kernel &kernel = kernels.emplace_back().kernel;
    if (!reader.read(kernel) || !isClean(kernel) ||
        !names.emplace(kernel.text(kernel.name)).second) {
      return std::nullopt;
    }
  }
  bool isWhole = (!inModule || succeeded(parser.parseOptional("}"))) && parser.atEnd();
  return isWhole && !kernels.empty() ? std::optional(std::move(kernels)) : std::nullopt;
}

} // namespace tally::ir
