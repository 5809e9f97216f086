//===- ValueWriter.cpp - Operations over values, one after the other ------===//

#include "ValueWriter.h"

namespace tally::lowering {

ValueWriter::ValueWriter(ValueCode &code) : program(code), regionAtDepth{noRegion} {
  program.ops.clear();
  program.values.clear();
  program.regions.clear();
}

RegId ValueWriter::newValue(RegisterValue value) {
  program.values.push_back(value);
  return RegId(static_cast<uint32_t>(program.values.size() - 1));
}

RegId ValueWriter::newCounter(CounterRole role) {
  return newValue({role});
}

RegId ValueWriter::startCounter(CounterRole role, uint32_t from) {
  RegId id = newCounter(role);
  program.ops.push_back(Op::move(id, Operand::number(from)));
  return id;
}

void ValueWriter::endCounter(RegId counter) {
  program.values[counter.value].lastUse = position() - 1;
}

void ValueWriter::bump(RegId counter, uint32_t by) {
  sum(counter, counter, by);
}

void ValueWriter::move(RegId to, RegId from) {
  program.ops.push_back(Op::move(to, Operand::reg(from)));
}

void ValueWriter::sum(RegId counter, RegId from, uint32_t number) {
  program.ops.push_back(Op::alu2(AluOp::Add, counter, Operand::reg(from), Operand::number(number)));
}

void ValueWriter::change(RegId counter, Operand by) {
  touch(by);
  program.ops.push_back(Op::alu2(AluOp::Add, counter, Operand::reg(counter), by));
}

RegId ValueWriter::compute(AluOp alu, Operand a, Operand b, uint32_t depth) {
  RegId id = newValue({{}, depth, position(), position()});
  touch(a);
  touch(b);
  program.ops.push_back(Op::alu2(alu, id, a, b));
  return id;
}

void ValueWriter::touch(Operand operand) {
  if (!operand.isRegister || program.values[operand.value].isCounter()) {
    return;
  }
  RegisterValue &value = program.values[operand.value];
  bool inside = regionAtDepth.size() > value.depth + 1;
  value.lastUse = position();
  value.lastRegion = inside ? regionAtDepth[value.depth + 1] : noRegion;
}

void ValueWriter::open(const Op &begin) {
  regionAtDepth.push_back(static_cast<uint32_t>(program.regions.size()));
  program.regions.push_back({position(), 0});
  program.ops.push_back(begin);
}

void ValueWriter::close(OpKind kind) {
  program.regions[regionAtDepth.back()].end = position();
  regionAtDepth.pop_back();
  program.ops.push_back(Op::mark(kind));
}

} // namespace tally::lowering
