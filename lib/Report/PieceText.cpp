//===- PieceText.cpp - What a piece of a timeline is, in words ------------===//

#include "PieceText.h"

#include "Markup.h"

#include "tally/Code/Origin.h"
#include "tally/Model/Source.h"
#include "tally/Sim/Trace.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

namespace tally::report {
namespace {

class PieceWriter {
public:
  PieceWriter(const Kernel &kernel, const Timeline &timeline, const Lane &lane, const Piece &piece)
      : kernel(kernel), timeline(timeline), lane(lane), piece(piece),
        op(timeline.code.engines[lane.engine].ops[piece.op]) {}

  std::string text() const {
    return body() + sourceText(kernel, originOf(kernel, timeline.code, op).place(), "\n");
  }

private:
  std::string body() const {
    switch (piece.kind) {
    case PieceKind::Control:
      return control();
    case PieceKind::Wait:
      return wait();
    case PieceKind::QueueFull:
      return fmt::format("no room in the queue: {}\n{}", operation(piece.op), times());
    case PieceKind::Drain:
      return fmt::format("draining: until all instructions of {} have retired\n{}",
                         kernel.nameOf(lane.engine), times());
    case PieceKind::Instruction:
      return instruction();
    }
    return "";
  }

  /// ` (A = 3, B = 1)`
  std::string where() const {
    std::string text = iterationText(kernel, piece.iterations);
    return text.empty() ? "" : fmt::format(" ({})", text);
  }

  std::string times() const {
    return fmt::format("{} to {}: {}", timeText(piece.from), timeText(piece.to),
                       timeText(piece.to - piece.from));
  }

  std::string operation(uint32_t index) const {
    return operationName(kernel, timeline.code, lane.engine, index) + where();
  }

  std::string control() const {
    if (piece.numOps == 1) {
      return fmt::format("control: {}\n{}", operation(piece.op), times());
    }
    return fmt::format("control: {}, from {} to {}\n{}", counted(piece.numOps, "operation"),
                       operationName(kernel, timeline.code, lane.engine, piece.firstOp),
                       operation(piece.op), times());
  }

  std::string wait() const {
    const std::string &semaphore = timeline.code.semaphores[op.wait].name;
    std::string purpose = op.kind == OpKind::Issue ? "waits before it can " : "";
    std::string text =
        fmt::format("{} {}{}\n{}\n", kernel.nameOf(lane.engine), purpose,
                    purpose.empty() ? "waits" + where() : operation(piece.op), times());
    if (piece.detail == UINT32_MAX) {
      return text +
             fmt::format("for semaphore '{}'; it was not raised in time{}", semaphore, reasons());
    }
    const Release &release = timeline.releases[piece.detail];
    return text + fmt::format("for semaphore '{}' >= {}{}\nraised at {} by {}", semaphore,
                              release.threshold, reasons(), timeText(release.raisedAt),
                              raiser(release));
  }

  std::string raiser(const Release &release) const {
    const Op &by = timeline.code.engines[release.by].ops[release.byOp];
    return release.byQueue.valid()
               ? fmt::format("{} on {}, started at {}", kernel.nameOf(by.instr()),
                             kernel.nameOf(release.byQueue), timeText(release.byStart))
               : fmt::format("a signal of {}", kernel.nameOf(release.by));
  }

  std::string reasons() const {
    std::string text;
    for (uint32_t i = 0; i < op.numReasons; ++i) {
      text += (i == 0 ? "\ndependence " : "; ") +
              describe(kernel, timeline.code.reasons[op.firstReason + i]);
    }
    return text;
  }

  std::string instruction() const {
    const Execution &e = timeline.executions[piece.detail];
    const Instr &instr = kernel.instrs[e.instr];
    std::string does =
        instr.operation.valid() ? fmt::format(": {}", kernel.text(instr.operation)) : std::string();
    return fmt::format("{}{}, run {}{}\nstarts at {}, leaves room after {}, finishes after {}\n"
                       "arrived in {} at {}, retires at {}",
                       kernel.nameOf(e.instr), where(), e.run, does, timeText(e.start),
                       timeText(e.occupied - e.start), timeText(e.finish - e.start),
                       kernel.nameOf(e.queue), timeText(e.arrival), timeText(e.retire));
  }

  const Kernel &kernel;
  const Timeline &timeline;
  const Lane &lane;
  const Piece &piece;
  const Op &op;
};

} // namespace

std::string pieceText(const Kernel &kernel, const Timeline &timeline, const Lane &lane,
                      const Piece &piece) {
  return PieceWriter(kernel, timeline, lane, piece).text();
}

} // namespace tally::report
