//===- Render.cpp - The table as text, Markdown, JSON ---------------------===//

#include "tally/Bench/Table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>

namespace tally {
namespace {

using Cells = std::vector<std::string>;

const Cells heads{"kernel", "strategy", "latency", "ns",         "bytes",
                  "regs",   "semas",    "waits",   "waiting ns", "control ns"};

double nanoseconds(Tick ticks) {
  return static_cast<double>(ticks) / 1000;
}

/// One row; what was not measured is a dash.
Cells cellsOf(const BenchRow &row) {
  if (!row.problem.empty()) {
    return {row.kernel, row.strategy, "-", "-", "-", "-", "-", "-", "-", "-"};
  }
  bool isCode = row.codeBytes > 0;
  auto ofCode = [&](uint64_t number) { return isCode ? fmt::format("{}", number) : "-"; };
  return {row.kernel,
          row.strategy,
          row.normalized > 0 ? fmt::format("{:.3f}", row.normalized) : "-",
          fmt::format("{:.0f}", nanoseconds(row.latency)),
          ofCode(row.codeBytes),
          ofCode(row.maxRegisters()),
          ofCode(row.semaphores),
          ofCode(row.waits),
          fmt::format("{:.0f}", nanoseconds(row.waiting)),
          fmt::format("{:.0f}", nanoseconds(row.control))};
}

/// Reasons why there is no code, below the table.
std::string problems(std::span<const BenchRow> rows, std::string_view bullet) {
  std::string text;
  for (const BenchRow &row : rows) {
    if (!row.problem.empty()) {
      text += fmt::format("{}{}, {}: {}\n", bullet, row.kernel, row.strategy, row.problem);
    }
  }
  return text.empty() ? "" : "\n" + text;
}

std::string kernelLine(const BenchRow &row) {
  return fmt::format("{}: {} loop{}, offsets {}\n", row.kernel, row.loops,
                     row.loops == 1 ? "" : "s", fmt::join(row.offsets, ", "));
}

} // namespace

std::string benchText(std::span<const BenchRow> rows) {
  std::string text;
  std::string kernel;
  for (const BenchRow &row : rows) {
    if (row.kernel != kernel) {
      kernel = row.kernel;
      text += fmt::format("{}{}", text.empty() ? "" : "\n", kernelLine(row));
      text += fmt::format("  {:20}{:>9}{:>12}{:>10}{:>6}{:>7}{:>9}{:>13}{:>13}\n", "strategy",
                          "latency", "ns", "bytes", "regs", "semas", "waits", "waiting ns",
                          "control ns");
    }
    Cells c = cellsOf(row);
    text += fmt::format("  {:20}{:>9}{:>12}{:>10}{:>6}{:>7}{:>9}{:>13}{:>13}\n", c[1], c[2], c[3],
                        c[4], c[5], c[6], c[7], c[8], c[9]);
  }
  return text + problems(rows, "");
}

std::string benchMarkdown(std::span<const BenchRow> rows) {
  std::string text = fmt::format("| {} |\n|---|---|", fmt::join(heads, " | "));
  for (size_t i = 2; i < heads.size(); ++i) {
    text += "---:|";
  }
  text += "\n";
  for (const BenchRow &row : rows) {
    text += fmt::format("| {} |\n", fmt::join(cellsOf(row), " | "));
  }
  return text + problems(rows, "- ");
}

std::string sensitivityText(std::span<const Sensitivity> rows) {
  std::string text =
      fmt::format("{:19}{:20}{:>8}{:>8}{:>8}\n", "kernel", "strategy", "least", "normal", "most");
  for (const Sensitivity &row : rows) {
    text += fmt::format("{:19}{:20}{:>8.3f}{:>8.3f}{:>8.3f}  {}, {}\n", row.kernel, row.strategy,
                        row.least, row.normal, row.most, row.leastAt, row.mostAt);
  }
  return text;
}

std::string sensitivityMarkdown(std::span<const Sensitivity> rows) {
  std::string text = "| kernel | strategy | least | normal | most | least at | most at |\n"
                     "|---|---|---:|---:|---:|---|---|\n";
  for (const Sensitivity &row : rows) {
    text += fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} | {} | {} |\n", row.kernel,
                        row.strategy, row.least, row.normal, row.most, row.leastAt, row.mostAt);
  }
  return text;
}

std::string sensitivityJson(std::span<const Sensitivity> rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Sensitivity &row : rows) {
    list.push_back({{"kernel", row.kernel},
                    {"strategy", row.strategy},
                    {"least", row.least},
                    {"normal", row.normal},
                    {"most", row.most},
                    {"least_at", row.leastAt},
                    {"most_at", row.mostAt}});
  }
  return nlohmann::ordered_json{
             {"schema", "tally-sensitivity"}, {"version", 1}, {"sensitivity", list}}
             .dump(2) +
         "\n";
}

std::string benchJson(std::span<const BenchRow> rows) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const BenchRow &row : rows) {
    Json object{{"kernel", row.kernel},
                {"strategy", row.strategy},
                {"loops", row.loops},
                {"offsets", row.offsets}};
    if (!row.problem.empty()) {
      object["problem"] = row.problem;
      list.push_back(std::move(object));
      continue;
    }
    object["normalized_latency"] = row.normalized > 0 ? Json(row.normalized) : Json(nullptr);
    object["latency_ns"] = nanoseconds(row.latency);
    if (row.codeBytes > 0) {
      object["code_bytes"] = row.codeBytes;
      object["registers_per_engine"] = row.maxRegisters();
      object["registers"] = row.registers;
      object["semaphores"] = row.semaphores;
      object["waits"] = row.waits;
    }
    object["waiting_ns"] = nanoseconds(row.waiting);
    object["control_ns"] = nanoseconds(row.control);
    list.push_back(std::move(object));
  }
  return Json{{"schema", "tally-bench"}, {"version", 1}, {"rows", list}}.dump(2) + "\n";
}

} // namespace tally
