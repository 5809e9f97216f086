//===- ReadModule.cpp - Reads a module from whatever a file holds ---------===//
#include "tally/Transforms/ReadModule.h"

#include "tally/IR/Tally.h"
#include "tally/Model/Kernel.h"
#include "tally/Support/Names.h"
#include "tally/Support/Printable.h"
#include "tally/Support/ReadFile.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tally {

//===----------------------------------------------------------------------===//
// Depth of text
//===----------------------------------------------------------------------===//

namespace {

/// The most brackets open at once. A loop of a kernel is one in pretty form and two in
/// generic form, `({`; some are for what stands around loops.
constexpr uint32_t maxBrackets = 2 * maxDepth + 64;

/// The most regions around one another in bytecode.
constexpr uint32_t maxRegions = maxDepth + 64;

/// The most decimal digits of one number; MLIR takes quadratic time to read them.
constexpr size_t maxDigits = 1000;

/// The most operations of one affine expression, which MLIR keeps as a tree.
constexpr size_t maxOperations = 1000;

/// The most attributes and types of a text of so many bytes, if its aliases are written out, as
/// MLIR does when it prints them. Sixty lines of `#b = [#a, #a]` would be 2^60.
constexpr size_t maxExpanded(size_t bytes) {
  return 100'000 + 100 * bytes;
}

/// A bracket that is open, and the operations of the expression that it holds.
struct Bracket {
  char closer;
  size_t begin = 0;
  size_t operations = 0;
};

/// Where a text ends, and what is still open there.
struct TextEnd {
  Location where;                ///< right after the last token
  std::optional<Location> brace; ///< the innermost `{` that is open
};

/// What an alias (`#a = ...`) stands for, with all that the aliases in it stand for.
struct Alias {
  size_t parts = 1;
  size_t depth = 1;
};

Location locationOf(llvm::StringRef text, size_t offset) {
  llvm::StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 is the first line's
  return {0, static_cast<uint32_t>(before.count('\n') + 1),
          static_cast<uint32_t>(offset - lineStart + 1)};
}

/// Walks a text once and keeps the brackets that are open, and what aliases stand for; strings and
/// comments do not count. Linear, without recursion.
class TextGuard {
public:
  explicit TextGuard(llvm::StringRef text) : text(text) {}

  /// Why MLIR's parser should not be given the text, and `where`, if so.
  std::optional<std::string> find(Location &where) {
    for (at = 0; at < text.size(); ++at) {
      size_t start = at;
      bool isToken = !llvm::isSpace(text[at]) && !text.substr(at).starts_with("//");
      begun |= isToken;
      step();
      end = isToken ? std::min(at + 1, text.size()) : end;
      if (std::optional<std::string> message = problem()) {
        where = locationOf(text, start);
        return message;
      }
    }
    return std::nullopt;
  }

  /// After find().
  TextEnd textEnd() const {
    auto isBrace = [](const Bracket &bracket) { return bracket.closer == '}'; };
    auto brace = std::find_if(brackets.rbegin(), brackets.rend(), isBrace);
    return {locationOf(text, end), brace == brackets.rend()
                                       ? std::nullopt
                                       : std::optional(locationOf(text, brace->begin))};
  }

private:
  std::optional<std::string> problem() const {
    if (brackets.size() - 1 > maxBrackets) {
      return fmt::format("text nests more than {} brackets deep; at most {} "
                         "loops and branches may enclose one another",
                         maxBrackets, maxDepth);
    }
    if (numDigits > maxDigits) {
      return fmt::format("number with {} digits; at most {} are allowed", numDigits, maxDigits);
    }
    if (brackets.back().operations > maxOperations) {
      return fmt::format("expression with more than {} operations", maxOperations);
    }
    if (deepest > maxBrackets) {
      return fmt::format("aliases stand for one another more than {} deep", maxBrackets);
    }
    if (expanded > maxExpanded(text.size())) {
      return fmt::format("aliases stand for more than {} attributes", maxExpanded(text.size()));
    }
    return std::nullopt;
  }

