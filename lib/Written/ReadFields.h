//===- ReadFields.h - Written structs from JSON ---------------------------===//
//
// What an object holds is taken from the list of fields of its struct (Fields.h): which keys there
// may be, which must be, and what each value is. A wrong value is reported at its place and stays
// as it was.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_WRITTEN_READFIELDS_H
#define TALLY_LIB_WRITTEN_READFIELDS_H

#include "../Support/StrictJson.h"
#include "tally/Written/Data.h"

#include <fmt/format.h>

namespace tally::written {

using Keys = std::vector<std::string_view>;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

template <Struct S> void addKeys(Keys &keys) {
  forEachField<S>([&]<typename T>(const Field<S, T> &field) {
    if constexpr (std::is_same_v<T, QueueData>) {
      addKeys<T>(keys);
    } else if constexpr (std::is_same_v<T, DistanceData>) {
      keys.insert(keys.end(), {"distance", "flat", "element"});
    } else {
      keys.push_back(field.jsonKey());
    }
  });
}

/// The fields of a struct, those of its bodies, and the `more` that may stand next to them.
template <Struct S> Keys keysOf(std::initializer_list<std::string_view> more = {}) {
  Keys keys;
  addKeys<S>(keys);
  keys.insert(keys.end(), more);
  if constexpr (hasBranches<S>) {
    keys.insert(keys.end(), {"then", "else"});
  } else if constexpr (hasBody<S>) {
    keys.push_back("body");
  }
  return keys;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

template <Struct S> void readMembers(const JsonAt &at, S &data);

/// Visits the elements of an array with their numbers.
template <typename Visit> void forElements(const JsonAt &array, Visit visit) {
  for (size_t i = 0; array.expectArray() && i < array.size(); ++i) {
    visit(array[i], i);
  }
}

/// Those of the array `key`, if it is there.
template <typename Visit>
void forEach(const JsonAt &object, std::string_view key, Visit visit, bool isNeeded = false) {
  if (auto array = isNeeded ? object.need(key) : object.find(key)) {
    forElements(*array, visit);
  }
}

inline std::string text(const JsonAt &object, std::string_view key) {
  std::optional<JsonAt> at = object.need(key);
  return at ? at->string() : "";
}

template <typename F> uint64_t readNumber(const JsonAt &at, const F &field) {
  if (!field.word || field.wordAlone || !at.isString()) {
    return at.unsignedIn(field.min, field.max);
  }
  if (at.string() != field.word) {
    at.error(fmt::format("{} is '{}'; a number or '{}' is allowed", field.jsonKey(), at.string(),
                         field.word));
  }
  return field.wordValue;
}

/// A number; or {"value": "n", "min": 1, "max": 9}, also with "formula"; or {"while": "c"}.
inline void readTrip(const JsonAt &at, TripData &trip) {
  if (!at.isObject()) {
    trip.trips = at.unsignedIn(0, maxCount);
    return;
  }
  bool isGuard = at.find("while").has_value();
  bool isFormula = !isGuard && at.find("formula").has_value();
  if (!isGuard && !isFormula && !at.find("value")) {
    at.error("expected one of 'value', 'formula' and 'while'");
  }
  trip.kind = isGuard ? Trip::Kind::Guard : isFormula ? Trip::Kind::Formula : Trip::Kind::Value;
  at.expectObject(isGuard     ? Keys{"while"}
                  : isFormula ? Keys{"formula", "min", "max"}
                              : Keys{"value", "min", "max"});
  if (std::optional<JsonAt> symbol = at.find(toString(trip.kind))) {
    trip.symbol = symbol->string();
  }
  if (std::optional<JsonAt> min = at.find("min"); min && !isGuard) {
    trip.min = min->unsignedIn(0, maxCount);
  }
  if (std::optional<JsonAt> max = at.find("max"); max && !isGuard) {
    trip.max = max->unsignedIn(0, maxCount);
  }
}

template <Struct S> void readObject(const JsonAt &at, S &data) {
  static const Keys keys = keysOf<S>();
  if (!at.expectObject(keys)) {
    return;
  }
  if (std::is_same_v<S, OperandData> &&
      at.find("register").has_value() == at.find("value").has_value()) {
    at.error("expected either 'register' or 'value'");
    return;
  }
  readMembers(at, data);
}

template <typename F, typename T> void readValue(const JsonAt &at, const F &field, T &value) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = at.string();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = at.boolean() != field.inverted;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    value = readNumber(at, field);
  } else if constexpr (requires { readFrom(at, value); }) {
    readFrom(at, value); // stands beside the type
  } else if constexpr (std::is_enum_v<T>) {
    std::span<const std::string_view> words = wordsOf<T>;
    size_t silent = words.front().empty() ? 1 : 0; // a word that is not written
    value = static_cast<T>(silent + at.oneOf(words.subspan(silent)));
  } else if constexpr (std::is_same_v<T, Ref>) {
    value.number = static_cast<uint32_t>(at.unsignedIn(0, UINT32_MAX));
  } else if constexpr (std::is_same_v<T, TripData>) {
    readTrip(at, value);
  } else if constexpr (isOptional<T>) {
    readValue(at, field, value.emplace());
  } else if constexpr (isVector<T>) {
    forElements(at,
                [&](const JsonAt &item, size_t) { readValue(item, field, value.emplace_back()); });
  } else {
    readObject(at, value);
  }
}

