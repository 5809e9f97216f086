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
  const std::vector<Cell> all = cells(row);
  for (size_t c = 0; c < columns.size(); ++c) {
    text += all[c].text ? inColumn(columns[c], *all[c].text) : "";
  }
  return text.empty() ? "" : text + "\n";
}

std::string Table::text(size_t mostRows) const {
  std::string text = headLine();
  for (size_t row = 0; row < std::min(size(), mostRows); ++row) {
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
  for (size_t row = 0; row < size(); ++row) {
    const std::vector<Cell> all = cells(row);
    text += "|";
    for (size_t c = 0; c < columns.size(); ++c) {
      text += columns[c].head.empty() ? "" : fmt::format(" {} |", all[c].text.value_or(""));
    }
    text += "\n";
  }
  return text;
}

Json Table::object(size_t row) const {
  Json object = Json::object();
  const std::vector<Cell> all = cells(row);
  for (size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].key.empty() && all[c].value) {
      object[std::string(columns[c].key)] = *all[c].value;
    }
  }
  return object;
}

Json Table::json() const {
  Json list = Json::array();
  for (size_t row = 0; row < size(); ++row) {
    list.push_back(object(row));
  }
  return list;
}

} // namespace tally::tool
