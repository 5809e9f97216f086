//===- Tables.h - What commands show as tables ----------------------------===//
//
// Each is made next to its command; tests look at the cells.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_TABLES_H
#define TALLY_TOOLS_TALLY_TABLES_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {
struct BenchRow;
struct Code;
struct Compiled;
struct Kernel;
struct LoadedKernel;
struct Machine;
struct Request;
struct Sensitivity;
struct SimResult;
struct SyncPlan;
} // namespace tally

namespace tally::tool {

class Table;

/// `tally compare`: a row for each strategy, with its size or the first reason why not.
Table compareTable(const LoadedKernel &loaded, const Request &options, const Machine &machine);

/// `tally plan`: what is reserved, raised, kept and waited for. The last one reads kernel and plan
/// when it is shown: they have to live on.
Table semaphoreTable(const Kernel &kernel, const Compiled &compiled, const Machine &machine);
Table groupTable(const Kernel &kernel, const SyncPlan &plan);
Table barrierTable(const Kernel &kernel, const SyncPlan &plan);
Table resetTable(const Kernel &kernel, const SyncPlan &plan);
Table registerTable(const Kernel &kernel, const Code &code, const Machine &machine);
Table dependenceTable(const Kernel &kernel, const SyncPlan &plan, const Machine &machine);

/// `tally sim`: where the time of engines and queues goes, in percent of the whole as text.
Table sequencerTable(const Kernel &kernel, const SimResult &result);
Table queueTable(const Kernel &kernel, const SimResult &result);

/// The longest first: all waits of each operation, and the parts of the critical path.
Table waitTable(const Kernel &kernel, const Code &code, const SimResult &result);
Table pathTable(const Kernel &kernel, const Code &code, const SimResult &result);

/// `tally kernels list`
Table catalogueTable();
std::vector<std::string> catalogueNames();

/// `tally bench` as `text`, `markdown` or `json`. What was not measured is a dash in text, and
/// below the table there are the reasons why there is no code.
/// `facts`: under what, by name; each is shown first.
using BenchFacts = std::vector<std::pair<std::string, std::string>>;
std::string renderBench(std::span<const BenchRow> rows, std::string_view format,
                        const BenchFacts &facts = {});
std::string renderSensitivity(std::span<const Sensitivity> rows, std::string_view format,
                              const BenchFacts &facts = {});

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_TABLES_H
