//===- RandomComputes.cpp - What instructions compute, from a seed --------===//

#include "RandomComputes.h"

#include "tally/Model/AccessText.h"

#include <cassert>
#include <fmt/format.h>

namespace tally::fuzz {

constexpr uint32_t numColumns = 4;

ComputesDrawer::ComputesDrawer(KernelBuilder &builder, uint64_t seed)
    : TileDrawer(builder, seed, Tiles::Computed) {
  constexpr std::string_view types[] = {"f32", "i32", "f32", "i32", "u8", "bf16", "i16"};
  uint32_t count = random.in({2, 4});
  for (uint32_t i = 0; i < count; ++i) {
    shapes.push_back(random.percent(30) ? std::vector<uint64_t>{8, numColumns}
                                        : std::vector<uint64_t>{8});
    std::string_view type = types[random.below(i == 0 ? 2 : std::size(types))];
    isLarge.push_back(type.ends_with("32"));
    buffers.push_back(builder.buffer(fmt::format("X{}", i), shapes.back(), "", type));
  }
}

void ComputesDrawer::draw(InstrId instr) {
  setBodies(builder.peek().instrs[instr].home);
  extent = {random.percent(50) ? 1 : random.in({2, 3}), random.percent(25)};
  drawReads();
  if (numReads == 0 || !random.percent(8)) {
    drawResult();
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Any buffer; if it has to be wide, one with columns, if there is one.
size_t ComputesDrawer::bufferFor(bool wide) {
  size_t buffer = random.below(buffers.size());
  for (size_t i = 0; wide && i < buffers.size() && shapes[buffer].size() != 2; ++i) {
    buffer = (buffer + 1) % buffers.size();
  }
  return buffer;
}

/// A tile of this extent; of a buffer with columns, one of them unless it is to be wide.
std::string ComputesDrawer::tileOf(size_t buffer, Extent wanted) {
  bool isStrided = wanted.rows > 1 && random.percent(20);
  int64_t stride = isStrided ? 2 : 1;
  int64_t reach = 1 + stride * (int64_t(wanted.rows) - 1);
  std::string rows = within(index(), int64_t(shapes[buffer][0]) - reach + 1).text;
  if (wanted.rows > 1) {
    rows += fmt::format(":{}{}", wanted.rows, isStrided ? ":2" : "");
  }
  std::string columns = shapes[buffer].size() == 1 ? ""
                        : wanted.isWide            ? fmt::format(", 0:{}", numColumns)
                                                   : ", " + within(index(), numColumns).text;
  std::string text = fmt::format("X{}[{}{}]", buffer, rows, columns);
  if (!bodies.empty() && random.percent(15)) {
    text += " if " + guard();
  }
  std::string error;
  std::optional<ParsedAccess> parsed = parseAccess(text, error);
  assert(parsed && "tiles are drawn as the grammar says");
  return toString(*parsed);
}

void ComputesDrawer::drawReads() {
  numReads = random.in({0, 2});
  hasRows = isWide = false;
  for (uint32_t i = 0; i < numReads; ++i) {
    Extent wanted = random.percent(75) ? extent : Extent{};
    size_t buffer = bufferFor(wanted.isWide);
    wanted.isWide &= shapes[buffer].size() == 2;
    builder.access(AccessKind::Read, buffers[buffer], tileOf(buffer, wanted));
    hasRows |= wanted.rows == extent.rows;
    isWide |= wanted.rows == extent.rows && wanted.isWide;
  }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// What is written has the shape of what is computed; of wide tiles, each row may be summed up.
void ComputesDrawer::drawResult() {
  size_t buffer = bufferFor(isWide && random.percent(70));
  bool writesWide = isWide && shapes[buffer].size() == 2;
  std::string text = result(isLarge[buffer]);
  if (!hasRows && extent.rows > 1) {
    text = fmt::format("{} + index([{}], 0)", text, extent.rows);
  }
  if (isWide && !writesWide) {
    text = fmt::format("mod({}({}), 251)", random.percent(50) ? "sum" : "max", text);
  }
  bool adds = isLarge[buffer] && random.percent(30);
  builder.computes(text);
  builder.access(adds ? AccessKind::Accumulate : AccessKind::Write, buffers[buffer],
                 tileOf(buffer, {extent.rows, writesWide}));
}

/// All formats hold the numbers up to 250, and their sums stay exact in f32. Whatever is read
/// matters.
std::string ComputesDrawer::result(bool mayBeLarge) {
  bool isLarge = mayBeLarge && random.percent(20);
  std::string text = isLarge ? whole(2) : expression(2);
  for (uint32_t i = 0; i < numReads; ++i) {
    text = fmt::format(fmt::runtime(isLarge ? "iadd({}, r{})" : "{} + r{}"), text, i);
  }
  return fmt::format("mod({}, {})", text, isLarge ? 65521 : 251);
}

std::string ComputesDrawer::expression(uint32_t depth) {
  if (depth == 0) {
    return operand();
  }
  std::string a = expression(depth - 1);
  std::string b = operand();
  switch (random.below(8)) {
  case 0:
    return fmt::format("max({}, {})", a, b);
  case 1:
    return fmt::format("min({}, {} + 7)", a, b);
  case 2:
    return fmt::format("select({} < {}, {}, {})", a, b, operand(), b);
  case 3:
    return fmt::format("({} - {})", a, b);
  case 4:
    return fmt::format("mod({} * {}, 127)", a, b);
  default:
    return fmt::format("({} * {} + {})", a, random.in({2, 5}), b);
  }
}

/// Of 32 bits.
std::string ComputesDrawer::whole(uint32_t depth) {
  constexpr std::string_view functions[] = {"iadd", "isub", "imul", "bitxor"};
  return depth == 0 ? operand()
                    : fmt::format("{}({}, {})", functions[random.below(std::size(functions))],
                                  whole(depth - 1), operand());
}

/// Mostly what is read.
std::string ComputesDrawer::operand() {
  if (numReads != 0 && random.percent(70)) {
    return fmt::format("r{}", random.below(numReads));
  }
  const Body *loop = bodies.empty() ? nullptr : &bodies[random.below(bodies.size())];
  return loop && loop->isLoop && random.percent(60) ? loop->name
                                                    : fmt::format("{}", random.in({1, 9}));
}

} // namespace tally::fuzz
