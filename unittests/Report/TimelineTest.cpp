//===- TimelineTest.cpp - The pieces of recorded runs ---------------------===//

#include "ReportCase.h"

#include <map>

using namespace tally;

static constexpr EngineId e0(0), e1(1);

/// What is drawn adds up to what the simulator counted.
TEST(TimelineTest, piecesAddUp) {
  Pipe c(5);
  Timeline t = record(c);
  ASSERT_EQ(t.result.outcome, SimResult::Outcome::Finished);
  for (EngineId engine : {e0, e1}) {
    const EngineStats &stats = t.result.engines[engine];
    EXPECT_EQ(sumOf(t, engine, PieceKind::Control), stats.control);
    EXPECT_EQ(sumOf(t, engine, PieceKind::Wait), stats.waiting);
    EXPECT_EQ(sumOf(t, engine, PieceKind::QueueFull), stats.queueFull);
    EXPECT_EQ(sumOf(t, engine, PieceKind::Drain), stats.draining);
  }
  EXPECT_EQ(laneOf(t, e0, true).pieces.size(), 6u);
  EXPECT_EQ(laneOf(t, e1, true).pieces.size(), 5u);
}

/// A dispatch takes 7 ns, a loop 11 to begin: 'p' is one piece of control, and the loop with the
/// first issue in it another.
TEST(TimelineTest, controlUpToAnIssueIsOnePiece) {
  Pipe c(2);
  Timeline t = record(c);
  const std::vector<Piece> &pieces = laneOf(t, e0, false).pieces;
  ASSERT_GE(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].to, 7 * ns);
  EXPECT_EQ(pieces[0].numOps, 1u);
  EXPECT_EQ(pieces[1].from, 7 * ns);
  EXPECT_EQ(pieces[1].to, (7 + 11 + 7) * ns);
  EXPECT_EQ(pieces[1].numOps, 2u);
  EXPECT_EQ(pieces[1].firstOp, 1u);
  EXPECT_EQ(pieces[1].op, 2u);
  EXPECT_EQ(pieces[1].iterations, (Iterations{{LoopId(1), 0}}));
}

/// Instructions know the iteration that issued them, though they start later.
TEST(TimelineTest, iterations) {
  Pipe c(3);
  Timeline t = record(c);
  const std::vector<Piece> &producers = laneOf(t, e0, true).pieces;
  ASSERT_EQ(producers.size(), 4u);
  EXPECT_TRUE(producers[0].iterations.empty());
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(producers[i + 1].iterations, (Iterations{{LoopId(1), i}}));
    EXPECT_EQ(t.executions[producers[i + 1].detail].run, i);
  }
}

/// A wait says what ended it, and at which value.
TEST(TimelineTest, releases) {
  Pipe c(3);
  Timeline t = record(c);
  uint32_t numWaits = 0;
  for (const Piece &piece : laneOf(t, e1, false).pieces) {
    if (piece.kind == PieceKind::Wait) {
      EXPECT_EQ(piece.iterations, (Iterations{{LoopId(1), numWaits}}));
      ++numWaits;
      ASSERT_LT(piece.detail, t.releases.size());
      const Release &release = t.releases[piece.detail];
      EXPECT_EQ(release.threshold, numWaits);
      EXPECT_EQ(release.from, piece.from);
      EXPECT_EQ(release.to, piece.to);
      EXPECT_EQ(endedBy(c.code, release), InstrId(1));
    }
  }
  EXPECT_EQ(numWaits, 3u);
  ASSERT_EQ(t.waits.size(), 1u);
  EXPECT_EQ(t.waits[0].by, InstrId(1));
  EXPECT_EQ(t.waits[0].span, t.result.engines[e1].waiting);
}

/// A limit keeps what starts first, all of it; sums are of the whole run.
TEST(TimelineTest, limitKeepsTheBeginning) {
  Pipe c(1000);
  Timeline whole = record(c), part = record(c, {0, UINT64_MAX, 100});
  EXPECT_EQ(whole.shownUntil, UINT64_MAX);
  ASSERT_LT(part.shownUntil, whole.result.total);
  EXPECT_EQ(part.waits[0].span, whole.waits[0].span);
  size_t numPieces = 0;
  for (size_t i = 0; i < whole.lanes.size(); ++i) {
    std::vector<Piece> expected;
    for (const Piece &piece : whole.lanes[i].pieces) {
      if (piece.from < part.shownUntil) {
        expected.push_back(piece);
      }
    }
    const std::vector<Piece> &found = part.lanes[i].pieces;
    ASSERT_EQ(found.size(), expected.size()) << "lane " << i;
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].from, expected[k].from);
      EXPECT_EQ(found[k].iterations, expected[k].iterations);
      if (found[k].kind == PieceKind::Instruction) {
        EXPECT_EQ(part.executions[found[k].detail].run, whole.executions[expected[k].detail].run);
      } else if (found[k].kind == PieceKind::Wait) {
        EXPECT_EQ(part.releases[found[k].detail].threshold,
                  whole.releases[expected[k].detail].threshold);
      }
    }
    numPieces += found.size();
  }
  EXPECT_LE(numPieces, 100u);
  EXPECT_GE(numPieces, 90u); // less those that start with the first one left out
}

