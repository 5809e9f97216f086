//===- StrictJson.cpp - JSON whose mistakes are all reported --------------===//

#include "StrictJson.h"

#include "tally/Support/Names.h"
#include "tally/Support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace tally {

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

using Parser = nlohmann::json;

/// Goes through a text and tells another how far the parser has come.
class Cursor {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  Cursor(const char *at, size_t &passed) : at(at), passed(&passed) {}

  const char &operator*() const { return *at; }

  Cursor &operator++() {
    ++at;
    ++*passed;
    return *this;
  }

  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }

  bool operator==(const Cursor &other) const { return at == other.at; }

private:
  const char *at;
  size_t *passed;
};

/// Builds the values as the parser meets them. Each event tells whether to go on.
///
/// The parser reads no further than the token that it tells of, and one character more after a
/// number. So a token begins at the first character behind the one before it that is no separator.
class TreeBuilder : public nlohmann::json_sax<Parser> {
public:
  TreeBuilder(std::string_view text, JsonErrors &errors) : errors(errors) {
    document.source = text;
    document.lines.push_back(0);
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      document.lines.push_back(static_cast<uint32_t>(at + 1));
    }
  }

  bool run() {
    // The library takes it for the end of the text.
    if (size_t nul = document.source.find('\0'); nul != std::string_view::npos) {
      errors.push_back({"a character of code 0 is not JSON", document.place(nul)});
      return false;
    }
    const char *begin = document.source.data();
    size_t ignored = 0;
    return Parser::sax_parse(Cursor(begin, passed), Cursor(begin + document.source.size(), ignored),
                             this);
  }

  bool null() override { return add({.kind = Kind::Null}); }

  bool boolean(bool value) override { return add({.kind = Kind::Boolean, .number = value}); }

  bool number_integer(int64_t value) override {
    return add({.kind = Kind::Integer, .number = std::bit_cast<uint64_t>(value)});
  }

  bool number_unsigned(uint64_t value) override {
    return add({.kind = Kind::Natural, .number = value});
  }

  bool number_float(double value, const std::string &) override {
    return add({.kind = Kind::Real, .number = std::bit_cast<uint64_t>(value)});
  }

  bool string(std::string &value) override {
    if (!isPrintable(value)) {
      refuse("string", value);
    }
    return add({.kind = Kind::String, .string = keep(value)});
  }

  bool binary(binary_t &) override { return false; }

  bool start_object(size_t) override { return begin(Kind::Object); }

  bool start_array(size_t) override { return begin(Kind::Array); }

  bool end_object() override {
    auto own = pending.begin() + static_cast<ptrdiff_t>(open.back().firstPending);
    std::stable_sort(own, pending.end(), [&](const Member &a, const Member &b) {
      return document.text(a.key) < document.text(b.key);
    });
    for (auto member = own; member != pending.end(); ++member) {
      bool isAgain =
          member != own && document.text(member->key) == document.text((member - 1)->key);
      if (isAgain) {
        errors.push_back(
            {fmt::format("the key '{}' is given twice in one object", document.text(member->key)),
             document.place(member->keyBegin)});
      }
    }
    return end();
  }

  bool end_array() override { return end(); }

  bool key(std::string &name) override {
    if (!isQuotable(name)) {
      refuse("key", name);
    }
    keyBegin = tokenBegin();
    member = keep(name);
    last = passed;
    return true;
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    size_t at = std::min(position, document.source.size());
    size_t first = document.source.find_first_not_of(" \t\r\n");
    bool isOther = first < document.source.size() && at <= first + 1 &&
                   document.source[first] != '{' && document.source[first] != '[';
    errors.push_back(
        {isOther ? "this is not JSON, which begins with '{' here" : reason(error.what()),
         document.place(at == 0 ? 0 : at - 1)});
    return false;
  }

  JsonDocument document;

