//===- Text.cpp - Written structs as text ---------------------------------===//
#include "tally/Written/Text.h"

#include "../Support/Scanner.h"

namespace tally::written {

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
  bool isBare = !name.empty() && isWordStart(name.front());
  for (char c : name) {
    isBare &= isWordChar(c) || c == '$';
  }
  out += '@';
  if (isBare) {
    out += name;
  } else {
    appendQuoted(out, name);
  }
}

std::string_view spelling(AluOp op) {
  constexpr std::string_view signs[] = {"", "+", "-", "*"}; // the others have their words
  return op < AluOp::Min ? signs[static_cast<size_t>(op)] : toString(op);
}

void appendClause(std::string &out, const TripData &trip) {
  if (trip.kind == Trip::Kind::Constant) {
    return appendWord(out, "trips", trip.trips);
  }
  if (trip.kind == Trip::Kind::Guard) {
    return appendWord(out, "while", trip.symbol);
  }
  appendWord(out, trip.kind == Trip::Kind::Formula ? "trips =" : "trips", trip.symbol);
  if (trip.min != 0) {
    appendWord(out, "min", trip.min);
  }
  if (trip.max) {
    appendWord(out, "max", *trip.max);
  }
}

void appendClause(std::string &out, const DistanceData &distance) {
  if (!distance.runs.empty()) {
    appendList(out, " element [", distance.runs, "]", [&](int64_t run) { appendNumber(out, run); });
    appendWord(out, "each", distance.step);
    if (!distance.over.empty()) {
      appendWord(out, "over", distance.over);
    }
  } else if (distance.form != DistanceForm::Vector) {
    appendWord(out, toString(distance.form), distance.step);
  }
  if (!distance.components.empty() && distance.form != DistanceForm::Flat) {
    appendList(out, " at ", distance.components, "", [&](const ComponentData &component) {
      appendQuoted(out, component.loop);
      out += " = ";
      appendNumber(out, component.distance);
    });
  }
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