/// A window holds what reaches into it.
TEST(TimelineTest, window) {
  Pipe c(20);
  Tick from = 2000 * ns, until = 3000 * ns;
  Timeline whole = record(c), part = record(c, {from, until, SIZE_MAX});
  for (size_t i = 0; i < whole.lanes.size(); ++i) {
    size_t expected = 0;
    for (const Piece &piece : whole.lanes[i].pieces) {
      Tick to =
          piece.kind == PieceKind::Instruction ? whole.executions[piece.detail].finish : piece.to;
      expected += piece.from < until && to > from;
    }
    EXPECT_GT(expected, 0u);
    EXPECT_EQ(part.lanes[i].pieces.size(), expected) << "lane " << i;
  }
}

/// A wait that never ends reaches up to the end of the run.
TEST(TimelineTest, deadlock) {
  Pipe c(3);
  c.ops(0)[2].signal = SemaId(); // nobody raises `s`
  Timeline t = record(c);
  ASSERT_EQ(t.result.outcome, SimResult::Outcome::Deadlock);
  const Piece &last = laneOf(t, e1, false).pieces.back();
  EXPECT_EQ(last.kind, PieceKind::Wait);
  EXPECT_EQ(last.detail, UINT32_MAX);
  EXPECT_EQ(last.to, t.result.total);
  EXPECT_EQ(sumOf(t, e1, PieceKind::Wait), t.result.engines[e1].waiting);
  ASSERT_EQ(t.waits.size(), 1u);
  EXPECT_FALSE(t.waits[0].by.valid());
  EXPECT_EQ(t.waits[0].span, t.result.engines[e1].waiting);
}

/// The critical path is a lane, if it is asked for; of a part, as far as pieces are held.
TEST(TimelineTest, path) {
  Pipe c(50);
  SimOptions options;
  options.criticalPath = true;
  options.pathNodes = 8; // told bit by bit
  Timeline whole = record(c, {}, options);
  ASSERT_FALSE(whole.path.empty());
  Tick now = 0;
  for (const PathPiece &piece : whole.path) {
    EXPECT_EQ(piece.from, now);
    now = piece.to;
  }
  EXPECT_EQ(now, whole.result.total);
  EXPECT_TRUE(whole.isWhole());
  Timeline part = record(c, {0, UINT64_MAX, 20}, options);
  EXPECT_FALSE(part.isWhole());
  ASSERT_FALSE(part.path.empty());
  EXPECT_LT(part.path.size(), whole.path.size());
  EXPECT_LT(part.path.back().from, part.shownUntil);
  EXPECT_GE(part.path.back().to, part.shownUntil);
  EXPECT_TRUE(record(c).path.empty());
}

/// Of the whole run there are sums, whatever the window.
TEST(TimelineTest, overview) {
  Pipe c(1000);
  Timeline t = record(c, {1000 * ns, 2000 * ns, 100});
  for (EngineId engine : {e0, e1}) {
    const Overview &overview = laneOf(t, engine, false).overview;
    EXPECT_LE(overview.buckets().size(), Overview::numBuckets);
    EXPECT_GE(overview.buckets().size() * overview.bucketWidth(), t.result.total);
    std::map<PieceKind, Tick> sums;
    for (const Overview::Bucket &bucket : overview.buckets()) {
      Tick sum = 0;
      for (const Overview::Share &share : bucket) {
        sums[share.of.kind] += share.span;
        sum += share.span;
      }
      EXPECT_LE(sum, overview.bucketWidth());
    }
    const EngineStats &stats = t.result.engines[engine];
    EXPECT_EQ(sums[PieceKind::Control], stats.control);
    EXPECT_EQ(sums[PieceKind::Wait], stats.waiting);
    EXPECT_EQ(sums[PieceKind::QueueFull], stats.queueFull);
    EXPECT_EQ(sums[PieceKind::Drain], stats.draining);
  }
}