private:
  using Kind = JsonDocument::Kind;
  using Value = JsonDocument::Value;
  using Member = JsonDocument::Member;

  /// An object or array being read.
  struct Open {
    uint32_t value;
    size_t firstPending;
  };

  /// All strings go where names go; which of them are names, their readers know. All keys are
  /// names.
  void refuse(std::string_view kind, std::string_view text) {
    errors.push_back({unquotableName(kind, text), document.place(tokenBegin())});
  }

  JsonDocument::Text keep(std::string_view text) {
    document.pool += text;
    return {static_cast<uint32_t>(document.pool.size() - text.size()),
            static_cast<uint32_t>(text.size())};
  }

  uint32_t tokenBegin() const {
    constexpr std::string_view separators = " \t\r\n,:\xef\xbb\xbf";
    size_t at = document.source.find_first_not_of(separators, last);
    return static_cast<uint32_t>(std::min(at, document.source.size()));
  }

  /// Numbers and words end where something else begins.
  uint32_t tokenEnd(const Value &value) const {
    if (value.kind == Kind::String) {
      return static_cast<uint32_t>(passed);
    }
    size_t end = document.source.find_first_of(" \t\r\n,]}", value.begin);
    return static_cast<uint32_t>(std::min(end, document.source.size()));
  }

  /// The next value, in the object or array being read, or the root.
  uint32_t place(Value value) {
    auto id = static_cast<uint32_t>(document.values.size());
    if (!open.empty()) {
      pending.push_back({id, keyBegin, member});
    }
    document.values.push_back(value);
    last = passed;
    return id;
  }

  bool add(Value value) {
    value.begin = tokenBegin();
    value.end = tokenEnd(value);
    place(value);
    return true;
  }

  bool begin(Kind kind) {
    uint32_t at = tokenBegin();
    if (open.size() == maxJsonDepth) {
      errors.push_back(
          {fmt::format("more than {} objects and arrays inside one another", maxJsonDepth),
           document.place(at)});
      return false;
    }
    uint32_t id = place({.kind = kind, .begin = at});
    open.push_back({id, pending.size()});
    return true;
  }

  bool end() {
    auto [id, first] = open.back();
    open.pop_back();
    Value &value = document.values[id];
    value.end = static_cast<uint32_t>(passed);
    value.first = static_cast<uint32_t>(document.members.size());
    value.size = static_cast<uint32_t>(pending.size() - first);
    document.members.insert(document.members.end(), pending.begin() + static_cast<ptrdiff_t>(first),
                            pending.end());
    pending.resize(first);
    last = passed;
    return true;
  }

  /// What the library says, without its name, number and place. It repeats a number that no
  /// `double` holds, all digits of it, and says no place.
  static std::string reason(std::string_view what) {
    if (what.find("out_of_range") != std::string_view::npos) {
      return "the number is too large";
    }
    constexpr std::string_view ends = "unexpected end of input; expected ";
    if (size_t found = what.find(ends); found != std::string_view::npos) {
      std::string_view wanted = what.substr(found + ends.size());
      return fmt::format("the text ends where {} is expected",
                         wanted == "string literal" ? "a string" : wanted);
    }
    size_t column = what.find(", column ");
    size_t start = column == std::string_view::npos ? column : what.find(": ", column);
    return std::string(start == std::string_view::npos ? what : what.substr(start + 2));
  }

  JsonErrors &errors;
  size_t passed = 0;           ///< characters that the parser has read
  size_t last = 0;             ///< ... up to the end of the token before
  std::vector<Open> open;      ///< outermost first
  std::vector<Member> pending; ///< of those in `open`, one after the other
  JsonDocument::Text member;   ///< the key read last
  uint32_t keyBegin = 0;
};

} // namespace

std::optional<JsonDocument> parseJson(std::string_view text, JsonErrors &errors) {
  if (text.size() >= UINT32_MAX) {
    errors.push_back({"the text is too long; it may have up to 4 GiB", {}});
    return std::nullopt;
  }
  TreeBuilder builder(text, errors);
  return builder.run() ? std::optional(std::move(builder.document)) : std::nullopt;
}

Location JsonDocument::place(size_t offset) const {
  auto after = std::upper_bound(lines.begin(), lines.end(), offset);
  return {0, static_cast<uint32_t>(after - lines.begin()),
          static_cast<uint32_t>(offset - *(after - 1) + 1)};
}

void sortByPlace(JsonErrors &errors) {
  std::ranges::stable_sort(errors, {}, [](const JsonError &error) {
    return std::pair(error.where.line, error.where.column);
  });
}

void reportJsonErrors(const JsonErrors &errors, Diagnostics &diagnostics) {
  for (const JsonError &error : errors) {
    diagnostics.error(error.where, error.message);
  }
}

