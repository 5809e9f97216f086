//===- Assembly.h - Text of operations, from the fields of their structs --===//
//
// Parses what stands behind the name of an operation by the list of fields of its struct
// (Fields.h): what stands first, then clauses, in any order, each at most once. Text.h prints it;
// what is printed parses to the same.
//
// The parser accepts what has the right form. Whether names exist and numbers make
// sense is judged later, all at once, by the verifier of the whole kernel. Two things
// cannot wait: numbers that fit nowhere, and bodies nested so deep that parsing them, which
// recurses, would end the process.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_IR_ASSEMBLY_H
#define TALLY_LIB_IR_ASSEMBLY_H

#include "tally/IR/Tally.h"
#include "tally/Written/Text.h"

namespace tally::ir {

using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::OperationState;
using mlir::ParseResult;

/// Whether an operation stands in no body where it may not be (Verify.cpp).
mlir::LogicalResult verifyPlace(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ParseResult parseName(OpAsmParser &parser, std::string &name, const char *what);
ParseResult parseCount(OpAsmParser &parser, uint64_t &count);
ParseResult parsePasses(OpAsmParser &parser, uint64_t &passes);
ParseResult parseOperand(OpAsmParser &parser, OperandData &operand);
ParseResult parseLead(OpAsmParser &parser, llvm::StringRef lead);
ParseResult parseAttributes(OpAsmParser &parser, OperationState &result);
ParseResult parseRegion(OpAsmParser &parser, mlir::Region *body);
ParseResult parseBranches(OpAsmParser &parser, OperationState &result);
void printAttributes(OpAsmPrinter &p, mlir::Operation *op);
void printBody(OpAsmPrinter &p, mlir::Region &body);

/// Of `tally.set`, which has no clauses.
ParseResult parseStruct(OpAsmParser &parser, SetData &data);

template <Struct S>
ParseResult parseStruct(OpAsmParser &parser, S &data, const char *what = nullptr,
                        bool isInside = false);

template <typename F, typename T>
ParseResult parseValue(OpAsmParser &parser, const F &field, T &value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return parseName(parser, value, field.what);
  } else if constexpr (std::is_same_v<T, Ref>) {
    return parseName(parser, value.name, field.what);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if (field.word && !field.wordAlone && succeeded(parser.parseOptionalKeyword(field.word))) {
      value = field.wordValue;
      return mlir::success();
    }
    return field.wordAlone ? parsePasses(parser, value) : parseCount(parser, value);
  } else if constexpr (std::is_same_v<T, OperandData>) {
    return parseOperand(parser, value);
  } else if constexpr (isOptional<T>) {
    return parseValue(parser, field, value.emplace());
  } else if constexpr (isVector<T>) {
    return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
      return parseValue(parser, field, value.emplace_back());
    });
  } else {
    return parseStruct(parser, value, nullptr, /*isInside=*/!std::is_same_v<T, QueueData>);
  }
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// The words that begin clauses of a struct; words about the same topic exclude one another.
struct Words {
  std::vector<llvm::StringRef> texts;
  std::vector<const char *> topics;

  void add(llvm::StringRef text, const char *topic) {
    texts.push_back(text);
    topics.push_back(topic);
  }
};

/// Calls `fn(word, topic)` for each word that begins a clause of the field.
template <typename S, typename T, typename Fn> void forWords(const Field<S, T> &field, Fn &&fn) {
  if constexpr (std::is_same_v<T, QueueData>) {
    forEachField<T>([&](const auto &inner) { forWords(inner, fn); });
  } else if (field.isFirst) {
    return;
  } else if constexpr (std::is_same_v<T, TripData>) {
    fn("trips", field.topic);
    fn("while", field.topic);
    fn("min", nullptr);
    fn("max", nullptr);
  } else if constexpr (std::is_same_v<T, DistanceData>) {
    fn("flat", field.topic);
    fn("element", field.topic);
    fn("at", nullptr);
  } else if constexpr (std::is_enum_v<T>) {
    for (std::string_view word : wordsOf<T>) {
      if (!word.empty()) {
        fn(word, field.topic);
      }
    }
  } else {
    fn(field.name, field.topic);
    if (field.wordAlone) {
      fn(field.word, field.topic);
    }
  }
}

template <typename S, typename T> bool begins(const Field<S, T> &field, llvm::StringRef word) {
  bool found = false;
  forWords(field, [&](llvm::StringRef text, const char *) { found |= text == word; });
  return found;
}

ParseResult parseClause(OpAsmParser &parser, TripData &trip, llvm::StringRef word);
ParseResult parseClause(OpAsmParser &parser, DistanceData &distance, llvm::StringRef word);

/// What stands behind a word.
template <typename S, typename T>
ParseResult parseClause(OpAsmParser &parser, const Field<S, T> &field, T &value,
                        llvm::StringRef word) {
  if constexpr (std::is_same_v<T, TripData> || std::is_same_v<T, DistanceData>) {
    return parseClause(parser, value, word);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = true;
    return mlir::success();
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(llvm::find(wordsOf<T>, std::string_view(word)) - wordsOf<T>.begin());
    return mlir::success();
  } else {
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (field.wordAlone && word == field.word) {
        value = field.wordValue;
        return mlir::success();
      }
    }
    return parseValue(parser, field, value);
  }
}

