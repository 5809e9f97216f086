//===- Compact.h - JSON without repeated names ----------------------------===//
//
// A second spelling of any document: what objects of a list have in common is written once, as a
// shape, and what is different goes into columns of numbers.
// docs/guide/json/Compact.md has an example.
//
//   {"list": [                            names     "ld", "dma", "st"
//     {"instr": "ld", "queue": "dma"},    shapes    0: {"instr":"","queue":""}, [0,2], [1]
//     {"instr": "st", "queue": "dma"}               1: {"list":[]}
//   ]}                                    document  [[0,0],1]
//
// In a shape an empty text is a hole for a name, 0 one for a number, and an empty array one for
// objects. Columns hold differences to the entry before, names by their number; what is missing at
// the end of a column is 0. The objects stand in the order of the text, each as the number of its
// shape, after one array for each list in it: so a writer knows all of an object when it ends.
//
// Neither direction knows what the document is about, so fields, rules and messages are those of
// the usual form: the writer takes its text, and the reader makes the values that its text has.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_WRITTEN_COMPACT_H
#define TALLY_LIB_WRITTEN_COMPACT_H

#include "../Support/StrictJson.h"
#include "tally/Support/StringPool.h"

#include <array>
#include <unordered_map>

namespace tally::written {

/// Takes a document in pieces and gives its compact form. The root is an object.
class CompactJson {
public:
  /// A piece of sound JSON; it ends between two tokens.
  void add(std::string_view text);

  /// All of it, once the root has ended.
  std::string finish();

private:
  /// The differences, and how many of them at the end are 0 and not written yet.
  struct Column {
    std::string text;
    int64_t last = 0;
    size_t zeros = 0;

    void add(int64_t value);
  };

  struct Shape {
    std::string_view text;
    std::vector<Column> columns;
  };

  /// An object of a list, as far as it is known.
  struct Item {
    std::string shape;
    std::vector<int64_t> holes;
  };

  /// What a bracket belongs to.
  enum class Open : uint8_t { Item, Part, List };

  void token(std::string_view text, bool isKey);
  void begin(char bracket);
  void end(char bracket);
  void beginArray(bool isList);
  void endItem();
  void value(std::string_view text);
  void hole(std::string_view mark, int64_t value);
  NameId name(std::string_view text);

  Item &item() { return items[depth - 1]; }

  StringPool names;                ///< quoted
  std::array<NameId, 4096> recent; ///< of those met lately, by their last characters
  std::vector<Shape> shapes;
  std::unordered_map<std::string, size_t> shapeIds; ///< by their texts
  std::string document;
  std::vector<Open> open;
  std::vector<Item> items;     ///< those that are open come first
  size_t depth = 0;            ///< how many are
  bool isArrayPending = false; ///< a bracket has been read, and it is not known of what
};

/// Makes of every compact document in `document`, which is the root or an element of it, what it
/// stands for. Reports what is not of its form, each at its place.
void expandCompact(JsonDocument &document, JsonErrors &errors);

} // namespace tally::written

#endif // TALLY_LIB_WRITTEN_COMPACT_H
