//===- Text.h - Written structs as text -----------------------------------===//
//
// What stands behind the name of an operation, made from the list of fields (Fields.h): what stands
// first, then the clauses in the order of the list. Defaults are left out.
//
//   "dma" weight 16 queues ["qload", "qstore" weight 2]
//
// Each part begins with a blank. Parsing is in lib/IR/Assembly.h: it needs MLIR's parser.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_TEXT_H
#define TALLY_WRITTEN_TEXT_H

#include "tally/Written/Data.h"

#include <charconv>

namespace tally::written {

/// A kernel, or the code of one, in the text of the dialect, `indent` blanks to the right.
void appendKernelText(std::string &out, const Kernel &kernel, unsigned indent);
void appendCodeText(std::string &out, const Kernel &kernel, const Code &code, unsigned indent);

/// In quotes; what is not printable in ASCII becomes `\xx`.
void appendQuoted(std::string &out, std::string_view text);

/// A name of a symbol, `@k` or `@"my kernel"`.
void appendSymbol(std::string &out, std::string_view name);

template <typename T>
  requires std::is_integral_v<T>
void appendNumber(std::string &out, T number) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

/// The operator of `tally.set`; empty for a move.
std::string_view spelling(AluOp op);

void appendText(std::string &out, const SetData &data);
template <Struct S> void appendText(std::string &out, const S &data);

// Values, behind a blank.

inline void appendValue(std::string &out, const std::string &value) {
  appendQuoted(out, value);
}

inline void appendValue(std::string &out, uint64_t value) {
  appendNumber(out, value);
}

inline void appendValue(std::string &out, const Ref &value) {
  appendQuoted(out, value.name);
}

inline void appendValue(std::string &out, const OperandData &value) {
  value.reg.isGiven() ? appendValue(out, value.reg) : appendNumber(out, value.number);
}

template <Struct S> void appendValue(std::string &out, const S &value) {
  size_t start = out.size();
  appendText(out, value);
  out.erase(start, 1); // its blank
}

template <typename T> void appendValue(std::string &out, const std::vector<T> &values) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    out += i == 0 ? "" : ", ";
    appendValue(out, values[i]);
  }
  out += ']';
}

template <typename T> void appendValue(std::string &out, const std::optional<T> &value) {
  appendValue(out, *value);
}

// Clauses, with the blank before them.

template <typename F, typename T>
void appendClause(std::string &out, const F &field, const T &value) {
  if (value == T()) {
    return;
  }
  out += ' ';
  out += field.name;
  out += ' ';
  appendValue(out, value);
}

template <typename F> void appendClause(std::string &out, const F &field, bool value) {
  if (value) {
    out += ' ';
    out += field.name;
  }
}

template <typename F, typename E>
  requires std::is_enum_v<E>
void appendClause(std::string &out, const F &, const E &value) {
  if (value != E()) {
    out += ' ';
    out += wordsOf(value)[static_cast<size_t>(value)];
  }
}

template <typename F> void appendClause(std::string &out, const F &, const TripData &trip) {
  switch (trip.kind) {
  case Trip::Kind::Constant:
    out += " trips ";
    return appendNumber(out, trip.trips);
  case Trip::Kind::Guard:
    out += " while ";
    return appendQuoted(out, trip.symbol);
  case Trip::Kind::Value:
    break;
  }
  out += " trips ";
  appendQuoted(out, trip.symbol);
  if (trip.min != 0) {
    out += " min ";
    appendNumber(out, trip.min);
  }
  if (trip.max) {
    out += " max ";
    appendNumber(out, *trip.max);
  }
}

template <typename F> void appendClause(std::string &out, const F &, const DistanceData &distance) {
  if (distance.form != DistanceForm::Vector) {
    out += distance.form == DistanceForm::Flat ? " flat " : " element ";
    appendNumber(out, distance.step);
  }
  if (distance.form == DistanceForm::Flat) {
    return;
  }
  const char *separator = " at ";
  for (const ComponentData &component : distance.components) {
    out += separator;
    appendQuoted(out, component.loop);
    out += " = ";
    appendNumber(out, component.distance);
    separator = ", ";
  }
}

/// A field in a struct, whose default may be another than that of its type.
template <typename S, typename T>
void appendField(std::string &out, const Field<S, T> &field, const S &data) {
  static const S defaults;
  const T &value = data.*field.member;
  if (field.isFirst) {
    if (field.lead) {
      out += ' ';
      out += field.lead;
    }
    out += ' ';
    if constexpr (mayBeFirst<T>) {
      appendValue(out, value);
    }
  } else if constexpr (std::is_same_v<T, TripData>) {
    appendClause(out, field, value);
  } else if constexpr (std::is_same_v<T, QueueData>) {
    appendText(out, value); // its fields stand as if they were ours
  } else if (value != defaults.*field.member) {
    if constexpr (std::is_same_v<T, uint64_t>) {
      bool isWord = field.word && value == field.wordValue;
      out += ' ';
      out += isWord && field.wordAlone ? field.word : field.name;
      if (isWord && !field.wordAlone) {
        out += ' ';
        out += field.word;
      } else if (!isWord) {
        out += ' ';
        appendNumber(out, value);
      }
    } else {
      appendClause(out, field, value);
    }
  }
}

template <Struct S> void appendText(std::string &out, const S &data) {
  forEachField<S>([&](const auto &field) { appendField(out, field, data); });
}

} // namespace tally::written

#endif // TALLY_WRITTEN_TEXT_H
