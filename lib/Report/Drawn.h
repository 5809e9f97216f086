//===- Drawn.h - What of a report is drawn, and how -----------------------===//
//
// What the picture and the data of a page have in common: which lanes there are, the style of each
// piece, and the parts of overviews that stand for pieces that are not held.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_DRAWN_H
#define TALLY_LIB_REPORT_DRAWN_H

#include "Causes.h"
#include "Styles.h"

#include <functional>
#include <optional>

namespace tally::report {

/// Lanes in which nothing happens in any run are left out of all, so that panels look alike.
bool isUsed(const Report &report, size_t lane);

/// How long a run takes compared with the first one; none if either did not come to its end.
std::optional<double> ratioToFirst(const Report &report, size_t timeline);

/// `per-loop: 12.345 us, 0.345 of barrier`
std::string titleOf(const Report &report, size_t timeline);

/// The queue in which a piece of the critical path lies; none: in the sequencer.
QueueId queueOf(const Timeline &timeline, const PathPiece &piece);

/// Of the piece with this number in a lane.
StyleId styleOf(const Report &report, const CauseTable &causes, const StyleTable &styles,
                size_t timeline, const Lane &lane, size_t piece);

using Shares = std::vector<std::pair<StyleId, Tick>>; ///< by style

/// The overview of a lane (none: of the critical path), where its pieces are not held: what part of
/// a bucket, the width of the whole, and the shares of the whole.
void forEachBucket(const Report &report, const CauseTable &causes, const StyleTable &styles,
                   size_t timeline, const Lane *lane,
                   const std::function<void(Tick, Tick, Tick, const Shares &)> &tell);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_DRAWN_H
