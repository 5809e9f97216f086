//===- StrictJson.h - JSON whose mistakes are all reported ----------------===//
//
// What every reader of JSON needs: parsing that never throws, objects whose
// unknown keys are errors, and values named by their path in the text:
//
//   at 'body[2].trips': expected a number from 0 to 2147483647, found -1
//
// A JsonAt is a value with the way to it; the way is only written out in an
// error. Readers go on after an error with a harmless value, so that one run
// finds all of them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SUPPORT_STRICTJSON_H
#define TALLY_LIB_SUPPORT_STRICTJSON_H

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

using Json = nlohmann::json;

/// Brackets inside one another; twice what the deepest legal kernel needs.
inline constexpr unsigned maxJsonDepth = 1100;

struct JsonError {
  std::string message;
  uint32_t line = 0; ///< 0 but for errors of syntax
  uint32_t column = 0;
};

using JsonErrors = std::vector<JsonError>;

/// A value of the text and where it is.
class JsonAt {
public:
  JsonAt(const Json &root, JsonErrors &errors) : value(&root), errors(&errors) {}

  void error(std::string_view message) const;

  const Json &json() const { return *value; }

  /// Errors so far in the whole document.
  size_t numErrors() const { return errors->size(); }

  bool isObject() const { return value->is_object(); }

  bool isArray() const { return value->is_array(); }

  bool isString() const { return value->is_string(); }

  bool isNumber() const { return value->is_number(); }

  bool isBoolean() const { return value->is_boolean(); }

  bool isNull() const { return value->is_null(); }

  /// Whether this is an object; reports if not, and every key that is not among `keys`.
  bool expectObject(std::initializer_list<std::string_view> keys) const;

  /// Whether this is an object, whatever its keys; reports if not.
  bool expectObject() const;

  /// Whether this is an array; reports if not.
  bool expectArray() const;

  /// The member `memberKey` of an object, if there.
  std::optional<JsonAt> find(std::string_view memberKey) const;

  /// The member `memberKey`; reports if it is not there.
  std::optional<JsonAt> need(std::string_view memberKey) const;

  size_t size() const { return value->size(); }

  /// The i-th element of an array.
  JsonAt operator[](size_t i) const;

  /// Runs `visit(key, value)` for the members of an object, in the order of their keys.
  template <typename Visit> void forMembers(Visit visit) const {
    for (auto it = value->begin(); it != value->end(); ++it) {
      visit(it.key(), JsonAt(*this, *it, &it.key(), 0));
    }
  }

  // The value as a type, or a harmless one after an error.
  std::string string() const;
  uint64_t unsignedIn(uint64_t min, uint64_t max) const;
  int64_t integer() const;
  bool boolean() const;

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
  bool booleanOr(std::string_view memberKey, bool absent) const;

private:
  JsonAt(const JsonAt &parent, const Json &value, const std::string *key, size_t index)
      : value(&value), errors(parent.errors), parent(&parent), key(key), index(index) {}

  std::string path() const;
  std::string found() const;

  const Json *value;
  JsonErrors *errors;
  const JsonAt *parent = nullptr;   ///< lives while its children are read
  const std::string *key = nullptr; ///< in an object; else `index` in an array
  size_t index = 0;
};

/// Parses one document. Errors of syntax, keys given twice and too deep nesting are reported.
std::optional<Json> parseJson(std::string_view text, JsonErrors &errors);

/// Text of `value` in quotes; bytes that are no UTF-8 become U+FFFD.
std::string quoteJson(std::string_view value);

} // namespace tally

#endif // TALLY_LIB_SUPPORT_STRICTJSON_H
