//===- Text.cpp - Written structs as text ---------------------------------===//
#include "tally/Written/Text.h"

namespace tally::written {

static bool isAlpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

/// As MLIR's printer has it.
void appendQuoted(std::string &out, std::string_view text) {
  constexpr char hex[] = "0123456789ABCDEF";
  out += '"';
  for (char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c >= ' ' && c < 0x7f && c != '"') {
      out += c;
    } else {
      out += '\\';
      out += hex[static_cast<unsigned char>(c) >> 4];
      out += hex[static_cast<unsigned char>(c) & 15];
    }
  }
  out += '"';
}

void appendSymbol(std::string &out, std::string_view name) {
  bool isBare = !name.empty() && (isAlpha(name.front()) || name.front() == '_');
  for (char c : name) {
    isBare &= isAlpha(c) || isDigit(c) || c == '_' || c == '$' || c == '.';
  }
  out += '@';
  if (isBare) {
    out += name;
  } else {
    appendQuoted(out, name);
  }
}

std::string_view spelling(AluOp op) {
  constexpr std::string_view signs[] = {"", "+", "-", "*", "min", "gt"};
  return signs[static_cast<size_t>(op)];
}

void appendText(std::string &out, const SetData &data) {
  out += ' ';
  appendValue(out, data.target);
  out += " = ";
  appendValue(out, data.a);
  if (data.b) {
    out += ' ';
    out += spelling(data.op);
    out += ' ';
    appendValue(out, *data.b);
  }
}

} // namespace tally::written