  void step() {
    constexpr llvm::StringRef openers = "([{<";
    constexpr llvm::StringRef closers = ")]}>";
    numDigits = 0;
    if (size_t kind = openers.find(text[at]); kind != llvm::StringRef::npos) {
      brackets.push_back({closers[kind], at});
      return;
    }
    if (closers.contains(text[at])) {
      return close(text[at]);
    }
    switch (text[at]) {
    case '"':
      return skipString();
    case '/':
      return skipComment();
    case ',':
    case '=':
      brackets.back().operations = 0;
      ++definition.parts;
      return;
    case '+':
    case '*':
      return operation();
    case '-':
      return text.substr(at).starts_with("->") ? void(++at) : operation();
    case '#':
    case '!':
      return alias();
    case '\n':
      return finishAlias();
    default:
      return llvm::isAlpha(text[at]) ? word() : skipNumber();
    }
  }

  /// To the closing quote; a string ends with its line at the latest, as MLIR's lexer has it.
  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') {
        ++at;
      }
    }
  }

  void skipComment() {
    if (at + 1 >= text.size() || text[at + 1] != '/') {
      return;
    }
    at = std::min(text.find('\n', at), text.size()) - 1;
  }

  /// To its last digit; nothing if there is no number.
  void skipNumber() {
    size_t end = at;
    while (end < text.size() && llvm::isDigit(text[end])) {
      ++end;
    }
    numDigits = end - at;
    at = numDigits != 0 ? end - 1 : at;
  }

  /// Some operations of expressions are words.
  void word() {
    llvm::StringRef name = identifier();
    if (name == "mod" || name == "floordiv" || name == "ceildiv") {
      operation();
    }
    at += name.size() - 1;
  }

  void operation() { ++brackets.back().operations; }

  /// `#a =` outside of all brackets defines an alias; anywhere else, it stands for what it was
  /// defined as. What is defined later, as locations are, counts as one.
  void alias() {
    size_t start = at++; // the mark belongs to the name
    llvm::StringRef name = text.substr(start, identifier().size() + 1);
    size_t next = text.find_first_not_of(" \t", start + name.size());
    at = start + name.size() - 1;
    if (name.size() == 1) {
      return;
    }
    bool isDefinition =
        next != llvm::StringRef::npos && text[next] == '=' && !text.substr(next).starts_with("==");
    if (isDefinition && isOutside()) {
      defined = name;
      definition = {};
      begun = false;
      at = next;
      return;
    }
    auto known = aliases.find(name);
    Alias meant = known == aliases.end() ? Alias() : known->second;
    expanded += meant.parts;
    definition.parts += meant.parts;
    definition.depth = std::max(definition.depth, meant.depth + 1);
  }

  /// At the end of a line, if all brackets are closed and there was more than comments.
  void finishAlias() {
    if (defined.empty() || !isOutside() || !begun) {
      return;
    }
    aliases[defined] = definition;
    deepest = std::max(deepest, definition.depth);
    defined = {};
  }

  /// `<` and `>` are brackets of types and attributes, but also stand alone (`->`, `>=`): a
  /// `>` closes only a `<` right before it, and other brackets close every `<` inside.
  void close(char closer) {
    if (closer == '>') {
      if (brackets.back().closer == '>') {
        brackets.pop_back();
      }
      return;
    }
    while (brackets.back().closer == '>') {
      brackets.pop_back();
    }
    if (brackets.back().closer == closer) {
      brackets.pop_back();
    }
  }

  bool isOutside() const { return brackets.size() == 1; }

  llvm::StringRef identifier() const {
    return text.substr(at).take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
  }

  llvm::StringRef text;
  size_t at = 0;
  size_t end = 0; ///< of the last token
  std::vector<Bracket> brackets{
      {'\0'}};          ///< what would close each open bracket; the text itself first
  size_t numDigits = 0; ///< of the number just passed

  llvm::StringMap<Alias> aliases;
  llvm::StringRef defined; ///< the alias that is being defined; empty if none is
  bool begun = false;      ///< whether something of it was read
  Alias definition;
  size_t expanded = 0; ///< attributes in all, with aliases written out
  size_t deepest = 0;  ///< alias so far
};

