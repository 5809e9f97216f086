//===- ReadModule.cpp - Reads a module from whatever a file holds ---------===//
#include "tally/Transforms/ReadModule.h"

#include "tally/IR/Tally.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tally {

//===----------------------------------------------------------------------===//
// Depth of text
//===----------------------------------------------------------------------===//

namespace {

/// Why MLIR's parser should not be given a text.
struct TextProblem {
  size_t offset;
  std::string message;
};

/// Walks a text once and keeps the brackets that are open.
class TextGuard {
public:
  explicit TextGuard(llvm::StringRef text) : text(text) {}

  std::optional<TextProblem> find();

private:
  void step();
  void skipString();
  void skipComment();
  void skipNumber();

  void open(char closing) { closers.push_back(closing); }

  void close(char closing);

  llvm::StringRef text;
  size_t at = 0;
  std::vector<char> closers; ///< what would close each open bracket
  size_t numDigits = 0;      ///< of the number just passed
};

std::optional<TextProblem> TextGuard::find() {
  for (at = 0; at < text.size(); ++at) {
    size_t start = at;
    step();
    if (closers.size() > maxBrackets) {
      return TextProblem{start, fmt::format("text nests more than {} brackets deep; at most {} "
                                            "loops and branches may enclose one another",
                                            maxBrackets, maxDepth)};
    }
    if (numDigits > maxDigits) {
      return TextProblem{start, fmt::format("number with {} digits; at most {} are allowed",
                                            numDigits, maxDigits)};
    }
  }
  return std::nullopt;
}

void TextGuard::step() {
  switch (text[at]) {
  case '"':
    return skipString();
  case '/':
    return skipComment();
  case '(':
    return open(')');
  case '[':
    return open(']');
  case '{':
    return open('}');
  case '<':
    return open('>');
  case ')':
  case ']':
  case '}':
  case '>':
    return close(text[at]);
  default:
    return skipNumber();
  }
}

/// To its last digit; nothing if there is no number.
void TextGuard::skipNumber() {
  size_t end = at;
  while (end < text.size() && llvm::isDigit(text[end])) {
    ++end;
  }
  numDigits = end - at;
  at = numDigits != 0 ? end - 1 : at;
}

/// To the closing quote; a string ends with its line at the latest, as MLIR's lexer has it.
void TextGuard::skipString() {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') {
      ++at;
    }
  }
}

void TextGuard::skipComment() {
  if (at + 1 >= text.size() || text[at + 1] != '/') {
    return;
  }
  at = std::min(text.find('\n', at), text.size());
}

/// `<` and `>` are brackets of types and attributes, but also stand alone (`->`, `>=`): a
/// `>` closes only a `<` right before it, and other brackets close every `<` inside.
void TextGuard::close(char closing) {
  if (closing == '>') {
    if (!closers.empty() && closers.back() == '>') {
      closers.pop_back();
    }
    return;
  }
  while (!closers.empty() && closers.back() == '>') {
    closers.pop_back();
  }
  if (!closers.empty() && closers.back() == closing) {
    closers.pop_back();
  }
}

Location locationOf(llvm::StringRef text, size_t offset) {
  llvm::StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n') == llvm::StringRef::npos ? 0 : before.rfind('\n') + 1;
  return {0, static_cast<uint32_t>(before.count('\n') + 1),
          static_cast<uint32_t>(offset - lineStart + 1)};
}

} // namespace

