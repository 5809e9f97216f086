//===- BenchTables.cpp - What tally bench shows ---------------------------===//

#include "Table.h"
#include "Tables.h"

#include "tally/Bench/Table.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tally::tool {
namespace {

double nanoseconds(Tick ticks) {
  return static_cast<double>(ticks) / 1000;
}

Cell wholeNanoseconds(Tick ticks) {
  return {fmt::format("{:.0f}", nanoseconds(ticks)), nanoseconds(ticks)};
}

/// The kernel has a line of its own in text.
Table tableOf(std::span<const BenchRow> rows, bool namesKernels) {
  Table table({{"kernel", "kernel", 0},
               {"strategy", "strategy", -20, "  "},
               {"loops", ""},
               {"offsets", ""},
               {"trips", ""},
               {"problem", ""},
               {"what", ""},
               {"normalized_latency", "latency", 9, ""},
               {"latency_ns", "ns", 12, ""},
               {"code_bytes", "bytes", 10, ""},
               {"registers_per_engine", "regs", 6, ""},
               {"registers", ""},
               {"semaphores", "semas", 7, ""},
               {"waits", "waits", 9, ""},
               {"waiting_ns", "waiting ns", 13, ""},
               {"control_ns", "control ns", 13, ""}});
  for (const BenchRow &row : rows) {
    bool isMeasured = row.problem.empty();
    bool isRun = isMeasured && row.measured.variant != Variant::Floor;
    bool isCode = isMeasured && row.codeBytes > 0;
    auto orDash = [](bool isThere, Cell cell) { return isThere ? cell : Cell("-", std::nullopt); };
    Cell ratio = row.normalized > 0 ? Cell(fmt::format("{:.3f}", row.normalized), row.normalized)
                                    : Cell("-", Json(nullptr));
    table.add({namesKernels ? Cell(row.kernel) : Cell::hidden(row.kernel), row.strategy,
               Cell::hidden(row.loops), Cell::hidden(row.offsets), Cell::hidden(row.trips),
               isMeasured ? Cell() : Cell::hidden(row.problem),
               row.what.empty() ? Cell() : Cell::hidden(row.what), orDash(isMeasured, ratio),
               orDash(isMeasured, wholeNanoseconds(row.latency)), orDash(isCode, row.codeBytes),
               orDash(isCode, row.maxRegisters()), isCode ? Cell::hidden(row.registers) : Cell(),
               orDash(isCode, row.semaphores), orDash(isCode, row.waits),
               orDash(isRun, wholeNanoseconds(row.waiting)),
               orDash(isRun, wholeNanoseconds(row.control))});
  }
  return table;
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

/// What the bounds in the table keep; what is the same for all kernels once.
std::string legend(std::span<const BenchRow> rows, std::string_view bullet) {
  std::string text;
  for (const BenchRow &row : rows) {
    bool isOfKernel = row.measured.variant == Variant::Floor;
    std::string line = fmt::format("{}{}{}{}: {}\n", bullet, isOfKernel ? row.kernel : "",
                                   isOfKernel ? ", " : "", row.strategy, row.what);
    if (!row.what.empty() && text.find(line) == std::string::npos) {
      text += line;
    }
  }
  return text.empty() ? "" : "\n" + text;
}

std::string kernelLine(const BenchRow &row) {
  return fmt::format("{}: {}, distances {}{}{}\n", row.kernel, counted(row.loops, "loop"),
                     fmt::join(row.offsets, ", "), row.trips.empty() ? "" : "; trips ",
                     fmt::join(row.trips, ", "));
}

/// A table for each kernel.
std::string benchText(std::span<const BenchRow> rows) {
  Table table = tableOf(rows, /*namesKernels=*/false);
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].kernel != rows[i - 1].kernel) {
      text += fmt::format("{}{}{}", i == 0 ? "" : "\n", kernelLine(rows[i]), table.headLine());
    }
    text += table.line(i);
  }
  return text + problems(rows, "") + legend(rows, "");
}

/// `machine: trn2`, a line each.
std::string factLines(const BenchFacts &facts) {
  std::string text;
  for (const auto &[name, value] : facts) {
    text += fmt::format("{}: {}\n", name, value);
  }
  return facts.empty() ? text : text + "\n";
}

std::string document(std::string_view schema, const BenchFacts &facts, std::string_view name,
                     const Json &rows) {
  Json object{{"schema", schema}, {"version", 1}};
  for (const auto &[fact, value] : facts) {
    object[fact] = value;
  }
  object[name] = rows;
  return dump(object) + "\n";
}

} // namespace

std::string renderBench(std::span<const BenchRow> rows, std::string_view format,
                        const BenchFacts &facts) {
  if (format == "text") {
    return factLines(facts) + benchText(rows);
  }
  Table table = tableOf(rows, /*namesKernels=*/true);
  return format == "markdown" ? table.markdown() + problems(rows, "- ") + legend(rows, "- ")
                              : document("tally-bench", facts, "rows", table.json());
}

std::string renderSensitivity(std::span<const Sensitivity> rows, std::string_view format,
                              const BenchFacts &facts) {
  Table table({{"kernel", "kernel", -19, ""},
               {"strategy", "strategy", -20, ""},
               {"least", "least", 8, ""},
               {"normal", "normal", 8, ""},
               {"most", "most", 8, ""},
               {"least_at", "least at", 0, "  "},
               {"most_at", "most at", 0, ", "}});
  auto ratio = [](double value) { return Cell(fmt::format("{:.3f}", value), value); };
  for (const Sensitivity &row : rows) {
    table.add({row.kernel, row.strategy, ratio(row.least), ratio(row.normal), ratio(row.most),
               row.leastAt, row.mostAt});
  }
  return format == "text"       ? factLines(facts) + table.text()
         : format == "markdown" ? table.markdown()
                                : document("tally-sensitivity", facts, "sensitivity", table.json());
}

} // namespace tally::tool
