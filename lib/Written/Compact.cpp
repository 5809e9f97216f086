//===- Compact.cpp - JSON without repeated names --------------------------===//

#include "Compact.h"

#include "tally/Written/Text.h"

#include <fmt/format.h>

#include <cstring>

namespace tally::written {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Where the token ends that begins with the text.
static size_t endOfToken(std::string_view text) {
  if (text[0] != '"') {
    return std::min(text.find_first_of(",]} \n"), text.size());
  }
  size_t end = 1;
  while (text[end] != '"') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return end + 1;
}

void CompactJson::add(std::string_view text) {
  while (!text.empty()) {
    char c = text[0];
    size_t size = 1;
    if (c == '{' || c == '[') {
      begin(c);
    } else if (c == '}' || c == ']') {
      end(c);
    } else if (c == ',' && open.back() != Open::List) {
      item().shape += c;
    } else if (c != ',' && c != ' ' && c != '\n') {
      size = endOfToken(text);
      bool isKey = size < text.size() && text[size] == ':';
      token(text.substr(0, size), isKey);
      size += isKey;
    }
    text.remove_prefix(size);
  }
}

void CompactJson::token(std::string_view text, bool isKey) {
  beginArray(/*isList=*/false);
  if (isKey) {
    (item().shape += text) += ':';
  } else {
    value(text);
  }
}

/// Names and numbers leave holes, but for numbers whose differences may not fit in 64 bits.
void CompactJson::value(std::string_view text) {
  if (text[0] == '"') {
    return hole("\"\"", name(text).value);
  }
  constexpr size_t maxDigits = 18;
  int64_t number = 0;
  auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isNumber = error == std::errc() && last == text.data() + text.size();
  isNumber &&text.size() <= maxDigits ? hole("0", number) : void(item().shape += text);
}

/// Most names were there shortly before, so that their place in the pool need not be looked up.
NameId CompactJson::name(std::string_view text) {
  uint64_t last = 0;
  size_t size = std::min(text.size(), sizeof last);
  std::memcpy(&last, text.data() + text.size() - size, size);
  NameId &known = recent[(last * 0x9e3779b97f4a7c15u) >> 52];
  if (names[known] != text) {
    known = names.intern(text);
  }
  return known;
}

void CompactJson::hole(std::string_view mark, int64_t value) {
  item().shape += mark;
  item().holes.push_back(value);
}

void CompactJson::begin(char bracket) {
  beginArray(/*isList=*/bracket == '{');
  if (bracket == '[') {
    isArrayPending = true;
    return;
  }
  if (!open.empty() && open.back() != Open::List) {
    item().shape += bracket;
    return open.push_back(Open::Part);
  }
  open.push_back(Open::Item);
  if (++depth > items.size()) {
    items.emplace_back();
  }
  item().shape = bracket;
  item().holes.clear();
}

/// An array is a list if objects stand in it, or nothing; it is of the first that is known.
void CompactJson::beginArray(bool isList) {
  if (!isArrayPending) {
    return;
  }
  isArrayPending = false;
  item().shape += isList ? "[]" : "[";
  document += isList ? "[" : "";
  open.push_back(isList ? Open::List : Open::Part);
}

void CompactJson::end(char bracket) {
  beginArray(/*isList=*/true);
  Open ended = open.back();
  open.pop_back();
  if (ended != Open::List) {
    item().shape += bracket;
    return ended == Open::Item ? endItem() : void();
  }
  if (document.back() == ',') {
    document.pop_back();
  }
  document += "],";
}

void CompactJson::endItem() {
  auto [entry, isNew] = shapeIds.try_emplace(item().shape, shapes.size());
  const std::vector<int64_t> &holes = item().holes;
  if (isNew) {
    shapes.push_back({entry->first, std::vector<Column>(holes.size())});
  }
  for (size_t i = 0; i < holes.size(); ++i) {
    shapes[entry->second].columns[i].add(holes[i]);
  }
  appendNumber(document, entry->second);
  document += ',';
  --depth;
}

void CompactJson::Column::add(int64_t value) {
  int64_t difference = value - std::exchange(last, value);
  if (difference == 0) {
    ++zeros;
    return;
  }
  for (; zeros > 0; --zeros) {
    text += "0,";
  }
  appendNumber(text, difference);
  text += ',';
}

static std::string_view withoutComma(std::string_view text) {
  return text.substr(0, text.find_last_not_of(',') + 1);
}

std::string CompactJson::finish() {
  std::string out = "{\"schema\":\"tally-compact\",\"version\":1,\n\"names\":[";
  for (uint32_t i = 0; i < names.size(); ++i) {
    out += i == 0 ? "" : ",";
    out += names[NameId(i)];
  }
  out += "],\n\"shapes\":[";
  for (const Shape &shape : shapes) {
    (out += &shape == &shapes.front() ? "\n[" : ",\n[") += shape.text;
    for (const Column &column : shape.columns) {
      ((out += ",[") += withoutComma(column.text)) += ']';
    }
    out += ']';
  }
  ((out += "],\n\"document\":[") += withoutComma(document)) += "]}\n";
  return out;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Members of the document that is read, one behind the other.
struct Members {
  uint32_t first = 0;
  uint32_t size = 0;
};

/// Holes are filled in place: an entry of a column becomes the number or name that it stands for,
/// and is a member of the object. So only objects and arrays are made anew.
class Expander {
public:
  Expander(JsonDocument &document, const JsonAt &at)
      : document(document), at(at), before(at.numErrors()) {}

  void run() {
    at.expectObject({"schema", "version", "names", "shapes", "document"});
    at.expectSchema("tally-compact", 1, 1);
    each("names", [&](const JsonAt &name) { addName(name); });
    each("shapes", [&](const JsonAt &shape) { addShape(shape); });
    std::optional<JsonAt> items = isSound() ? at.need("document") : std::nullopt;
    Members made = items ? elements(*items, 0) : Members();
    if (isSound() && made.size != 1) {
      items->error(fmt::format("expected one object, found {}", made.size));
    }
    if (isSound()) {
      expectAllUsed();
    }
    if (isSound()) {
      document.values[at.id()] = document.values[document.members[made.first].value];
    }
  }

private:
  using Value = JsonDocument::Value;
  using Kind = JsonDocument::Kind;

  struct Shape {
    uint32_t root = 0; ///< what it is made from
    std::vector<uint32_t> slots =
        {}; ///< of each value from there on that is a hole: its column or list
    std::vector<Members> columns = {};
    uint32_t lists = 0;
    uint32_t uses = 0;
  };

  bool isSound() const { return at.numErrors() == before; }

  template <typename Visit> static void forElements(const JsonAt &array, Visit visit) {
    for (size_t i = 0; array.expectArray() && i < array.size(); ++i) {
      visit(array[i]);
    }
  }

  /// Those of a list of this document; what is wrong before makes no sense of it.
  template <typename Visit> void each(std::string_view key, Visit visit) {
    if (std::optional<JsonAt> list = isSound() ? at.need(key) : std::nullopt) {
      forElements(*list, visit);
    }
  }

  /// An empty one is wrong where it stands for something.
  void addName(const JsonAt &name) {
    if (!name.isString()) {
      name.string();
    }
    names.push_back(name.id());
  }

  static bool isNameHole(const Value &value) {
    return value.kind == Kind::String && value.string.size == 0;
  }

  static bool isList(const Value &value) { return value.kind == Kind::Array && value.size == 0; }

  static bool isNumberHole(const Value &value) {
    return value.kind == Kind::Natural && value.number == 0;
  }

  /// The values of a shape lie behind one another in the order of the text.
  void addShape(const JsonAt &array) {
    shapes.emplace_back();
    if (!array.expectArray() || array.size() == 0 || !array[0].expectObject()) {
      return array.isArray() && array.size() == 0
                 ? array.error("expected an object and its columns")
                 : void();
    }
    Shape &shape = shapes.back();
    shape.root = array[0].id();
    std::vector<bool> areNames;
    const uint32_t end = document.values[shape.root].end;
    for (uint32_t id = shape.root; id < document.values.size(); ++id) {
      const Value &value = document.values[id];
      if (value.begin >= end) {
        break;
      }
      bool isColumn = isNameHole(value) || isNumberHole(value);
      shape.slots.push_back(isColumn        ? static_cast<uint32_t>(areNames.size())
                            : isList(value) ? shape.lists++
                                            : 0);
      if (isColumn) {
        areNames.push_back(isNameHole(value));
      }
    }
    if (array.size() != areNames.size() + 1) {
      return array.error(fmt::format(
          "expected as many columns as holes for names and numbers, which is {}; found {}",
          areNames.size(), array.size() - 1));
    }
    for (size_t i = 0; i < areNames.size(); ++i) {
      addColumn(shape, array[i + 1], areNames[i]);
    }
  }

  void addColumn(Shape &shape, const JsonAt &column, bool isOfNames) {
    int64_t sum = 0;
    forElements(column, [&](const JsonAt &entry) {
      if (__builtin_add_overflow(sum, entry.integer(), &sum)) {
        entry.error("with this difference the number no longer fits in 64 bits");
        sum = 0;
      }
      isOfNames ? becomeName(entry, sum) : becomeNumber(entry, sum);
    });
    if (isOfNames && names.empty()) {
      column.error("there are no names");
    }
    const Value &value = document.values[column.id()];
    shape.columns.push_back({value.first, value.size});
  }

  void becomeName(const JsonAt &entry, int64_t number) {
    if (number < 0 || number >= static_cast<int64_t>(names.size())) {
      entry.error(
          fmt::format("unknown name {}; there are {}, numbered from 0", number, names.size()));
      return;
    }
    Value &value = document.values[entry.id()];
    value.kind = Kind::String;
    value.isMade = true;
    value.string = document.values[names[static_cast<size_t>(number)]].string;
  }

  void becomeNumber(const JsonAt &entry, int64_t number) {
    Value &value = document.values[entry.id()];
    value.kind = number < 0 ? Kind::Integer : Kind::Natural;
    value.isMade = true;
    value.number = static_cast<uint64_t>(number);
  }

  /// What stands in an array of the document. Arrays wait there for the shape that they are in.
  Members elements(const JsonAt &array, unsigned depth) {
    std::vector<uint32_t> made;
    std::vector<Members> lists;
    if (depth + 2 > maxJsonDepth) {
      array.error(fmt::format("more than {} objects and arrays inside one another", maxJsonDepth));
      return {};
    }
    forElements(array, [&](const JsonAt &each) {
      if (each.isArray()) {
        lists.push_back(elements(each, depth + 2));
        return;
      }
      made.push_back(item(each, lists));
      lists.clear();
    });
    if (!lists.empty()) {
      array.error("the last array stands before no number of a shape");
    }
    Members result = {static_cast<uint32_t>(document.members.size()),
                      static_cast<uint32_t>(made.size())};
    for (uint32_t value : made) {
      document.members.push_back({value});
    }
    return result;
  }

  /// None if there is an error.
  uint32_t item(const JsonAt &number, const std::vector<Members> &lists) {
    if (shapes.empty()) {
      number.error("there are no shapes");
      return 0;
    }
    size_t errors = number.numErrors();
    Shape &shape = shapes[number.unsignedIn(0, shapes.size() - 1)];
    if (number.numErrors() == errors && lists.size() != shape.lists) {
      number.error(fmt::format("expected as many arrays before this number as its shape has holes "
                               "for them, which is {}; found {}",
                               shape.lists, lists.size()));
    }
    const Value &root = document.values[shape.root];
    size += root.end - root.begin;
    if (size > maxSize) {
      size = 0;
      number.error("up to here the document stands for more than 1024 MiB");
    }
    if (!isSound()) {
      return 0;
    }
    uint32_t made = make(shape, shape.root, document.values[number.id()], lists);
    ++shape.uses;
    return made;
  }

  /// One value of a shape and all that is in it, as it is in the object whose number is `place`.
  uint32_t make(const Shape &shape, uint32_t id, Value place, const std::vector<Members> &lists) {
    Value value = document.values[id];
    uint32_t slot = shape.slots[id - shape.root];
    if (isNameHole(value) || isNumberHole(value)) {
      Members column = shape.columns[slot];
      return column.size == 0
                 ? (isNameHole(value) ? names[0] : id)
                 : document.members[column.first + std::min(shape.uses, column.size - 1)].value;
    }
    if (value.kind != Kind::Object && value.kind != Kind::Array) {
      return id;
    }
    Members inside = isList(value) ? lists[slot] : copy(value.first, value.size);
    for (uint32_t i = 0; !isList(value) && i < inside.size; ++i) {
      uint32_t part = make(shape, document.members[inside.first + i].value, place, lists);
      document.members[inside.first + i].value = part;
    }
    value.begin = place.begin;
    value.end = place.end;
    value.first = inside.first;
    value.size = inside.size;
    document.values.push_back(value);
    return static_cast<uint32_t>(document.values.size() - 1);
  }

  Members copy(uint32_t first, uint32_t size) {
    Members result = {static_cast<uint32_t>(document.members.size()), size};
    for (uint32_t i = 0; i < size; ++i) {
      document.members.push_back(JsonDocument::Member(document.members[first + i]));
    }
    return result;
  }

  void expectAllUsed() {
    JsonAt list = *at.need("shapes");
    for (size_t i = 0; i < shapes.size(); ++i) {
      JsonAt array = list[i];
      for (size_t column = 1; column < array.size(); ++column) {
        if (array[column].size() > shapes[i].uses) {
          array[column].error(fmt::format(
              "expected at most one entry for each object of this shape, which is {}; found {}",
              shapes[i].uses, array[column].size()));
        }
      }
    }
  }

  /// Of the largest file in the usual form.
  static constexpr uint64_t maxSize = uint64_t(1) << 30;

  JsonDocument &document;
  const JsonAt &at;
  const size_t before;         ///< errors
  std::vector<uint32_t> names; ///< their values
  std::vector<Shape> shapes;
  uint64_t size = 0; ///< of the text that this stands for, about
};

bool isCompact(const JsonDocument &document, const JsonAt &at) {
  std::optional<JsonAt> schema = at.find("schema");
  return schema && document.text(document.values[schema->id()].string) == "tally-compact";
}

} // namespace

void expandCompact(JsonDocument &document, JsonErrors &errors) {
  JsonAt root(document, errors);
  for (size_t i = 0; root.isArray() && i < root.size(); ++i) {
    if (JsonAt each = root[i]; isCompact(document, each)) {
      Expander(document, each).run();
    }
  }
  if (isCompact(document, root)) {
    Expander(document, root).run();
  }
}

} // namespace tally::written
