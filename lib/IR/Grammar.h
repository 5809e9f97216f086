//===- Grammar.h - What stands after the name of an operation -------------===//
//
// Parses it by the list of fields of its struct (Fields.h): what stands first, then clauses, in any
// order, each at most once. Text.h prints it; what is printed parses to the same. `P` is MLIR's
// parser, or that of plain text (PlainText.cpp), which has the same functions.
//
// The parser accepts what has the right form. Whether names exist and numbers make
// sense is judged later, all at once, with the whole kernel. Only numbers that fit nowhere cannot
// wait.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_IR_GRAMMAR_H
#define TALLY_LIB_IR_GRAMMAR_H

#include "tally/Support/Names.h"
#include "tally/Written/Data.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

namespace tally::ir {

using namespace written;
using mlir::failed;
using mlir::failure;
using mlir::ParseResult;
using mlir::success;

//===----------------------------------------------------------------------===//
// Names and numbers
//===----------------------------------------------------------------------===//

template <typename P> ParseResult parseName(P &parser, std::string &name, const char *what) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&name))) {
    return parser.emitError(at) << "expected the name of " << what << " in quotes";
  }
  if (name.empty()) {
    return parser.emitError(at) << "the name of " << what << " must not be empty";
  }
  return success();
}

/// A number of any size and sign.
template <typename P> ParseResult parseNumber(P &parser, llvm::APInt &number) {
  llvm::SMLoc at = parser.getCurrentLocation();
  mlir::OptionalParseResult result = parser.parseOptionalInteger(number);
  if (!result.has_value()) {
    return parser.emitError(at) << "expected a number";
  }
  return *result;
}

template <typename P> ParseResult parseCount(P &parser, uint64_t &count) {
  llvm::SMLoc at = parser.getCurrentLocation();
  llvm::APInt number;
  if (failed(parseNumber(parser, number))) {
    return failure();
  }
  if (number.isNegative()) {
    return parser.emitError(at) << "expected a number of at least 0";
  }
  if (number.getActiveBits() > 64) {
    return parser.emitError(at) << "number does not fit in 64 bits";
  }
  count = number.getZExtValue();
  return success();
}

/// How many iterations a pass has. None is how `at_once` is kept, which is written as a word.
template <typename P> ParseResult parsePasses(P &parser, uint64_t &passes) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (failed(parseCount(parser, passes))) {
    return failure();
  }
  if (passes == atOnce) {
    return parser.emitError(at) << "the number of iterations in a pass must be at least 1; for a "
                                   "loop that is written as a sum, say 'at_once' instead of "
                                   "'unroll'";
  }
  return success();
}

template <typename P> ParseResult parseDistance(P &parser, int64_t &distance) {
  llvm::SMLoc at = parser.getCurrentLocation();
  llvm::APInt number;
  if (failed(parseNumber(parser, number))) {
    return failure();
  }
  if (number.getSignificantBits() > 64) {
    return parser.emitError(at) << "number does not fit in 64 bits";
  }
  distance = number.getSExtValue();
  return success();
}

template <typename P> ParseResult parseOperand(P &parser, OperandData &operand) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalString(&operand.reg.name))) {
    return operand.reg.name.empty()
               ? ParseResult(parser.emitError(at, "the name of a register must not be empty"))
               : ParseResult(success());
  }
  llvm::APInt number;
  mlir::OptionalParseResult result = parser.parseOptionalInteger(number);
  if (!result.has_value()) {
    return parser.emitError(at) << "expected a number or the name of a register in quotes";
  }
  if (failed(*result)) {
    return failure();
  }
  if (number.isNegative() || number.getActiveBits() > 64) {
    return parser.emitError(at) << "expected a number that a register can hold";
  }
  operand.number = number.getZExtValue();
  return success();
}

/// `->`, `>=` or nothing.
template <typename P> ParseResult parseLead(P &parser, llvm::StringRef lead) {
  if (lead == "->") {
    return parser.parseArrow();
  }
  return failure(lead == ">=" && (failed(parser.parseGreater()) || failed(parser.parseEqual())));
}

/// The operator after the first operand; none: it was a move.
template <typename P> AluOp parseOperator(P &parser) {
  if (succeeded(parser.parseOptionalPlus())) {
    return AluOp::Add;
  }
  if (succeeded(parser.parseOptionalMinus())) {
    return AluOp::Sub;
  }
  if (succeeded(parser.parseOptionalStar())) {
    return AluOp::Mul;
  }
  for (AluOp word : {AluOp::Min, AluOp::IsGT}) {
    if (succeeded(parser.parseOptionalKeyword(toString(word)))) {
      return word;
    }
  }
  return AluOp::Move;
}

template <typename P> ParseResult parseStruct(P &parser, SetData &data) {
  if (failed(parseName(parser, data.target.name, "a register")) || failed(parser.parseEqual()) ||
      failed(parseOperand(parser, data.a))) {
    return failure();
  }
  data.op = parseOperator(parser);
  return data.op == AluOp::Move ? ParseResult(success()) : parseOperand(parser, data.b.emplace());
}