/// Which clauses of an operation were there, and where.
class Clauses {
public:
  Clauses(OpAsmParser &parser, const Words &words)
      : parser(parser), words(words), places(words.texts.size()) {}

  /// Passes the word that begins the next clause; empty if there is none.
  llvm::StringRef next();

  /// Whether the clause passed last may stand here.
  ParseResult checkFree();

  /// A word that begins nothing else is a clause that there is not.
  ParseResult checkEnd() const;

  bool has(llvm::StringRef word) const {
    auto found = llvm::find(words.texts, word);
    return found != words.texts.end() &&
           places[static_cast<size_t>(found - words.texts.begin())].isValid();
  }

  /// What a struct asks of its clauses together.
  template <typename S, typename T> ParseResult check(const Field<S, T> &field, const T &value) {
    if constexpr (std::is_same_v<T, TripData>) {
      return checkTrips(value);
    } else if constexpr (std::is_same_v<T, DistanceData>) {
      return checkDistance();
    } else {
      return field.isFirst || !field.needed || has(field.name) ? ParseResult(mlir::success())
                                                               : missing(field.name, field.needed);
    }
  }

private:
  ParseResult missing(const char *word, const char *needed) const;
  ParseResult checkTrips(const TripData &trip) const;
  ParseResult checkDistance() const;

  OpAsmParser &parser;
  const Words &words;
  llvm::SmallVector<llvm::SMLoc> places; ///< of those that were there, by word
  llvm::SMLoc at;                        ///< of what comes next
  size_t last = 0;
};

/// What stands before the clauses. `what` is what a struct inside another calls its name.
template <Struct S>
ParseResult parseFirst(OpAsmParser &parser, S &data, const char *what = nullptr) {
  bool ok = true;
  forEachField<S>([&]<typename T>(Field<S, T> field) {
    if (!ok) {
      return;
    }
    if constexpr (std::is_same_v<T, QueueData>) {
      ok = succeeded(parseFirst(parser, data.*field.member, field.what));
    } else if constexpr (mayBeFirst<T>) {
      if (field.isFirst) {
        field.what = what ? what : field.what;
        ok = succeeded(parseLead(parser, field.lead ? field.lead : "")) &&
             succeeded(parseValue(parser, field, data.*field.member));
      }
    }
  });
  return mlir::failure(!ok);
}

/// Parses the clause that `word` begins; false if it is none of this struct.
template <Struct S>
bool dispatch(OpAsmParser &parser, S &data, llvm::StringRef word, ParseResult &result) {
  bool found = false;
  forEachField<S>([&]<typename T>(const Field<S, T> &field) {
    if (found) {
      return;
    }
    if constexpr (std::is_same_v<T, QueueData>) {
      found = dispatch(parser, data.*field.member, word, result);
    } else if (begins(field, word)) {
      found = true;
      result = parseClause(parser, field, data.*field.member, word);
    }
  });
  return found;
}

template <Struct S>
ParseResult parseStruct(OpAsmParser &parser, S &data, const char *what, bool isInside) {
  static const Words words = [] {
    Words all;
    auto add = [&](llvm::StringRef text, const char *topic) { all.add(text, topic); };
    forEachField<S>([&](const auto &field) { forWords(field, add); });
    return all;
  }();
  if (failed(parseFirst(parser, data, what))) {
    return mlir::failure();
  }
  Clauses clauses(parser, words);
  for (llvm::StringRef word = clauses.next(); !word.empty(); word = clauses.next()) {
    ParseResult result = mlir::success();
    if (failed(clauses.checkFree()) || !dispatch(parser, data, word, result) || failed(result)) {
      return mlir::failure();
    }
  }
  bool ok = isInside || succeeded(clauses.checkEnd());
  forEachField<S>(
      [&](const auto &field) { ok = ok && succeeded(clauses.check(field, data.*field.member)); });
  return mlir::failure(!ok);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

template <typename OpT, typename Data> void store(OperationState &result, Data data) {
  result.getOrAddProperties<typename OpT::Properties>().data = std::move(data);
}

/// Its struct, attributes, then bodies.
template <typename OpT> ParseResult parseOp(OpAsmParser &parser, OperationState &result) {
  DataOf<OpT> data;
  if (failed(parseStruct(parser, data)) || failed(parseAttributes(parser, result))) {
    return mlir::failure();
  }
  store<OpT>(result, std::move(data));
  if constexpr (HasBranches<OpT>) {
    return parseBranches(parser, result);
  } else if constexpr (HasBody<OpT>) {
    return parseRegion(parser, result.addRegion());
  }
  return mlir::success();
}

template <Struct S> void printStruct(OpAsmPrinter &p, const S &data) {
  std::string text;
  appendText(text, data);
  p.getStream() << text;
}

template <typename OpT> void printOp(OpAsmPrinter &p, OpT op) {
  printStruct(p, op.getData());
  printAttributes(p, op);
  if constexpr (HasBranches<OpT>) {
    printBody(p, op.getThenBody());
    if (!op.getElseBody().empty()) {
      p << " else";
      printBody(p, op.getElseBody());
    }
  } else if constexpr (HasBody<OpT>) {
    printBody(p, op.getBody());
  }
}

} // namespace tally::ir

#endif // TALLY_LIB_IR_ASSEMBLY_H
