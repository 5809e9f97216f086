//===- Library.cpp - What made code calls ---------------------------------===//

#include "Library.h"

#include "Workers.h"

#include "../Data/Arithmetic.h"
#include "../Data/Value.h"

#include "tally/Data/Format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tally::native {
namespace {

using namespace data::arithmetic;

//===----------------------------------------------------------------------===//
// Arithmetic; formats are numbers
//===----------------------------------------------------------------------===//

float decodeAs(uint32_t format, uint32_t bits) {
  return tally::decode(Format(format), bits);
}

uint32_t encodeAs(uint32_t format, float number) {
  return tally::encode(Format(format), number);
}

float roundedTo(uint32_t format, float number) {
  return decodeAs(format, encodeAs(format, number));
}

int32_t numberAsWhole(uint32_t format, float number) {
  return static_cast<int32_t>(tally::decodeWhole(Format(format), encodeAs(format, number)));
}

int32_t wholeAsWhole(uint32_t format, int32_t whole) {
  Format to = Format(format);
  return static_cast<int32_t>(tally::decodeWhole(to, tally::encodeWhole(to, whole)));
}

int32_t nearestIn(uint32_t to, uint32_t from, int32_t whole) {
  int64_t number = tally::decodeWhole(Format(from), static_cast<uint32_t>(whole));
  return static_cast<int32_t>(tally::encodeWhole(Format(to), number));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void waitFor(uint32_t semaphore, uint32_t threshold, uint32_t mask, uint32_t flip, uint32_t first) {
  current->waitFor(SemaId(semaphore), threshold, mask, flip, first);
}

void leave() {
  current->leave();
}

int64_t tripsAt(uint32_t loop, uint64_t entry) {
  return current->trips(LoopId(loop), entry);
}

void outside(const char *tile, int64_t index, int64_t size) {
  current->fail(fmt::format("'{}' lies outside its buffer: it begins at {}, and may begin at 0 to "
                            "{}",
                            tile, index, size - 1));
  current->leave();
}

int64_t rowIndex(float number, int64_t rows, const char *buffer) {
  if (number >= 0 && number < static_cast<float>(rows) && number == std::floor(number)) {
    return static_cast<int64_t>(number);
  }
  current->fail(
      fmt::format("row {} of '{}' is taken, which has rows 0 to {}", number, buffer, rows - 1));
  current->leave();
}

void push(TaskQueue *queue, uint32_t task, const int64_t *counts, uint64_t numCounts) {
  current->blockedOn = Blocker::Room;
  current->outgoing.task = task;
  current->outgoing.counts.assign(counts, counts + numCounts);
  if (current->records()) {
    current->recorder.hand(current->outgoing.recorded);
  }
  queue->push(current->outgoing);
}

uint32_t next(TaskQueue *queue, int64_t *counts, uint64_t numCounts) {
  current->blockedOn = Blocker::Work;
  const TaskEntry *entry = queue->next();
  if (entry == nullptr) {
    return UINT32_MAX;
  }
  std::copy_n(entry->counts.begin(), numCounts, counts);
  current->recorder.take(entry->recorded);
  return entry->task;
}

void retire(TaskQueue *queue) {
  queue->retire();
}

void drain(TaskQueue *queue) {
  current->blockedOn = Blocker::Drain;
  queue->drain();
}

void close(TaskQueue *queue) {
  queue->close();
}

void at(uint32_t op) {
  current->recorder.at(op);
}

void begin() {
  current->recorder.begin();
}

void end() {
  current->recorder.end();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

struct Entry {
  std::string_view name;
  void *address;
  bool isArithmetic = false;
};

template <typename Function> void *addressOf(Function *function) {
  return reinterpret_cast<void *>(function);
}

const Entry entries[] = {
    {"decode", addressOf(decodeAs), true},
    {"encode", addressOf(encodeAs), true},
    {"rounded", addressOf(roundedTo), true},
    {"numberAsWhole", addressOf(numberAsWhole), true},
    {"wholeAsWhole", addressOf(wholeAsWhole), true},
    {"nearest", addressOf(nearestIn), true},
    {"bitsOf", addressOf(bitsOf), true},
    {"toWhole", addressOf(toWhole), true},
    {"rowSum", addressOf(rowSum)},
    {"rowProduct", addressOf(rowProduct)},
    {"rowMax", addressOf(rowMax)},
    {"rowMin", addressOf(rowMin)},
    {"rowScan", addressOf(rowScan)},
    {"rowTop", addressOf(rowTop)},
    {"rowFind", addressOf(rowFind)},
    {"rowReplace", addressOf(rowReplace)},
    {"matmul", addressOf(matmul)},
    {"rowIndex", addressOf(rowIndex)},
    {"outside", addressOf(outside)},
    {"trips", addressOf(tripsAt)},
    {"wait", addressOf(waitFor)},
    {"pause", addressOf(exec::runtime::pause)},
    {"leave", addressOf(leave)},
    {"push", addressOf(push)},
    {"next", addressOf(next)},
    {"retire", addressOf(retire)},
    {"drain", addressOf(drain)},
    {"close", addressOf(close)},
    {"at", addressOf(at)},
    {"begin", addressOf(begin)},
    {"end", addressOf(end)},
};

/// Operations that Data has as functions of single elements.
std::vector<LibraryFunction> scalars() {
  std::vector<LibraryFunction> all;
  for (uint8_t op = 0; op <= static_cast<uint8_t>(ComputeOp::Gather); ++op) {
    void *address = std::visit(
        [](auto function) -> void * {
          if constexpr (std::is_pointer_v<decltype(function)>) {
            return addressOf(function);
          } else {
            return nullptr;
          }
        },
        data::scalarOf(ComputeOp(op)));
    if (address != nullptr) {
      all.push_back({fmt::format("tally_{}", toString(ComputeOp(op))), address});
    }
  }
  return all;
}

} // namespace

std::vector<LibraryFunction> library() {
  std::vector<LibraryFunction> all = scalars();
  for (const Entry &entry : entries) {
    all.push_back({fmt::format("tally_{}", entry.name), entry.address});
  }
  return all;
}

bool isArithmetic(std::string_view name) {
  const Entry *entry = std::ranges::find(entries, name, &Entry::name);
  return entry == std::end(entries) || entry->isArithmetic;
}

} // namespace tally::native
