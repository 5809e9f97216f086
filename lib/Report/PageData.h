//===- PageData.h - What the script of a page draws from ------------------===//
//
// One JSON object. Columns hold one number for each piece of a lane. A time is told as the distance
// from the time before it, and an operation as the distance from that of the piece before. So
// columns of regular runs are nearly constant, and pack well.
//
//   longest         of all runs, as all times in picoseconds
//   view            [from, until], what the page shows at first
//   styles          [name, colour, meaning]: of fillings, by their number
//   runs            one for each timeline:
//     strategy, title, total, from, until      pieces are held from `from` to `until`
//     strings       texts, which `ops` refer to by number
//     ops           columns, for each operation that has a piece: engine, name, instr (none: ""),
//                   does (the operation in the kernel), source, semaphore, why (strings); loops
//                   (lists of strings: the loops around it that the code has, outermost first)
//     lanes         engine, queue (none: ""), label; columns:
//       kind        0 control, 1 wait, 2 full queue, 3 drain, 4 instruction, 6 wait without an end
//       gap, span   from the end of the piece before it; its length
//       op, style   place in `ops`, as distance; in `styles`
//       at          the iteration of each loop around the operation, as distances from those of the
//                   last piece of this operation
//                   and only of pieces of their kinds, one for each of these:
//       first, count                      control: the first of `count` operations, from `op` back
//       threshold, raised, lane, by, began   wait: until `raised` before its end, the piece of
//                   operation `by` (from `op`) in this lane (-1: none) began, as time before that
//       run, arrived, finish, retire      instruction: run, as distance; arrived, as time before it
//                   started; finished, as time after its end; retired, as time after that
//       buckets     [from, length, width, style, span, style, span ...]: where no pieces are held,
//                   the shares of a part of a bucket
//     path          of the critical path, if it was asked for: kind (PathKind), gap, span, op,
//     lane;
//                   buckets
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_PAGEDATA_H
#define TALLY_LIB_REPORT_PAGEDATA_H

#include "Causes.h"
#include "Styles.h"

namespace tally::report {

std::string pageData(const Report &report, const CauseTable &causes, const StyleTable &styles);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_PAGEDATA_H
