//===- StrictJson.cpp - JSON whose mistakes are all reported --------------===//

#include "StrictJson.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Builds the values as the parser meets them. Each event tells whether to go on.
class TreeBuilder : public nlohmann::json_sax<Json> {
public:
  TreeBuilder(std::string_view text, JsonErrors &errors) : text(text), errors(errors) {}

  bool null() override { return add(nullptr); }

  bool boolean(bool value) override { return add(value); }

  bool number_integer(int64_t value) override { return add(value); }

  bool number_unsigned(uint64_t value) override { return add(value); }

  bool number_float(double value, const std::string &) override { return add(value); }

  bool string(std::string &value) override { return add(std::move(value)); }

  bool binary(binary_t &) override { return false; }

  bool start_object(size_t) override { return begin(Json::object()); }

  bool start_array(size_t) override { return begin(Json::array()); }

  bool end_object() override { return end(); }

  bool end_array() override { return end(); }

  bool key(std::string &name) override {
    auto [place, isNew] = open.back()->get_ref<Json::object_t &>().try_emplace(name);
    if (!isNew) {
      errors.push_back({fmt::format("the key '{}' is given twice in one object", name), 0, 0});
    }
    member = &place->second;
    return true;
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    report(position, reason(error.what()));
    return false;
  }

  Json root;

private:
  /// The place of the next value: in the object or array being read, or the root.
  Json *place(Json value) {
    Json *target = &root;
    if (!open.empty() && open.back()->is_array()) {
      open.back()->push_back(nullptr);
      target = &open.back()->back();
    } else if (!open.empty()) {
      target = member;
    }
    *target = std::move(value);
    return target;
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool begin(Json value) {
    if (open.size() == maxJsonDepth) {
      errors.push_back(
          {fmt::format("more than {} objects and arrays inside one another", maxJsonDepth), 0, 0});
      return false;
    }
    open.push_back(place(std::move(value)));
    return true;
  }

  bool end() {
    open.pop_back();
    return true;
  }

  /// What the library says, without its name, number and place.
  static std::string reason(std::string_view what) {
    size_t column = what.find(", column ");
    size_t start = column == std::string_view::npos ? column : what.find(": ", column);
    return std::string(start == std::string_view::npos ? what : what.substr(start + 2));
  }

  void report(size_t position, std::string message) {
    std::string_view before = text.substr(0, std::min(position, text.size()));
    size_t lines = static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
    size_t lineStart = before.rfind('\n');
    size_t column = before.size() - (lineStart == std::string_view::npos ? 0 : lineStart + 1);
    errors.push_back({std::move(message), static_cast<uint32_t>(lines + 1),
                      static_cast<uint32_t>(std::max<size_t>(column, 1))});
  }

  std::string_view text;
  JsonErrors &errors;
  std::vector<Json *> open; ///< objects and arrays being read; each stays put until it closes
  Json *member = nullptr;   ///< value of the key read last
};

} // namespace

std::optional<Json> parseJson(std::string_view text, JsonErrors &errors) {
  TreeBuilder builder(text, errors);
  if (!Json::sax_parse(text, &builder)) {
    return std::nullopt;
  }
  return std::move(builder.root);
}

static bool needsNoEscape(unsigned char c) {
  return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

std::string quoteJson(std::string_view value) {
  if (std::all_of(value.begin(), value.end(), needsNoEscape)) {
    return fmt::format("\"{}\"", value);
  }
  return Json(std::string(value)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string JsonAt::path() const {
  if (!parent) {
    return "";
  }
  std::string around = parent->path();
  if (!key) {
    return fmt::format("{}[{}]", around, index);
  }
  return around.empty() ? *key : fmt::format("{}.{}", around, *key);
}

void JsonAt::error(std::string_view message) const {
  std::string where = path();
  errors->push_back(
      {where.empty() ? std::string(message) : fmt::format("at '{}': {}", where, message), 0, 0});
}

/// The value as far as it is short.
std::string JsonAt::found() const {
  if (value->is_structured()) {
    return value->is_object() ? "an object" : "an array";
  }
  std::string text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 60 ? text : "a long string";
}

bool JsonAt::expectObject() const {
  if (!isObject()) {
    error(fmt::format("expected an object, found {}", found()));
  }
  return isObject();
}

bool JsonAt::expectObject(std::initializer_list<std::string_view> keys) const {
  if (!expectObject()) {
    return false;
  }
  for (auto it = value->begin(); it != value->end(); ++it) {
    if (std::find(keys.begin(), keys.end(), it.key()) == keys.end()) {
      error(fmt::format("unknown key '{}'; allowed are '{}'", it.key(), fmt::join(keys, "', '")));
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

std::optional<JsonAt> JsonAt::find(std::string_view memberKey) const {
  const Json::object_t &members = value->get_ref<const Json::object_t &>();
  auto it = members.find(memberKey);
  if (it == members.end()) {
    return std::nullopt;
  }
  return JsonAt(*this, it->second, &it->first, 0);
}

std::optional<JsonAt> JsonAt::need(std::string_view memberKey) const {
  std::optional<JsonAt> member = find(memberKey);
  if (!member) {
    error(fmt::format("the key '{}' is missing", memberKey));
  }
  return member;
}

JsonAt JsonAt::operator[](size_t i) const {
  return JsonAt(*this, (*value)[i], nullptr, i);
}

std::string JsonAt::string() const {
  if (!isString()) {
    error(fmt::format("expected a string, found {}", found()));
    return "";
  }
  return value->get<std::string>();
}

uint64_t JsonAt::unsignedIn(uint64_t min, uint64_t max) const {
  bool natural =
      value->is_number_unsigned() || (value->is_number_integer() && value->get<int64_t>() >= 0);
  uint64_t number = natural ? value->get<uint64_t>() : 0;
  if (!natural || number < min || number > max) {
    error(fmt::format("expected an integer from {} to {}, found {}", min, max, found()));
    return min;
  }
  return number;
}

int64_t JsonAt::integer() const {
  bool fits = value->is_number_unsigned() ? value->get<uint64_t>() <= INT64_MAX
                                          : value->is_number_integer();
  if (!fits) {
    error(fmt::format("expected an integer of 64 bits, found {}", found()));
    return 0;
  }
  return value->get<int64_t>();
}

bool JsonAt::boolean() const {
  if (!isBoolean()) {
    error(fmt::format("expected true or false, found {}", found()));
    return false;
  }
  return value->get<bool>();
}

size_t JsonAt::oneOf(std::span<const std::string_view> names) const {
  auto it = isString()
                ? std::find(names.begin(), names.end(), value->get_ref<const std::string &>())
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

bool JsonAt::booleanOr(std::string_view memberKey, bool absent) const {
  std::optional<JsonAt> member = find(memberKey);
  return member ? member->boolean() : absent;
}

} // namespace tally