//===----------------------------------------------------------------------===//
// Depth of operations
//===----------------------------------------------------------------------===//

/// Whether regions nest at most maxRegions deep under `op`. Without recursion.
bool isShallow(mlir::Operation *op) {
  std::vector<std::pair<mlir::Operation *, uint32_t>> open{{op, 0}}; // and how many are around it
  while (!open.empty()) {
    auto [current, depth] = open.back();
    open.pop_back();
    if (depth > maxRegions) {
      return false;
    }
    for (mlir::Region &region : current->getRegions()) {
      for (mlir::Operation &nested : region.getOps()) {
        open.push_back({&nested, depth + 1});
      }
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

enum class Verdict : int { Fine = 0, TooDeep = 1, Damaged = 2, NotTried = 3 };

/// The most that this process has needed so far.
size_t peakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

/// Memory that reading may take: many times what sound bytecode of this size takes.
size_t bytesToRead(const llvm::MemoryBuffer &buffer) {
  return (size_t(256) << 20) + 1000 * buffer.getBufferSize();
}

/// Reads the bytecode, and judges what it holds. MLIR itself reports bytecode that ends early; this
/// is about the rest, so whatever it can report is fine.
Verdict judge(const llvm::MemoryBuffer &buffer, const mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
  auto *block = new mlir::Block; // never destroyed: that recurses, and the process ends here
  mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
  size_t before = peakBytes();
  bool isRead = mlir::succeeded(mlir::readBytecodeFile(buffer, block, config));
  if (peakBytes() - before > bytesToRead(buffer)) {
    return Verdict::Damaged;
  }
  if (!isRead) {
    return Verdict::Fine;
  }
  for (mlir::Operation &op : *block) {
    if (!isShallow(&op)) {
      return Verdict::TooDeep;
    }
  }
  for (mlir::Operation &op : *block) {
    (void)mlir::verify(&op);
    // A few bytes can hold attributes that never end once they are written out, as in an error.
    op.print(llvm::nulls());
  }
  return Verdict::Fine;
}

/// Processor time that reading may take: many times what sound bytecode of this size takes.
rlim_t secondsToRead(const llvm::MemoryBuffer &buffer) {
  return 1 + buffer.getBufferSize() / (64 * 1024);
}

[[noreturn]] void judgeAndExit(const llvm::MemoryBuffer &buffer,
                               const mlir::DialectRegistry &registry) {
  for (int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU}) {
    std::signal(fatal, SIG_DFL);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody would hear what is found
  rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  rlimit seconds{secondsToRead(buffer), secondsToRead(buffer)};
  setrlimit(RLIMIT_CPU, &seconds);
  int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  _exit(static_cast<int>(judge(buffer, registry)));
}

/// How a child ended; nothing if that cannot be known. A signal to this process, as of a timer,
/// only interrupts the wait.
std::optional<int> statusOf(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
    if (errno != EINTR) {
      return std::nullopt;
    }
  }
  return status;
}

/// MLIR 22 trusts bytecode: flipped bits or 10^5 regions around one another end the process, and a
/// few bytes can claim millions of blocks. So a child process goes first, with little time and
/// memory.
Verdict judgeInChild(const llvm::MemoryBuffer &buffer, const mlir::DialectRegistry &registry) {
  pid_t child = fork();
  if (child == 0) {
    judgeAndExit(buffer, registry);
  }
  std::optional<int> status = child > 0 ? statusOf(child) : std::nullopt;
  if (!status) {
    return Verdict::NotTried;
  }
  return WIFEXITED(*status) ? static_cast<Verdict>(WEXITSTATUS(*status)) : Verdict::Damaged;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

mlir::Location placeIn(const llvm::MemoryBuffer &buffer, Location where,
                       mlir::MLIRContext *context) {
  return mlir::FileLineColLoc::get(context, buffer.getBufferIdentifier(), where.line, where.column);
}

mlir::InFlightDiagnostic errorIn(const llvm::MemoryBuffer &buffer, Location where,
                                 mlir::MLIRContext *context) {
  return mlir::emitError(placeIn(buffer, where, context));
}

bool isSafeText(const llvm::MemoryBuffer &buffer, TextGuard &guard, mlir::MLIRContext *context) {
  Location where;
  std::optional<std::string> problem = guard.find(where);
  if (problem) {
    errorIn(buffer, where, context) << *problem;
  }
  return !problem;
}

/// MLIR says which operation it does not know; this adds which one may have been meant.
void nameNearest(mlir::Diagnostic &said, mlir::MLIRContext &context) {
  constexpr llvm::StringLiteral before = "custom op 'tally.", after = "' is unknown";
  std::string text = said.str();
  llvm::StringRef name = text;
  if (!name.consume_front(before) || name.find(after) == llvm::StringRef::npos) {
    return;
  }
  name = name.take_until([](char c) { return c == '\''; });
  std::vector<std::string_view> known;
  for (mlir::RegisteredOperationName operation :
       context.getRegisteredOperationsByDialect("tally")) {
    known.push_back(operation.stripDialect());
  }
  std::string_view nearest = nearestName(name, known);
  if (!nearest.empty()) {
    said << "; did you mean 'tally." << llvm::StringRef(nearest) << "'?";
  }
}

/// `said` of the end of a text: "custom op 'tally.dep' expected the name of the consumer".
std::string endMessage(std::string_view said, bool isInBraces) {
  constexpr std::string_view word = "expected ";
  size_t found = said.find(word);
  if (found == std::string_view::npos) {
    return fmt::format("{}; the text ends here", said);
  }
  std::string_view wanted = said.substr(found + word.size());
  wanted = wanted == "operation name in quotes" && isInBraces ? "'}'" : wanted;
  return fmt::format("the text ends where {} is expected", wanted.substr(0, wanted.find(" to ")));
}

/// Parses; of an error at the end it says that the text ends there. MLIR's parser says what it
/// would have read next, which reads as if something else were wrong.
mlir::OwningOpRef<mlir::ModuleOp> parseToItsEnd(const llvm::MemoryBuffer &buffer,
                                                const TextEnd &end, llvm::SourceMgr &sources,
                                                const mlir::ParserConfig &config) {
  std::string atEnd;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    mlir::ScopedDiagnosticHandler handler(config.getContext(), [&](mlir::Diagnostic &said) {
      auto where = said.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
      bool isAtEnd = where && where.getFilename() == buffer.getBufferIdentifier() &&
                     std::pair(where.getLine(), where.getColumn()) >=
                         std::pair(end.where.line, end.where.column);
      if (isAtEnd && said.getSeverity() == mlir::DiagnosticSeverity::Error) {
        atEnd = endMessage(said.str(), end.brace.has_value());
      }
      nameNearest(said, *config.getContext());
      return mlir::success(!atEnd.empty());
    });
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  }
  if (!atEnd.empty()) {
    mlir::InFlightDiagnostic error = errorIn(buffer, end.where, config.getContext());
    error << atEnd;
    if (end.brace) {
      error.attachNote(placeIn(buffer, *end.brace, config.getContext())) << "this '{' is open";
    }
  }
  return module;
}

bool isSafeBytecode(const llvm::MemoryBuffer &buffer, mlir::MLIRContext *context) {
  switch (judgeInChild(buffer, context->getDialectRegistry())) {
  case Verdict::Fine:
    return true;
  case Verdict::TooDeep:
    errorIn(buffer, {}, context) << "regions nest more than " << maxRegions << " deep; at most "
                                 << maxDepth << " loops and branches may enclose one another";
    return false;
  case Verdict::Damaged:
    errorIn(buffer, {}, context) << "damaged bytecode; write it again from its source";
    return false;
  case Verdict::NotTried:
    errorIn(buffer, {}, context) << "cannot start the process that tries bytecode first; give more "
                                    "processes, or the kernel as text";
    return false;
  }
  return false;
}

/// MLIR would show the whole operation with it.
bool reportEqualSymbols(mlir::ModuleOp module) {
  bool ok = true;
  llvm::DenseMap<mlir::StringAttr, mlir::Operation *> byName;
  for (auto symbol : module.getOps<mlir::SymbolOpInterface>()) {
    auto [known, isNew] = byName.try_emplace(symbol.getNameAttr(), symbol);
    if (!isNew) {
      llvm::StringRef kind = mlir::isa<ir::KernelOp>(symbol) ? "kernel" : "symbol";
      mlir::InFlightDiagnostic error = mlir::emitError(symbol.getLoc(), "there is another ");
      error << kind << " '" << printable(std::string_view(symbol.getName()))
            << "'; names of kernels and other symbols are unique in a module";
      error.attachNote(known->second->getLoc()) << "the first is here";
      ok = false;
    }
  }
  return ok;
}

/// All code whose kernel is sound.
bool verifyCode(mlir::ModuleOp module, const llvm::SmallPtrSetImpl<mlir::Operation *> &faulty) {
  bool ok = true;
  mlir::SymbolTableCollection symbols;
  for (ir::CodeOp code : module.getOps<ir::CodeOp>()) {
    if (faulty.contains(code)) {
      continue; // it may not even name a kernel
    }
    if (!faulty.contains(symbols.lookupSymbolIn(module, code.getKernelAttr()))) {
      ok &= mlir::succeeded(code.verifySymbolUses(symbols));
    }
  }
  return ok;
}

/// MLIR's verifier stops at the first operation that fails; here each part of the
/// module has its say, before the module as a whole.
bool verifyAll(mlir::ModuleOp module) {
  // Generic form can leave out block and region; then getBody() must not be asked.
  if (module->getNumRegions() != 1 || module.getBodyRegion().empty()) {
    return mlir::succeeded(mlir::verify(module, /*verifyRecursively=*/false));
  }
  llvm::SmallPtrSet<mlir::Operation *, 8> faulty;
  for (mlir::Operation &op : *module.getBody()) {
    if (mlir::failed(mlir::verify(&op))) {
      faulty.insert(&op);
    }
  }
  bool ok = reportEqualSymbols(module) && verifyCode(module, faulty) && faulty.empty();
  return ok && mlir::succeeded(mlir::verify(module, /*verifyRecursively=*/false));
}

} // namespace

std::unique_ptr<llvm::MemoryBuffer> readKernelFile(llvm::StringRef path, std::string &problem) {
  FileText file = readFile(path.str(), kernelInput);
  llvm::StringRef name = path == "-" ? "<stdin>" : path;
  if (!file.problem.empty()) {
    problem = fmt::format("cannot read '{}': {}", std::string_view(name), file.problem);
    return nullptr;
  }
  llvm::StringRef text = file.text;
  text.consume_front("\xEF\xBB\xBF"); // with which some editors mark UTF-8
  return llvm::MemoryBuffer::getMemBufferCopy(text, name);
}

bool isSafeToParse(const llvm::MemoryBuffer &buffer, mlir::MLIRContext *context) {
  TextGuard guard(buffer.getBuffer());
  return mlir::isBytecode(buffer) ? isSafeBytecode(buffer, context)
                                  : isSafeText(buffer, guard, context);
}

mlir::OwningOpRef<mlir::ModuleOp> readModule(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                             llvm::SourceMgr &sources, mlir::MLIRContext *context) {
  const llvm::MemoryBuffer &text = *buffer;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::ParserConfig config(context, /*verifyAfterParse=*/false);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TextGuard guard(text.getBuffer());
  if (mlir::isBytecode(text)) {
    module = isSafeBytecode(text, context) ? mlir::parseSourceFile<mlir::ModuleOp>(sources, config)
                                           : nullptr;
  } else if (isSafeText(text, guard, context)) {
    module = parseToItsEnd(text, guard.textEnd(), sources, config);
  }
  if (!module || !verifyAll(*module)) {
    return {};
  }
  return module;
}

} // namespace tally