/// `{"runs": [0, 0, 1], "each": 2, "over": "A"}`
inline void readTable(const JsonAt &at, DistanceData &data) {
  at.expectObject({"runs", "each", "over"});
  if (std::optional<JsonAt> runs = at.need("runs")) {
    forElements(*runs, [&](const JsonAt &item, size_t) { data.runs.push_back(item.integer()); });
    if (runs->isArray() && data.runs.empty()) {
      runs->error("expected at least one run");
    }
  }
  if (std::optional<JsonAt> each = at.need("each")) {
    data.step = each->integer();
  }
  if (std::optional<JsonAt> over = at.find("over")) {
    data.over = over->string();
    if (over->isString() && data.over.empty()) {
      over->error("expected the name of a loop");
    }
  }
}

/// The keys `distance`, `flat` and `element` of the object.
inline void readDistance(const JsonAt &at, DistanceData &data) {
  std::optional<JsonAt> distance = at.find("distance");
  std::optional<JsonAt> flat = at.find("flat");
  std::optional<JsonAt> element = at.find("element");
  if (distance && distance->expectObject()) {
    distance->forMembers([&](std::string_view loop, const JsonAt &component) {
      data.components.push_back({std::string(loop), component.integer()});
    });
  }
  if (flat && (element || distance)) {
    at.error("'flat' stands alone; drop it, or drop 'distance' and 'element'");
  }
  if (flat || element) {
    data.form = flat ? DistanceForm::Flat : DistanceForm::Element;
    bool isTable = !flat && element->isObject();
    if (isTable) {
      readTable(*element, data);
    } else {
      data.step = (flat ? flat : element)->integer();
    }
  }
}

template <Struct S, typename T>
void readMember(const JsonAt &at, const Field<S, T> &field, T &value) {
  if constexpr (std::is_same_v<T, QueueData>) {
    readMembers(at, value);
  } else if constexpr (std::is_same_v<T, DistanceData>) {
    readDistance(at, value);
  } else if (auto member =
                 field.isNeededInJson() ? at.need(field.jsonKey()) : at.find(field.jsonKey())) {
    if (!field.mayBeNull || !member->isNull()) {
      readValue(*member, field, value);
    }
  }
}

template <Struct S> void readMembers(const JsonAt &at, S &data) {
  forEachField<S>([&](const auto &field) { readMember(at, field, data.*field.member); });
}

} // namespace tally::written

#endif // TALLY_LIB_WRITTEN_READFIELDS_H