template <typename P, Struct S>
ParseResult parseStruct(P &parser, S &data, const char *what = nullptr, bool isInside = false);

template <typename P, typename F, typename T>
ParseResult parseValue(P &parser, const F &field, T &value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return parseName(parser, value, field.what);
  } else if constexpr (std::is_same_v<T, Ref>) {
    return parseName(parser, value.name, field.what);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if (field.word && !field.wordAlone && succeeded(parser.parseOptionalKeyword(field.word))) {
      value = field.wordValue;
      return success();
    }
    return field.wordAlone ? parsePasses(parser, value) : parseCount(parser, value);
  } else if constexpr (std::is_same_v<T, OperandData>) {
    return parseOperand(parser, value);
  } else if constexpr (isOptional<T>) {
    return parseValue(parser, field, value.emplace());
  } else if constexpr (isVector<T>) {
    return parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Square, [&] {
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

/// `64`, `"n"` or `= "$n - i"`, after `trips`.
template <typename P> ParseResult parseTrips(P &parser, TripData &trip) {
  if (succeeded(parser.parseOptionalEqual())) {
    trip.kind = Trip::Kind::Formula;
    return parseName(parser, trip.symbol, "an expression");
  }
  llvm::SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&trip.symbol))) {
    return parseCount(parser, trip.trips);
  }
  trip.kind = Trip::Kind::Value;
  return trip.symbol.empty()
             ? ParseResult(parser.emitError(at, "the name of a run-time value must not be empty"))
             : ParseResult(success());
}

template <typename P> ParseResult parseClause(P &parser, TripData &trip, llvm::StringRef word) {
  if (word == "trips") {
    return parseTrips(parser, trip);
  }
  if (word == "while") {
    trip.kind = Trip::Kind::Guard;
    return parseName(parser, trip.symbol, "a condition");
  }
  return parseCount(parser, word == "min" ? trip.min : trip.max.emplace());
}

/// `[0, 0, 1] each 2 over "A"`, after `element`; or a number.
template <typename P> ParseResult parseElement(P &parser, DistanceData &distance) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (*at.getPointer() != '[') {
    return parseDistance(parser, distance.step);
  }
  auto parseRun = [&] { return parseDistance(parser, distance.runs.emplace_back()); };
  if (failed(parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Square, parseRun))) {
    return failure();
  }
  if (distance.runs.empty()) {
    return parser.emitError(at) << "expected at least one run, as in 'element [0, 0] each 1'";
  }
  llvm::SMLoc end = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("each"))) {
    return parser.emitError(end) << "expected 'each' and by how much the runs grow, as in "
                                    "'element [0, 0] each 1'";
  }
  if (failed(parseDistance(parser, distance.step))) {
    return failure();
  }
  return succeeded(parser.parseOptionalKeyword("over")) ? parseName(parser, distance.over, "a loop")
                                                        : ParseResult(success());
}

/// `flat 3`, `element 1`, `at "A" = 1, "B" = -1`.
template <typename P>
ParseResult parseClause(P &parser, DistanceData &distance, llvm::StringRef word) {
  if (word != "at") {
    distance.form = word == "flat" ? DistanceForm::Flat : DistanceForm::Element;
    return word == "flat" ? parseDistance(parser, distance.step) : parseElement(parser, distance);
  }
  return parser.parseCommaSeparatedList([&] {
    ComponentData &component = distance.components.emplace_back();
    return failure(failed(parseName(parser, component.loop, "a loop")) ||
                   failed(parser.parseEqual()) ||
                   failed(parseDistance(parser, component.distance)));
  });
}

/// What stands after a word.
template <typename P, typename S, typename T>
ParseResult parseClause(P &parser, const Field<S, T> &field, T &value, llvm::StringRef word) {
  if constexpr (std::is_same_v<T, TripData> || std::is_same_v<T, DistanceData>) {
    return parseClause(parser, value, word);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = true;
    return success();
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(llvm::find(wordsOf<T>, std::string_view(word)) - wordsOf<T>.begin());
    return success();
  } else {
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (field.wordAlone && word == field.word) {
        value = field.wordValue;
        return success();
      }
    }
    return parseValue(parser, field, value);
  }
}

/// `"a" -> "b" "L" = 1` and `"a" -> "b" = 1` lack an 'at', and the loop. A name alone may begin
/// the next operation.
template <typename P> ParseResult refuseBareDistance(P &parser) {
  llvm::SMLoc at = parser.getCurrentLocation();
  const char *next = at.getPointer();
  auto skipBlanks = [&next] {
    while (*next == ' ' || *next == '\t') {
      ++next;
    }
  };
  bool isNamed = *next == '"';
  if (isNamed) {
    for (++next; *next != '"' && *next != '\n' && *next != '\0'; ++next) {
    }
    next += *next == '"' ? 1 : 0;
    skipBlanks();
  }
  if (*next != '=') {
    return success();
  }
  return parser.emitError(at) << (isNamed ? "expected 'at' before the loop of a distance"
                                          : "expected 'at' and a loop before the distance")
                              << ", as in 'at \"L\" = 1'";
}

