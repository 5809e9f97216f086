//===- Table.cpp - Rows and columns, shown as text, Markdown and JSON -----===//

#include "Table.h"

#include "tally/Model/Source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>

namespace tally::tool {
namespace {

std::string inColumn(const Column &column, std::string_view text) {
  const int width = std::abs(column.width);
  return std::string(column.before) + (column.width < 0 ? fmt::format("{:<{}}", text, width)
                                                        : fmt::format("{:>{}}", text, width));
}

} // namespace

Cell sourceCell(const Kernel &kernel, Location where) {
  std::string text = sourceText(kernel, where);
  return text.empty() ? Cell() : Cell(text, Json::parse(sourceJson(kernel, where)));
}

void addSource(Json &object, const Kernel &kernel, Location where) {
  if (Cell source = sourceCell(kernel, where); source.value) {
    object["loc"] = std::move(*source.value);
  }
}

void Table::add(std::vector<Cell> cells) {
  assert(cells.size() == columns.size() && "a row has a cell for each column");
  rows.push_back(std::move(cells));
}

void Table::hideLast() {
  for (Cell &cell : rows.back()) {
    cell.text.reset();
  }
}

std::string Table::headLine() const {
  std::string text;
  for (const Column &column : columns) {
    text += column.width == 0 || column.head.empty() ? "" : inColumn(column, column.head);
  }
  return text.empty() ? "" : text + "\n";
}

std::string Table::line(size_t row) const {
  std::string text;
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::optional<std::string> &cell = rows[row][c].text;
    text += cell ? inColumn(columns[c], *cell) : "";
  }
  return text.empty() ? "" : text + "\n";
}

std::string Table::text(size_t mostRows) const {
  std::string text = headLine();
  for (size_t row = 0; row < std::min(rows.size(), mostRows); ++row) {
    text += line(row);
  }
  return text;
}

std::string Table::markdown() const {
  std::string heads = "|";
  std::string rule = "|";
  for (const Column &column : columns) {
    if (!column.head.empty()) {
      heads += fmt::format(" {} |", column.head);
      rule += column.width > 0 ? "---:|" : "---|";
    }
  }
  std::string text = heads + "\n" + rule + "\n";
  for (const std::vector<Cell> &row : rows) {
    text += "|";
    for (size_t c = 0; c < columns.size(); ++c) {
      text += columns[c].head.empty() ? "" : fmt::format(" {} |", row[c].text.value_or(""));
    }
    text += "\n";
  }
  return text;
}

Json Table::json() const {
  Json list = Json::array();
  for (const std::vector<Cell> &row : rows) {
    Json object = Json::object();
    for (size_t c = 0; c < columns.size(); ++c) {
      if (!columns[c].key.empty() && row[c].value) {
        object[std::string(columns[c].key)] = *row[c].value;
      }
    }
    list.push_back(std::move(object));
  }
  return list;
}

} // namespace tally::tool
