//===- RandomTiles.cpp - What instructions touch, from a seed -------------===//

#include "RandomTiles.h"

#include "tally/Model/AccessText.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

namespace tally::fuzz {

TileDrawer::TileDrawer(KernelBuilder &builder, uint64_t seed, Tiles tiles, bool ties)
    : builder(builder), random(seed), mayLeave(tiles == Tiles::MayLeave), ties(ties) {
  if (tiles != Tiles::Computed) {
    addBuffers();
  }
}

void TileDrawer::addBuffers() {
  uint32_t numBuffers = random.percent(10) ? 3 : random.in({1, 2});
  bool haveAddresses = numBuffers > 1 && random.percent(45);
  for (uint32_t i = 0; i < numBuffers; ++i) {
    shapes.push_back(random.percent(25)   ? std::vector<uint64_t>{8, 4}
                     : random.percent(15) ? std::vector<uint64_t>{}
                                          : std::vector<uint64_t>{8});
    std::string name = fmt::format("X{}", i);
    if (haveAddresses) {
      std::string type = fmt::format("i{}", 8 << random.below(3));
      buffers.push_back(builder.buffer(name, shapes.back(), "", type, random.below(12)));
      if (!shapes.back().empty() && random.percent(40)) {
        auto dim = static_cast<uint32_t>(random.below(shapes.back().size()));
        builder.partitions(buffers.back(), {random.below(6), dim});
      }
    } else {
      buffers.push_back(builder.buffer(name, shapes.back()));
    }
  }
  for (uint32_t i = 1; i < numBuffers; ++i) {
    if (random.percent(10)) {
      builder.alias(buffers[i], buffers[random.below(i)]);
    } else if (haveAddresses && random.percent(10)) {
      builder.noalias(buffers[i], buffers[random.below(i)]);
    }
  }
}

void TileDrawer::draw(InstrId instr) {
  setBodies(builder.peek().instrs[instr].home);
  uint32_t count = random.in({1, 2});
  for (uint32_t i = 0; i < count; ++i) {
    size_t buffer = random.below(buffers.size());
    auto kind = random.percent(10)   ? AccessKind::Accumulate
                : random.percent(50) ? AccessKind::Write
                                     : AccessKind::Read;
    std::string error;
    std::optional<ParsedAccess> parsed = parseAccess(tile(buffer), error);
    assert(parsed && "tiles are drawn as the grammar says");
    builder.access(kind, buffers[buffer], toString(*parsed));
  }
}

//===----------------------------------------------------------------------===//
// Loops around
//===----------------------------------------------------------------------===//

void TileDrawer::setBodies(LoopId home) {
  const Kernel &kernel = builder.peek();
  std::vector<LoopId> path;
  for (LoopId loop = home; loop != rootLoop; loop = kernel.loops[loop].parent) {
    path.push_back(loop);
  }
  bodies.clear();
  int64_t entries = 1;
  for (size_t i = path.size(); i-- > 0;) {
    bodies.push_back(bodyOf(path[i], entries));
    entries = bodies.back().maxEntries;
  }
}

TileDrawer::Body TileDrawer::bodyOf(LoopId id, int64_t entriesAround) const {
  const Loop &loop = builder.peek().loops[id];
  Body body{std::string(builder.peek().nameOf(id)), !loop.isBranch(), 1, entriesAround};
  if (!body.isLoop) {
    return body;
  }
  body.maxTrips = loop.trip.kind == Trip::Kind::Constant ? static_cast<int64_t>(loop.trip.constant)
                  : loop.trip.kind == Trip::Kind::Guard  ? unbounded
                  : loop.trip.kind == Trip::Kind::Formula
                      ? 2 * assumedTrips + 2
                      : static_cast<int64_t>(loop.trip.max.value_or(assumedTrips));
  body.maxEntries = saturatingProduct(body.maxTrips, entriesAround);
  return body;
}

int64_t TileDrawer::saturatingProduct(int64_t a, int64_t b) {
  return a != 0 && b > unbounded / a ? unbounded : a * b;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

std::string TileDrawer::tile(size_t buffer) {
  std::string text = place(buffer);
  uint32_t numGuards = bodies.empty() || !random.percent(20) ? 0 : random.in({1, 2});
  for (uint32_t i = 0; i < numGuards; ++i) {
    text += (i == 0 ? " if " : " and ") + guard();
  }
  return text;
}

/// Mostly about the first or last iterations.
std::string TileDrawer::guard() {
  constexpr std::string_view relations[] = {"==", "!=", "<", "<=", ">", ">="};
  std::string_view relation = relations[random.below(std::size(relations))];
  const Body &body = bodies[random.below(bodies.size())];
  if (!body.isLoop || random.percent(15)) {
    std::string left = index().text;
    return fmt::format("{} {} {}", left, relation, index().text);
  }
  std::string end = random.percent(50)
                        ? fmt::format("{}", random.in({0, 2}))
                        : fmt::format("trips({}) - {}", body.name, random.in({1, 2}));
  return fmt::format("{} {} {}", body.name, relation, end);
}

std::string TileDrawer::place(size_t buffer) {
  std::string text = fmt::format("X{}", buffer);
  const std::vector<uint64_t> &shape = shapes[buffer];
  if (shape.empty() || random.percent(10)) {
    return text;
  }
  if (random.percent(5)) {
    return text + "[@]";
  }
  text += "[" + dim(static_cast<int64_t>(shape[0]));
  if (shape.size() == 2) {
    text += ", " + (random.percent(50) ? std::string("0:4") : dim(static_cast<int64_t>(shape[1])));
  }
  return text + "]";
}

std::string TileDrawer::dim(int64_t extent) {
  if (random.percent(5)) {
    return "$n";
  }
  Term first = index();
  if (!random.percent(25)) {
    return within(std::move(first), extent).text;
  }
  Term many = size();
  int64_t stride = random.percent(30) ? random.in(2, 3) : 1;
  int64_t room = extent - std::max<int64_t>(many.max - 1, 0) * stride;
  if (room < 1) {
    many = number(2);
    stride = 1;
    room = extent - 1;
  }
  return fmt::format("{}:{}{}", within(std::move(first), room).text, many.text,
                     stride > 1 ? fmt::format(":{}", stride) : "");
}

/// Some shrink or grow with the iterations, to nothing and below.
TileDrawer::Term TileDrawer::size() {
  if (bodies.empty() || random.percent(80)) {
    return number(random.in({1, 3}));
  }
  if (random.percent(10)) {
    return {"$m", 1, 1};
  }
  Term count = leaf(/*mayTie=*/false); // sizes that nobody knows are taken to be at least 1
  if (count.max > 3) {
    count = remainder(count, 4);
  }
  return random.percent(50) ? difference(2, count) : count;
}

/// The same index, or its remainder, so that it is below `room`, if it has to be.
TileDrawer::Term TileDrawer::within(Term term, int64_t room) {
  return mayLeave || (term.min >= 0 && term.max < room) ? std::move(term) : remainder(term, room);
}

/// An index around 0 to 5; others touch nothing that anybody else does.
TileDrawer::Term TileDrawer::index() {
  if (bodies.empty() || random.percent(20)) {
    return number(random.in({0, 3}));
  }
  Term value = leaf();
  if (random.percent(15)) {
    value = sum(value, leaf());
  }
  if (random.percent(15)) {
    value = product(random.in({2, 3}), value);
  }
  if (random.percent(30)) {
    value = sum(value, number(random.in({1, 3})));
  }
  if (random.percent(10)) {
    return quotient(value, random.in({2, 3}));
  }
  if (random.percent(10)) {
    return difference(5, value);
  }
  return random.percent(65) ? remainder(value, random.in({1, 4})) : value;
}

TileDrawer::Term TileDrawer::leaf(bool mayTie) {
  if (ties && mayTie && random.percent(25)) {
    return {random.percent(70) ? "$t" : "$s", 0, assumedTrips};
  }
  const Body &body = bodies[random.below(bodies.size())];
  if (body.isLoop && random.percent(5)) {
    return {fmt::format("trips({})", body.name), 0, body.maxTrips};
  }
  bool total = !body.isLoop || random.percent(25);
  int64_t past = std::max<int64_t>((total ? body.maxEntries : body.maxTrips) - 1, 0);
  Term count{total ? fmt::format("total({})", body.name) : body.name, 0, past};
  return random.percent(5) ? remainder(count, random.in({2, 3})) : count;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

TileDrawer::Term TileDrawer::number(int64_t value) {
  return {fmt::format("{}", value), value, value};
}

/// Composite terms stand in brackets; the canonical text of a tile leaves out those it can.
TileDrawer::Term TileDrawer::sum(const Term &a, const Term &b) {
  return {fmt::format("({} + {})", a.text, b.text), a.min + b.min,
          std::min(a.max + b.max, unbounded)};
}

TileDrawer::Term TileDrawer::difference(int64_t from, const Term &term) {
  return {fmt::format("({} - {})", from, term.text), from - term.max, from - term.min};
}

TileDrawer::Term TileDrawer::product(int64_t factor, const Term &term) {
  return {fmt::format("({} * {})", factor, term.text), factor * term.min,
          saturatingProduct(factor, term.max)};
}

TileDrawer::Term TileDrawer::quotient(const Term &term, int64_t divisor) {
  return {fmt::format("({} floordiv {})", term.text, divisor), term.min / divisor,
          term.max == unbounded ? unbounded : term.max / divisor};
}

TileDrawer::Term TileDrawer::remainder(const Term &term, int64_t modulus) {
  return {fmt::format("({} mod {})", term.text, modulus), 0, modulus - 1};
}

} // namespace tally::fuzz