/// Which clauses of an operation were there, and where.
template <typename P> class Clauses {
public:
  Clauses(P &parser, const Words &words)
      : parser(parser), words(words), places(words.texts.size()) {}

  /// Passes the word that begins the next clause; empty if there is none.
  llvm::StringRef next() {
    llvm::StringRef word;
    at = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&word, words.texts))) {
      return {};
    }
    last = static_cast<size_t>(llvm::find(words.texts, word) - words.texts.begin());
    return words.texts[last];
  }

  /// Whether the clause passed last may stand here.
  ParseResult checkFree() {
    llvm::StringRef word = words.texts[last];
    if (places[last].isValid()) {
      return parser.emitError(at) << "'" << word << "' is given twice";
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].isValid() && words.topics[last] && words.topics[i] == words.topics[last]) {
        return parser.emitError(at) << "'" << word << "' is given together with '" << words.texts[i]
                                    << "'; both say " << words.topics[last];
      }
    }
    places[last] = at;
    return success();
  }

  /// A word that begins nothing else is a clause that there is not. Names of operations have a dot,
  /// except for those of `builtin`, and of `func` in a function.
  ParseResult checkEnd() const {
    const char *begin = at.getPointer();
    const char *end = begin;
    while (llvm::isAlnum(*end) || *end == '_' || *end == '.' || *end == '$') {
      ++end;
    }
    llvm::StringRef word(begin, static_cast<size_t>(end - begin));
    bool isOther = word.empty() || !llvm::isAlpha(word.front()) || word.contains('.') ||
                   llvm::is_contained({"attributes", "loc", "else", "module", "return", "call",
                                       "call_indirect", "constant"},
                                      word);
    if (isOther) {
      return success();
    }
    std::vector<std::string_view> known;
    for (llvm::StringRef text : words.texts) {
      known.emplace_back(text);
    }
    return parser.emitError(at) << unknownName("clause", "clauses here", word, known);
  }

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
      return field.isFirst || !field.needed || has(field.name) ? ParseResult(success())
                                                               : missing(field.name, field.needed);
    }
  }

private:
  ParseResult missing(const char *word, const char *needed) const {
    return parser.emitError(parser.getNameLoc()) << "expected '" << word << "' and " << needed;
  }

  ParseResult checkTrips(const TripData &trip) const {
    if (!has("trips") && !has("while")) {
      return parser.emitError(parser.getNameLoc())
             << "expected 'trips' with a number or the name of a run-time "
                "value, or 'while' with the name of a condition";
    }
    bool hasValue = trip.kind == Trip::Kind::Value || trip.kind == Trip::Kind::Formula;
    if (!hasValue && (has("min") || has("max"))) {
      return parser.emitError(parser.getNameLoc())
             << "'min' and 'max' bound a run-time value, as in 'trips \"n\" min 1'";
    }
    return success();
  }

  ParseResult checkDistance() const {
    if (failed(refuseBareDistance(parser))) {
      return failure();
    }
    if (has("flat") && has("at")) {
      return parser.emitError(parser.getNameLoc())
             << "'flat' counts runs over the whole execution, so 'at' cannot be given with it";
    }
    return success();
  }

  P &parser;
  const Words &words;
  llvm::SmallVector<llvm::SMLoc> places; ///< of those that were there, by word
  llvm::SMLoc at;                        ///< of what comes next
  size_t last = 0;
};

/// What stands before the clauses. `what` is what a struct inside another calls its name.
template <typename P, Struct S>
ParseResult parseFirst(P &parser, S &data, const char *what = nullptr) {
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
  return failure(!ok);
}

/// Parses the clause that `word` begins; false if it is none of this struct.
template <typename P, Struct S>
bool dispatch(P &parser, S &data, llvm::StringRef word, ParseResult &result) {
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

template <typename P, Struct S>
ParseResult parseStruct(P &parser, S &data, const char *what, bool isInside) {
  static const Words words = [] {
    Words all;
    auto add = [&](llvm::StringRef text, const char *topic) { all.add(text, topic); };
    forEachField<S>([&](const auto &field) { forWords(field, add); });
    return all;
  }();
  if (failed(parseFirst(parser, data, what))) {
    return failure();
  }
  Clauses clauses(parser, words);
  for (llvm::StringRef word = clauses.next(); !word.empty(); word = clauses.next()) {
    ParseResult result = success();
    if (failed(clauses.checkFree()) || !dispatch(parser, data, word, result) || failed(result)) {
      return failure();
    }
  }
  bool ok = isInside || succeeded(clauses.checkEnd());
  forEachField<S>(
      [&](const auto &field) { ok = ok && succeeded(clauses.check(field, data.*field.member)); });
  return failure(!ok);
}

} // namespace tally::ir

#endif // TALLY_LIB_IR_GRAMMAR_H