static bool needsNoEscape(unsigned char c) {
  return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

std::string quoteJson(std::string_view value) {
  if (std::all_of(value.begin(), value.end(), needsNoEscape)) {
    return fmt::format("\"{}\"", value);
  }
  return Parser(std::string(value)).dump(-1, ' ', false, Parser::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// `body[0].trips`; empty for the root.
std::string JsonAt::path() const {
  if (!parent) {
    return "";
  }
  std::string around = parent->path();
  if (parent->isArray()) {
    return fmt::format("{}[{}]", around, member - parent->self().first);
  }
  std::string_view key = document->text(document->members[member].key);
  return around.empty() ? std::string(key) : fmt::format("{}.{}", around, key);
}

void JsonAt::error(std::string_view message) const {
  error(message, where());
}

void JsonAt::error(std::string_view message, Location where) const {
  std::string at = path();
  errors->push_back(
      {at.empty() ? std::string(message) : fmt::format("at '{}': {}", at, message), where});
}

void JsonAt::endErrors(size_t first, size_t last, std::string_view text) const {
  for (JsonError &error : std::span(*errors).subspan(first, last - first)) {
    error.message += text;
  }
}

/// The value as far as it is short.
std::string JsonAt::found() const {
  if (isObject() || isArray()) {
    return isObject() ? "an object" : "an array";
  }
  std::string text(document->source.substr(self().begin, self().end - self().begin));
  if (self().isMade) {
    text = isString() ? quoteJson(document->text(self().string))
                      : fmt::format("{}", std::bit_cast<int64_t>(self().number));
  }
  return text.size() <= 60 ? text : isString() ? "a long string" : "a long number";
}

bool JsonAt::expectObject() const {
  if (!isObject()) {
    error(fmt::format("expected an object, found {}", found()));
  }
  return isObject();
}

bool JsonAt::expectObject(std::span<const std::string_view> keys) const {
  if (!expectObject()) {
    return false;
  }
  for (uint32_t i = self().first; i < self().first + self().size; ++i) {
    const JsonDocument::Member &m = document->members[i];
    std::string_view key = document->text(m.key);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      error(fmt::format("unknown key '{}'; allowed keys: '{}'", key, fmt::join(keys, "', '")),
            document->place(m.keyBegin));
    }
  }
  return true;
}

bool JsonAt::expectArray() const {
  if (!isArray()) {
    error(fmt::format("expected an array, found {}", found()));
  }
  return isArray();
}

/// Of equal keys, which are an error, the last.
std::optional<JsonAt> JsonAt::find(std::string_view memberKey) const {
  if (!isObject()) {
    return std::nullopt;
  }
  auto begin = document->members.begin() + self().first;
  auto after = std::upper_bound(begin, begin + self().size, memberKey,
                                [&](std::string_view wanted, const JsonDocument::Member &m) {
                                  return wanted < document->text(m.key);
                                });
  if (after == begin || document->text((after - 1)->key) != memberKey) {
    return std::nullopt;
  }
  return JsonAt(*this, static_cast<uint32_t>(after - 1 - document->members.begin()));
}

std::optional<JsonAt> JsonAt::need(std::string_view memberKey) const {
  std::optional<JsonAt> found = find(memberKey);
  if (!found) {
    error(fmt::format("the key '{}' is missing", memberKey));
  }
  return found;
}

std::string JsonAt::string() const {
  if (!isString()) {
    error(fmt::format("expected a string, found {}", found()));
    return "";
  }
  if (self().string.size == 0) {
    error("expected a string that is not empty");
  }
  return std::string(document->text(self().string));
}

std::string JsonAt::name(std::string_view kind) const {
  std::string given = string();
  if (isPrintable(given) && !isQuotable(given)) {
    error(unquotableName(kind, given));
  }
  return given;
}

uint64_t JsonAt::unsignedIn(uint64_t min, uint64_t max) const {
  bool natural = self().kind == Kind::Natural ||
                 (self().kind == Kind::Integer && std::bit_cast<int64_t>(self().number) >= 0);
  uint64_t number = natural ? self().number : 0;
  if (!natural || number < min || number > max) {
    error(min == max
              ? fmt::format("expected {}, found {}", min, found())
              : fmt::format("expected an integer from {} to {}, found {}", min, max, found()));
    return min;
  }
  return number;
}

int64_t JsonAt::integer() const {
  bool fits =
      self().kind == Kind::Natural ? self().number <= INT64_MAX : self().kind == Kind::Integer;
  if (!fits) {
    error(fmt::format("expected an integer of 64 bits, found {}", found()));
    return 0;
  }
  return std::bit_cast<int64_t>(self().number);
}

double JsonAt::real() const {
  if (!isNumber()) {
    error(fmt::format("expected a number, found {}", found()));
  }
  return self().kind == Kind::Real      ? std::bit_cast<double>(self().number)
         : self().kind == Kind::Integer ? static_cast<double>(std::bit_cast<int64_t>(self().number))
         : isNumber()                   ? static_cast<double>(self().number)
                                        : 0;
}

bool JsonAt::boolean() const {
  if (self().kind != Kind::Boolean) {
    error(fmt::format("expected true or false, found {}", found()));
    return false;
  }
  return self().number != 0;
}

size_t JsonAt::oneOf(std::span<const std::string_view> names) const {
  auto it = isString() ? std::find(names.begin(), names.end(), document->text(self().string))
                       : names.end();
  if (it == names.end()) {
    error(fmt::format("expected \"{}\", found {}", fmt::join(names, "\" or \""), found()));
    return 0;
  }
  return static_cast<size_t>(it - names.begin());
}

uint64_t JsonAt::expectSchema(std::string_view schema, uint64_t oldest, uint64_t newest) const {
  std::optional<JsonAt> name = need("schema");
  std::optional<JsonAt> number = need("version");
  size_t before = errors->size();
  if (name) {
    name->oneOf({schema});
  }
  uint64_t version = number ? number->unsignedIn(oldest, newest) : 0;
  return name && errors->size() == before ? version : 0;
}

std::string JsonAt::stringOr(std::string_view memberKey, std::string_view absent) const {
  std::optional<JsonAt> member = find(memberKey);
  return member ? member->string() : std::string(absent);
}

} // namespace tally
