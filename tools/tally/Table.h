//===- Table.h - Rows and columns, shown as text, Markdown and JSON -------===//
//
// What a command has found is put into rows once. Text, Markdown and JSON are renderings of the
// same cells, so that none of them can say something else.
//
//   column           cell                text             JSON
//   key and head     text and value      under its head   "key": value
//   no width         text                as it is         "key": value
//   no key           text                under its head   -
//                    value alone         -                "key": value
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_TABLE_H
#define TALLY_TOOLS_TALLY_TABLE_H

#include "Output.h"

#include "tally/Support/Diagnostics.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally {
struct Kernel;
}

namespace tally::tool {

struct Column {
  std::string_view key;          ///< in JSON; empty: not there
  std::string head = {};         ///< above the column in text; empty: no head
  int width = 0;                 ///< in text, aligned to the right, if negative to the left
  std::string_view before = " "; ///< what stands in front of it in text
};

/// What one row says in one column; in a form in which it says nothing it is left out.
struct Cell {
  Cell() = default;

  template <std::convertible_to<std::string_view> Text>
  Cell(const Text &said) : text(said), value(*text) {}

  template <std::integral Number>
  Cell(Number number) : text(std::to_string(number)), value(number) {}

  Cell(std::optional<std::string> text, std::optional<Json> value)
      : text(std::move(text)), value(std::move(value)) {}

  /// Not in text.
  static Cell hidden(Json value) {
    Cell cell;
    cell.value = std::move(value);
    return cell;
  }

  std::optional<std::string> text;
  std::optional<Json> value;
};

/// Of a place that the kernel says something comes from, for the key `loc`; in other places
/// nothing.
Cell sourceCell(const Kernel &kernel, Location where);
void addSource(Json &object, const Kernel &kernel, Location where);

class Table {
public:
  explicit Table(std::vector<Column> columns) : columns(std::move(columns)) {}

  /// `numRows` rows, each made whenever it is shown: a large table is never held as a whole.
  Table(std::vector<Column> columns, size_t numRows, std::function<std::vector<Cell>(size_t)> rowAt)
      : columns(std::move(columns)), numMade(numRows), make(std::move(rowAt)) {}

  /// One cell for each column.
  void add(std::vector<Cell> cells);

  /// The row that was added last is not shown as text.
  void hideLast();

  size_t size() const { return make ? numMade : rows.size(); }

  /// The heads of all columns that have one, and a row, each as a line of text.
  std::string headLine() const;
  std::string line(size_t row) const; ///< empty if it is hidden

  /// Heads, if there are any, and rows, the first of them.
  std::string text(size_t mostRows = SIZE_MAX) const;
  std::string markdown() const; ///< all columns with a head; text to the left, numbers to the right
  Json object(size_t row) const;
  Json json() const; ///< an array of objects

private:
  std::vector<Cell> cells(size_t row) const { return make ? make(row) : rows[row]; }

  std::vector<Column> columns;
  size_t numMade = 0;
  std::function<std::vector<Cell>(size_t)> make;
  std::vector<std::vector<Cell>> rows;
};

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_TABLE_H
