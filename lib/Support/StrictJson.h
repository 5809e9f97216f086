//===- StrictJson.h - JSON whose mistakes are all reported ----------------===//
//
// What every reader of JSON needs: parsing that never throws, objects whose
// unknown keys are errors, and values named by their place and their path in the text:
//
//   k.json:7:16: error: at 'body[2].trips': expected a number from 0 to 2147483647, found -1
//
// A document is one flat array of nodes in the order of the text, each with its place there; texts
// follow one another in a pool. So a deep document costs no recursion, and a place no search.
//
// A JsonAt is a value with the way to it; the way is only written out in an
// error. Readers go on after an error with a harmless value, so that one run
// finds all of them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SUPPORT_STRICTJSON_H
#define TALLY_LIB_SUPPORT_STRICTJSON_H

#include "tally/Support/Diagnostics.h"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// Brackets inside one another; twice what the deepest legal kernel needs.
inline constexpr unsigned maxJsonDepth = 1100;

/// In the text that is being read, which is file 0.
struct JsonError {
  std::string message;
  Location where;
};

using JsonErrors = std::vector<JsonError>;

/// A text and its values. The text must outlive the document.
class JsonDocument {
public:
  enum class Kind : uint8_t { Null, Boolean, Integer, Natural, Real, String, Array, Object };

  /// A part of the pool of texts.
  struct Text {
    uint32_t begin = 0;
    uint32_t size = 0;
  };

  struct Value {
    Kind kind = Kind::Null;
    bool isMade = false; ///< what stands in the text is another spelling of it
    uint32_t begin = 0;  ///< in the text
    uint32_t end = 0;
    uint32_t first = 0; ///< Array, Object: of its members
    uint32_t size = 0;
    Text string = {};
    uint64_t number = 0; ///< Boolean, Natural; Integer, Real: the bits
  };

  /// A member of an object or array. Those of an object are in the order of their keys.
  struct Member {
    uint32_t value;
    uint32_t keyBegin = 0; ///< in the text
    Text key = {};
  };

  std::string_view text(Text part) const {
    return std::string_view(pool).substr(part.begin, part.size);
  }

  /// Line and column, from 1, of a place in the text.
  Location place(size_t offset) const;

  std::string_view source;
  std::vector<Value> values; ///< the first is the root
  std::vector<Member> members;
  std::string pool;
  std::vector<uint32_t> lines; ///< where each begins
};

/// A value of the text and where it is.
class JsonAt {
public:
  JsonAt(const JsonDocument &document, JsonErrors &errors)
      : document(&document), errors(&errors), value(0) {}

  void error(std::string_view message) const;

  /// Where it begins.
  Location where() const { return document->place(self().begin); }

  /// Its number in the document.
  uint32_t id() const { return value; }

  /// Errors so far in the whole document.
  size_t numErrors() const { return errors->size(); }

  /// Ends the messages of the errors from the `first` to before the `last` with a text.
  void endErrors(size_t first, size_t last, std::string_view text) const;

  bool isObject() const { return self().kind == Kind::Object; }

  bool isArray() const { return self().kind == Kind::Array; }

  bool isString() const { return self().kind == Kind::String; }

  bool isNumber() const {
    return self().kind == Kind::Integer || self().kind == Kind::Natural ||
           self().kind == Kind::Real;
  }

  bool isNull() const { return self().kind == Kind::Null; }

  /// Whether this is an object; reports if not, and every key that is not among `keys`.
  bool expectObject(std::span<const std::string_view> keys) const;

  bool expectObject(std::initializer_list<std::string_view> keys) const {
    return expectObject(std::span(keys.begin(), keys.size()));
  }

  /// Whether this is an object, whatever its keys; reports if not.
  bool expectObject() const;

  /// Whether this is an array; reports if not.
  bool expectArray() const;

  /// The member `memberKey` of an object, if there.
  std::optional<JsonAt> find(std::string_view memberKey) const;

