//===- TextForm.cpp - Kernels and code in the text of the dialect ---------===//
//
// Byte for byte what MLIR prints of the operations, without making them.
//
//===----------------------------------------------------------------------===//

#include "tally/Written/Text.h"
#include "tally/Written/Write.h"

namespace tally::written {
namespace {

class TextForm {
public:
  TextForm(std::string &out, unsigned indent) : out(out), indent(indent) {}

  /// `tally.kernel @k reserves [0] {`
  template <Struct S> void open(std::string_view name, const S &data, const Origin &) {
    begin<S>();
    out += ' ';
    appendSymbol(out, name);
    appendText(out, data);
    deeper();
  }

  template <Struct S> void add(const S &data, const Origin &) {
    begin<S>();
    appendText(out, data);
    out += '\n';
  }

  template <Struct S> void open(const S &data, const Origin &) {
    begin<S>();
    appendText(out, data);
    deeper();
  }

  void otherwise() {
    indent -= 2;
    out.append(indent, ' ');
    out += "} else";
    deeper();
  }

  void close() {
    indent -= 2;
    out.append(indent, ' ');
    out += "}\n";
  }

  void startSteps() {}

  void closeProgram() { close(); }

private:
  template <Struct S> void begin() {
    out.append(indent, ' ');
    out += "tally.";
    out += S::word;
  }

  void deeper() {
    out += " {\n";
    indent += 2;
  }

  std::string &out;
  unsigned indent;
};

} // namespace

void appendKernelText(std::string &out, const Kernel &kernel, unsigned indent) {
  TextForm form(out, indent);
  writeKernel(kernel, form);
}

void appendCodeText(std::string &out, const Kernel &kernel, const Code &code, unsigned indent) {
  TextForm form(out, indent);
  writeCode(kernel, code, form);
}

} // namespace tally::written

std::string tally::dump(const Kernel &kernel) {
  std::string text;
  written::appendKernelText(text, kernel, 0);
  return text;
}