std::optional<Diagnostic> checkNesting(llvm::StringRef text) {
  std::optional<TextProblem> problem = TextGuard(text).find();
  if (!problem) {
    return std::nullopt;
  }
  Diagnostic diagnostic;
  diagnostic.where = locationOf(text, problem->offset);
  diagnostic.message = std::move(problem->message);
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Depth of operations
//===----------------------------------------------------------------------===//

namespace {

/// An operation and how many regions are around it.
using Level = std::pair<mlir::Operation *, uint32_t>;

template <typename Fn> void forEachNested(mlir::Operation *op, Fn &&fn) {
  for (mlir::Region &region : op->getRegions()) {
    for (mlir::Block &block : region) {
      for (mlir::Operation &nested : block) {
        fn(&nested);
      }
    }
  }
}

} // namespace

bool isShallow(mlir::Operation *op) {
  std::vector<Level> open{{op, 0}};
  while (!open.empty()) {
    auto [current, depth] = open.back();
    open.pop_back();
    if (depth > maxRegions) {
      return false;
    }
    forEachNested(current, [&, below = depth + 1](mlir::Operation *nested) {
      open.push_back({nested, below});
    });
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Bytecode
//===----------------------------------------------------------------------===//

namespace {

enum class Verdict : int { Fine = 0, TooDeep = 1, Damaged = 2 };

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

/// MLIR 22 trusts bytecode: flipped bits or 10^5 regions around one another end the process, and a
/// few bytes can claim millions of blocks. So a child process goes first, with little time and
/// memory.
Verdict judgeInChild(const llvm::MemoryBuffer &buffer, const mlir::DialectRegistry &registry) {
  pid_t child = fork();
  if (child == 0) {
    judgeAndExit(buffer, registry);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return Verdict::Fine; // no way to know; go ahead
  }
  return WIFEXITED(status) ? static_cast<Verdict>(WEXITSTATUS(status)) : Verdict::Damaged;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

mlir::InFlightDiagnostic errorIn(const llvm::MemoryBuffer &buffer, Location where,
                                 mlir::MLIRContext *context) {
  return mlir::emitError(
      mlir::FileLineColLoc::get(context, buffer.getBufferIdentifier(), where.line, where.column));
}

bool isSafeText(const llvm::MemoryBuffer &buffer, mlir::MLIRContext *context) {
  std::optional<Diagnostic> problem = checkNesting(buffer.getBuffer());
  if (problem) {
    errorIn(buffer, problem->where, context) << problem->message;
  }
  return !problem;
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
    errorIn(buffer, {}, context) << "damaged bytecode; write it anew from its source";
    return false;
  }
  return false;
}

bool hasUniqueSymbols(mlir::ModuleOp module) {
  llvm::DenseSet<mlir::StringAttr> names;
  return llvm::all_of(module.getOps<mlir::SymbolOpInterface>(),
                      [&](auto symbol) { return names.insert(symbol.getNameAttr()).second; });
}

/// All code whose kernel is sound.
bool verifyCode(mlir::ModuleOp module, const llvm::SmallPtrSetImpl<mlir::Operation *> &faulty) {
  bool ok = true;
  mlir::SymbolTableCollection symbols;
  for (ir::CodeOp code : module.getOps<ir::CodeOp>()) {
    mlir::Operation *kernel = symbols.lookupSymbolIn(module, code.getKernelAttr());
    if (!faulty.contains(code) && !faulty.contains(kernel)) {
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
  bool ok = faulty.empty();
  if (hasUniqueSymbols(module)) {
    ok &= verifyCode(module, faulty);
  }
  return ok && mlir::succeeded(mlir::verify(module, /*verifyRecursively=*/false));
}

} // namespace

bool isSafeToParse(const llvm::MemoryBuffer &buffer, mlir::MLIRContext *context) {
  return mlir::isBytecode(buffer) ? isSafeBytecode(buffer, context) : isSafeText(buffer, context);
}

mlir::OwningOpRef<mlir::ModuleOp> readModule(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                             llvm::SourceMgr &sources, mlir::MLIRContext *context) {
  const llvm::MemoryBuffer &text = *buffer;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (!isSafeToParse(text, context)) {
    return {};
  }
  mlir::ParserConfig config(context, /*verifyAfterParse=*/false);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  if (!module || !verifyAll(*module)) {
    return {};
  }
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::StringRef path, llvm::SourceMgr &sources,
                                             mlir::MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer) {
    mlir::emitError(mlir::UnknownLoc::get(context))
        << "cannot read '" << path << "': " << buffer.getError().message();
    return {};
  }
  return readModule(std::move(*buffer), sources, context);
}

} // namespace tally