  /// The member `memberKey`; reports if it is not there.
  std::optional<JsonAt> need(std::string_view memberKey) const;

  /// Of an array or object.
  size_t size() const { return self().size; }

  /// The i-th element of an array.
  JsonAt operator[](size_t i) const { return {*this, self().first + static_cast<uint32_t>(i)}; }

  /// Runs `visit(key, value)` for the members of an object, in the order of their keys.
  template <typename Visit> void forMembers(Visit visit) const {
    for (uint32_t i = 0; i < self().size; ++i) {
      JsonAt member(*this, self().first + i);
      visit(document->text(document->members[member.member].key), member);
    }
  }

  // The value as a type, or a harmless one after an error.
  std::string string() const;
  std::string name(std::string_view kind) const; ///< a string that messages quote
  uint64_t unsignedIn(uint64_t min, uint64_t max) const;
  int64_t integer() const;
  bool boolean() const;
  double real() const;

  /// The index of a string in `names`; reports what is allowed if it is none of them.
  size_t oneOf(std::span<const std::string_view> names) const;

  size_t oneOf(std::initializer_list<std::string_view> names) const {
    return oneOf(std::span(names.begin(), names.size()));
  }

  /// Reads "schema" and "version" of a document. The version, if it is from `oldest` to `newest`;
  /// 0 if it is not, or if the schema is another.
  uint64_t expectSchema(std::string_view schema, uint64_t oldest, uint64_t newest) const;

  // Optional members.
  std::string stringOr(std::string_view memberKey, std::string_view absent) const;

private:
  using Kind = JsonDocument::Kind;

  JsonAt(const JsonAt &parent, uint32_t member)
      : document(parent.document), errors(parent.errors), parent(&parent),
        value(document->members[member].value), member(member) {}

  const JsonDocument::Value &self() const { return document->values[value]; }

  std::string path() const;
  std::string found() const;
  void error(std::string_view message, Location where) const;

  const JsonDocument *document;
  JsonErrors *errors;
  const JsonAt *parent = nullptr; ///< lives while its children are read
  uint32_t value;
  uint32_t member = 0; ///< not of the root
};

/// Parses one document. Errors of syntax, keys given twice and too deep nesting are reported.
std::optional<JsonDocument> parseJson(std::string_view text, JsonErrors &errors);

/// What is done with a document before it is read.
using PrepareJson = void (*)(JsonDocument &document, JsonErrors &errors);

/// Puts errors into the order of the text: members are read in the order of their keys, and what is
/// seen of a whole object comes after its parts.
void sortByPlace(JsonErrors &errors);

/// Reads one document with `read(root)`; none if there was an error. Errors come in the order of
/// the text.
template <typename Read>
auto readJson(std::string_view text, JsonErrors &errors, Read read, PrepareJson prepare = nullptr)
    -> std::optional<decltype(read(std::declval<const JsonAt &>()))> {
  std::optional<JsonDocument> document = parseJson(text, errors);
  if (!document) {
    return std::nullopt;
  }
  size_t before = errors.size();
  if (prepare) {
    prepare(*document, errors);
  }
  if (errors.size() != before) {
    return std::nullopt;
  }
  auto result = read(JsonAt(*document, errors));
  sortByPlace(errors);
  return errors.empty() ? std::optional(std::move(result)) : std::nullopt;
}

/// Moves errors into diagnostics.
void reportJsonErrors(const JsonErrors &errors, Diagnostics &diagnostics);

/// The same, with the errors in `diagnostics`.
template <typename Read>
auto readJson(std::string_view text, Diagnostics &diagnostics, Read read,
              PrepareJson prepare = nullptr) {
  JsonErrors errors;
  auto result = readJson(text, errors, read, prepare);
  reportJsonErrors(errors, diagnostics);
  return result;
}

/// Text of `value` in quotes; bytes that are no UTF-8 become U+FFFD.
std::string quoteJson(std::string_view value);

} // namespace tally

#endif // TALLY_LIB_SUPPORT_STRICTJSON_H
