//===- main.cpp - Kernels in an editor ------------------------------------===//
//
// A server of the Language Server Protocol on stdin and stdout. Server.h has what it does.
//
// JSON may nest as deep as a sender likes, and its reader recurses. That must not end the server,
// so all runs on a stack that is larger than messages are.
//
//===----------------------------------------------------------------------===//

#include "Server.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <malloc.h>
#include <optional>
#include <pthread.h>
#include <unistd.h>

using namespace tally::server;
namespace cl = llvm::cl;
namespace lsp = llvm::lsp;

namespace {

constexpr int wrongUse = 2;

struct Options {
  cl::OptionCategory category{"Options of the server"};
  cl::opt<bool> stdio{"stdio", cl::desc("use stdin and stdout; there is no other way"),
                      cl::cat(category)};
  cl::opt<bool> litTest{"lit-test", cl::cat(category),
                        cl::desc("for tests: requests are separated by '// -----', answers are "
                                 "printed for readers")};
};

/// What keeps JSON from being a message; success if nothing does.
llvm::Error problemOf(llvm::StringRef json) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value) {
    return llvm::make_error<lsp::LSPError>(llvm::toString(value.takeError()),
                                           lsp::ErrorCode::ParseError);
  }
  const llvm::json::Object *object = value->getAsObject();
  bool isMessage = object && object->getString("jsonrpc") == "2.0" &&
                   (object->getString("method") || (object->get("id") && !object->get("method")));
  return isMessage ? llvm::Error::success()
                   : llvm::make_error<lsp::LSPError>("this is not a message of JSON-RPC 2.0",
                                                     lsp::ErrorCode::InvalidRequest);
}

/// One line without its end; nothing at the end of the input.
std::optional<std::string> readLine(std::FILE *in) {
  std::string line;
  int letter = 0;
  while ((letter = std::fgetc(in)) != EOF && letter != '\n') {
    line += static_cast<char>(letter);
  }
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  return letter == EOF ? std::nullopt : std::optional(std::move(line));
}

/// A message behind its header, whose fields are as in HTTP: in upper or lower case, with blanks or
/// without. A header without a length is passed over.
llvm::LogicalResult readFramed(std::FILE *in, std::string &json) {
  constexpr size_t longest = size_t(1) << 30;
  size_t length = 0;
  for (;;) {
    std::optional<std::string> line = readLine(in);
    if (!line) {
      return llvm::failure();
    }
    if (line->empty() && length > 0) {
      break;
    }
    auto [name, value] = llvm::StringRef(*line).split(':');
    size_t number = 0;
    if (name.trim().equals_insensitive("content-length") &&
        !value.trim().getAsInteger(10, number)) {
      length = std::min(number, longest);
    }
  }
  json.resize(length);
  return llvm::success(std::fread(json.data(), 1, length, in) == length);
}

/// Reads from stdin. In front of each message it lets the server work while there is nothing to
/// read; tests have all messages at once, and expect that each is answered in full. The transport
/// would end at what is no message.
class Input : public lsp::JSONTransportInput {
public:
  Input(std::FILE *in, lsp::JSONStreamStyle style)
      : JSONTransportInput(style), in(in), file(in, style) {}

  bool hasError() const final { return file.hasError(); }

  bool isEndOfInput() const final { return file.isEndOfInput(); }

  llvm::LogicalResult readDelimitedMessage(std::string &json) final { return read(-1, json); }

  llvm::LogicalResult readStandardMessage(std::string &json) final {
    return read(STDIN_FILENO, json);
  }

  std::function<void(int input)> whileIdle;
  std::function<void(llvm::Error problem)> refuse;

private:
  llvm::LogicalResult read(int stream, std::string &json) {
    whileIdle(stream);
    llvm::LogicalResult result = stream < 0 ? file.readMessage(json) : readFramed(in, json);
    if (llvm::failed(result)) {
      return result;
    }
    llvm::Error problem = problemOf(json);
    if (!problem) {
      return result;
    }
    refuse(std::move(problem));
    return llvm::failure(); // the transport goes on to the next
  }

  std::FILE *in;
  lsp::JSONTransportInputOverFile file;
};

struct Program {
  bool litTest = false;
  bool wasShutDown = false;

  void run();
};

/// Without a buffer of its own, all that stdin has is still to be seen by poll().
void Program::run() {
  std::setvbuf(stdin, nullptr, _IONBF, 0);
  auto input = std::make_unique<Input>(stdin, litTest ? lsp::JSONStreamStyle::Delimited
                                                      : lsp::JSONStreamStyle::Standard);
  Input &reader = *input;
  lsp::JSONTransport transport(std::move(input), llvm::outs(), litTest);
  Server server(transport);
  reader.whileIdle = [&](int stream) { server.examineChanged(stream); };
  reader.refuse = [&](llvm::Error problem) { transport.reply(nullptr, std::move(problem)); };
  wasShutDown = server.run();
  llvm::outs().flush();
  llvm::outs().clear_error(); // an editor that is gone is none
}

void *runProgram(void *program) {
  static_cast<Program *>(program)->run();
  return nullptr;
}

/// A stack takes no memory before it is used. False if there cannot be one of this size.
bool runOnStack(size_t bytes, Program &program) {
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
  bool isRunning = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                   pthread_create(&thread, &attributes, runProgram, &program) == 0;
  pthread_attr_destroy(&attributes);
  return isRunning && pthread_join(thread, nullptr) == 0;
}

void printVersion(llvm::raw_ostream &out) {
  out << "tally-lsp-server " << TALLY_VERSION << " (MLIR 22)\n";
}

} // namespace

int main(int argc, char **argv) {
  // One heap, which grows by megabytes: those of other threads grow by a page at a time.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 16 << 20);
  std::signal(SIGPIPE, SIG_IGN); // an editor that is gone also ends the input
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::SetVersionPrinter(printVersion);
  if (!cl::ParseCommandLineOptions(argc, argv, "tally-lsp-server: kernels in an editor\n",
                                   &llvm::errs())) {
    return wrongUse;
  }
  Program program{options.litTest};
  constexpr size_t largest = size_t(16) << 30;
  constexpr size_t smallest = size_t(8) << 20;
  for (size_t bytes = largest; bytes >= smallest; bytes /= 2) {
    if (runOnStack(bytes, program)) {
      return program.wasShutDown ? 0 : 1;
    }
  }
  program.run();
  return program.wasShutDown ? 0 : 1;
}
