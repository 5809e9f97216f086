//===- Text.h - Written structs as text -----------------------------------===//
//
// What stands after the name of an operation, made from the list of fields (Fields.h): what stands
// first, then the clauses in the order of the list. Defaults are left out.
//
//   "dma" weight 16 queues ["qload", "qstore" weight 2]
//
// Each part begins with a blank. Parsing is in lib/IR/Grammar.h: it needs types of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_TEXT_H
#define TALLY_WRITTEN_TEXT_H

#include "tally/Written/Data.h"

#include <charconv>

namespace tally {

/// Everything the kernel holds, as text, for debugging.
std::string dump(const Kernel &kernel);

} // namespace tally

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

/// Runs `each` for the values, with a comma between them.
template <typename T, typename Each>
void appendList(std::string &out, std::string_view open, const std::vector<T> &values,
                std::string_view close, Each each) {
  out += open;
  for (size_t i = 0; i < values.size(); ++i) {
    out += i == 0 ? "" : ", ";
    each(values[i]);
  }
  out += close;
}

/// A value, after a blank.
template <typename T> void appendValue(std::string &out, const T &value) {
  if constexpr (std::is_same_v<T, std::string>) {
    appendQuoted(out, value);
  } else if constexpr (std::is_integral_v<T>) {
    appendNumber(out, value);
  } else if constexpr (std::is_same_v<T, Ref>) {
    appendQuoted(out, value.name);
  } else if constexpr (std::is_same_v<T, OperandData>) {
    value.reg.isGiven() ? appendValue(out, value.reg) : appendNumber(out, value.number);
  } else if constexpr (isVector<T>) {
    appendList(out, "[", value, "]", [&](const auto &each) { appendValue(out, each); });
  } else if constexpr (isOptional<T>) {
    appendValue(out, *value);
  } else {
    size_t start = out.size();
    appendText(out, value);
    out.erase(start, 1); // its blank
  }
}

/// ` word value`; or ` word`, of a struct whose fields have their defaults.
template <typename T> void appendWord(std::string &out, std::string_view word, const T &value) {
  out += ' ';
  out += word;
  out += ' ';
  const size_t start = out.size();
  appendValue(out, value);
  if (out.size() == start) {
    out.pop_back();
  }
}

void appendClause(std::string &out, const TripData &trip);
void appendClause(std::string &out, const DistanceData &distance);

/// Whether a number is written as its word.
template <typename S, typename T> bool isWord(const Field<S, T> &field, const T &value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return field.word && value == field.wordValue;
  }
  return false;
}

/// A field of a struct, with the blank before it. What has its default is left out.
template <typename S, typename T>
void appendField(std::string &out, const Field<S, T> &field, const S &data) {
  static const S defaults;
  const T &value = data.*field.member;
  if (field.isFirst) {
    if constexpr (mayBeFirst<T>) {
      out += ' ';
      if (field.lead) {
        (out += field.lead) += ' ';
      }
      appendValue(out, value);
    }
  } else if constexpr (std::is_same_v<T, TripData>) {
    appendClause(out, value);
  } else if constexpr (std::is_same_v<T, QueueData>) {
    appendText(out, value); // its fields stand as if they were ours
  } else if (value != defaults.*field.member) {
    if constexpr (std::is_same_v<T, DistanceData>) {
      appendClause(out, value);
    } else if constexpr (std::is_enum_v<T>) {
      (out += ' ') += toString(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      (out += ' ') += field.name;
    } else if (!isWord(field, value)) {
      appendWord(out, field.name, value);
    } else {
      out += ' ';
      out += field.wordAlone ? "" : std::string(field.name) + " ";
      out += field.word;
    }
  }
}

template <Struct S> void appendText(std::string &out, const S &data) {
  forEachField<S>([&](const auto &field) { appendField(out, field, data); });
}

} // namespace tally::written

#endif // TALLY_WRITTEN_TEXT_H
