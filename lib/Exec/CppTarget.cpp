//===- CppTarget.cpp - A target that writes C++ ---------------------------===//

#include "CppTarget.h"

#include "tally/Data/Memory.h"
#include "tally/Model/Bindings.h"
#include "tally/Model/UsualTrips.h"
#include "tally/Support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tally::exec {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// How a format lies in memory.
static std::string typeOf(Format format) {
  if (format == Format::F32) {
    return "float";
  }
  bool hasSign = format == Format::I8 || format == Format::I16 || format == Format::I32;
  return fmt::format("{}int{}_t", hasSign ? "" : "u", 8 * sizeOf(format));
}

/// A format as Arithmetic.h calls it.
static std::string layoutOf(Format format) {
  return fmt::format("tally::{}", toString(format));
}

/// In a comment, and in one line.
static std::string commentText(std::string_view text) {
  std::string result = printable(text);
  return result.ends_with('\\') ? result + '.' : result;
}

static std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\' || c == '?') {
      result += '\\';
    }
    if (static_cast<unsigned char>(c) < 32) {
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// What is written in front of the name of a loop, and of a queue, for what belongs to it.
static constexpr std::string_view ofLoops[] = {"trips_", "total_", "reached_", "how_often_"};
static constexpr std::string_view ofQueues[] = {"serve_"};

CppTarget::CppTarget(const Subject &subject)
    : subject(subject), kernel(subject.kernel), keptRooms(kernel.queues.size()),
      isCounted(kernel.loops.size(), false) {
  for (BufferId id : kernel.buffers.ids()) {
    Format format = subject.formats[id];
    arrays.push({names.unique(kernel.text(kernel.buffers[id].name)), typeOf(format),
                 data::numElements(kernel.buffers[id].shape), format});
  }
  for (InstrId id : kernel.instrs.ids()) {
    ownNames.push(subject.isCall(id) ? names.unique(kernel.nameOf(id)) : "");
    instrNames.push(
        names.unique((subject.isCall(id) ? "call_" : "") + std::string(kernel.nameOf(id))));
  }
  for (const Semaphore &semaphore : subject.code.semaphores) {
    semaNames.push(names.unique(semaphore.name));
  }
  for (LoopId id : kernel.loops.ids()) {
    loopNames.push(id == rootLoop ? "" : names.unique(kernel.nameOf(id), ofLoops));
  }
  for (RunValueId id : kernel.values.ids()) {
    valueNames.push(names.unique(kernel.nameOf(id)));
  }
  for (EngineId id : kernel.engines.ids()) {
    engineNames.push(names.unique(fmt::format("run_{}", kernel.nameOf(id))));
  }
  for (QueueId id : kernel.queues.ids()) {
    queueNames.push(names.unique(fmt::format("queue_{}", kernel.nameOf(id)), ofQueues));
  }
  tasks.resize(kernel.queues.size());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

Value CppTarget::add(Text text) {
  return values.push(std::move(text));
}

/// As a part of another expression.
std::string CppTarget::inner(Value value) const {
  return of(value).isAtom ? of(value).text : "(" + of(value).text + ")";
}

void CppTarget::line(std::string_view text) {
  done += std::string(2 * static_cast<size_t>(depth), ' ');
  done += text;
  done += '\n';
}

void CppTarget::open(std::string_view text) {
  line(fmt::format("{} {{", text));
  ++depth;
}

void CppTarget::close() {
  --depth;
  line("}");
}

void CppTarget::note(std::string_view text) {
  line("// " + commentText(text));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string roomType(Kind kind) {
  return kind == Kind::Number ? "float" : "int32_t";
}

Memory CppTarget::room(std::string_view name, Kind kind, uint64_t size) {
  return arrays.push({names.unique(fmt::format("{}_{}", instrNames[instr], name)), roomType(kind),
                      size, std::nullopt,
                      fmt::format("what '{}' computes on the way", kernel.nameOf(instr))});
}

Memory CppTarget::roomOf(QueueId queue, Kind kind) {
  Memory &room = keptRooms[queue][static_cast<size_t>(kind)];
  if (!room.valid()) {
    room = arrays.push({names.unique(fmt::format("kept_{}", kernel.nameOf(queue))), roomType(kind),
                        subject.keptSizes[queue], std::nullopt,
                        fmt::format("what queue '{}' keeps", kernel.nameOf(queue))});
  }
  return room;
}

std::string CppTarget::elementOf(Memory memory, Value element) const {
  return fmt::format("{}[{}]", arrays[memory].name, of(element).text);
}

Value CppTarget::loadNumber(Memory memory, Value element) {
  std::string text = elementOf(memory, element);
  std::optional<Format> format = arrays[memory].format;
  if (!format || format == Format::F32) {
    return atom(text);
  }
  if (format == Format::BF16) {
    return atom(fmt::format("tally::decodeBF16({})", text));
  }
  return isWhole(*format) ? atom(fmt::format("static_cast<float>({})", text))
                          : atom(fmt::format("tally::decode({}, {})", layoutOf(*format), text));
}

Value CppTarget::loadWhole(Memory memory, Value element) {
  std::string text = elementOf(memory, element);
  return atom(arrays[memory].type == "int32_t" ? text
                                               : fmt::format("static_cast<int32_t>({})", text));
}

void CppTarget::touch(Memory memory, Value element) {
  line(fmt::format("tally::touch({});", elementOf(memory, element)));
}

void CppTarget::storeNumber(Memory memory, Value element, Value number) {
  std::optional<Format> format = arrays[memory].format;
  std::string text = of(number).text;
  if (format == Format::BF16) {
    text = fmt::format("tally::encodeBF16({})", text);
  } else if (format && format != Format::F32) {
    text = fmt::format("static_cast<{}>(tally::encode({}, {}))", arrays[memory].type,
                       layoutOf(*format), text);
  }
  line(fmt::format("{} = {};", elementOf(memory, element), text));
}

void CppTarget::storeWhole(Memory memory, Value element, Value whole) {
  const std::string &type = arrays[memory].type;
  std::string text = of(whole).text;
  line(fmt::format("{} = {};", elementOf(memory, element),
                   type == "int32_t" ? text : fmt::format("static_cast<{}>({})", type, text)));
}

void CppTarget::copy(Memory to, Value element, Memory from, Value source) {
  line(fmt::format("{} = {};", elementOf(to, element), elementOf(from, source)));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value CppTarget::index(int64_t number) {
  return add({std::to_string(number), number >= 0, number >= 0, number});
}

std::string CppTarget::nameOf(const Count &count) const {
  std::string_view prefix = count.kind == TileExpr::Kind::Total   ? "total_"
                            : count.kind == TileExpr::Kind::Trips ? "trips_"
                                                                  : "";
  return fmt::format("{}{}", prefix, loopNames[count.loop]);
}

Value CppTarget::count(const Count &count) {
  return atomNotNegative(nameOf(count));
}

Value CppTarget::runValue(RunValueId id) {
  return atomNotNegative(fmt::format("{}.number", valueNames[id]));
}

Value CppTarget::indexOf(TileExpr::Kind kind, Value a, Value b) {
  const Text x = of(a), y = of(b);
  if (x.constant && y.constant) {
    return index(combined(kind, *x.constant, *y.constant));
  }
  bool neither = x.isNotNegative && y.isNotNegative;
  switch (kind) {
  case TileExpr::Kind::Add:
    if (x.constant == 0) {
      return b;
    }
    return y.constant == 0 ? a
                           : add({fmt::format("{} + {}", x.text, y.isProduct ? y.text : inner(b)),
                                  false,
                                  neither,
                                  {}});
  case TileExpr::Kind::Sub:
    return add({fmt::format("{} - {}", x.text, y.isProduct ? y.text : inner(b)), false, false, {}});
  case TileExpr::Kind::Scale:
    return y.constant == 1 ? a
                           : add({fmt::format("{} * {}", x.isProduct ? x.text : inner(a), inner(b)),
                                  false,
                                  neither,
                                  {},
                                  true});
  case TileExpr::Kind::Mod:
    return x.isNotNegative
               ? add({fmt::format("{} % {}", x.isProduct ? x.text : inner(a), inner(b)),
                      false,
                      true,
                      {},
                      true})
               : atomNotNegative(fmt::format("tally::floorMod({}, {})", x.text, y.text));
  default:
    return x.isNotNegative ? add({fmt::format("{} / {}", x.isProduct ? x.text : inner(a), inner(b)),
                                  false,
                                  true,
                                  {},
                                  true})
                           : atom(fmt::format("tally::floorDiv({}, {})", x.text, y.text));
  }
}

Value CppTarget::compare(TileGuard::Relation relation, Value a, Value b) {
  return add({fmt::format("{} {} {}", inner(a), toString(relation), inner(b)), false});
}

Value CppTarget::both(Value a, Value b) {
  return add({fmt::format("{} && {}", inner(a), inner(b)), false});
}

Value CppTarget::either(Value a, Value b) {
  return add({fmt::format("{} || {}", inner(a), inner(b)), false});
}

Value CppTarget::within(Value index, uint64_t size, std::string_view tile) {
  return atomNotNegative(
      fmt::format("tally::within({}, {}, {})", of(index).text, size, quoted(tile)));
}

Value CppTarget::withinIf(Value condition, Value index, uint64_t size, std::string_view tile) {
  return add({fmt::format("({} ? tally::within({}, {}, {}) : 0)", inner(condition), of(index).text,
                          size, quoted(tile)),
              true, true});
}

Value CppTarget::named(std::string_view name, Value index) {
  if (of(index).constant || of(index).text.find_first_of(" (") == std::string::npos) {
    return index; // a number or a name
  }
  line(fmt::format("[[maybe_unused]] const int64_t {} = {};", name, of(index).text));
  return add({std::string(name), true, of(index).isNotNegative});
}

Value CppTarget::namedCondition(std::string_view name, Value condition) {
  line(fmt::format("[[maybe_unused]] const bool {} = {};", name, of(condition).text));
  return atom(std::string(name));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value CppTarget::number(float number) {
  if (!std::isfinite(number)) {
    return add({std::isnan(number) ? "NAN" : number > 0 ? "INFINITY" : "-INFINITY", number > 0});
  }
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return add({text + "F", !std::signbit(number)});
}

Value CppTarget::numberOf(Value index) {
  return atom(fmt::format("static_cast<float>({})", of(index).text));
}

namespace {

/// An operation as C++ writes it, where $1, $2 and $3 are its operands.
struct Written {
  ComputeOp op;
  std::string_view text;
};

constexpr Written writtenAs[] = {
    {ComputeOp::Negate, "-$1"},
    {ComputeOp::Abs, "std::fabs($1)"},
    {ComputeOp::Sign, "tally::sign($1)"},
    {ComputeOp::Floor, "std::floor($1)"},
    {ComputeOp::Ceil, "std::ceil($1)"},
    {ComputeOp::Trunc, "std::trunc($1)"},
    {ComputeOp::Round, "std::nearbyint($1)"},
    {ComputeOp::Reciprocal, "1 / $1"},
    {ComputeOp::Square, "tally::square($1)"},
    {ComputeOp::Sqrt, "std::sqrt($1)"},
    {ComputeOp::Rsqrt, "1 / std::sqrt($1)"},
    {ComputeOp::Exp, "std::exp($1)"},
    {ComputeOp::Log, "std::log($1)"},
    {ComputeOp::Sin, "std::sin($1)"},
    {ComputeOp::Cos, "std::cos($1)"},
    {ComputeOp::Arctan, "std::atan($1)"},
    {ComputeOp::Tanh, "std::tanh($1)"},
    {ComputeOp::Erf, "std::erf($1)"},
    {ComputeOp::Sigmoid, "tally::sigmoid($1)"},
    {ComputeOp::Silu, "tally::silu($1)"},
    {ComputeOp::Gelu, "tally::gelu($1)"},
    {ComputeOp::Softplus, "tally::softplus($1)"},
    {ComputeOp::Add, "$1 + $2"},
    {ComputeOp::Sub, "$1 - $2"},
    {ComputeOp::Mul, "$1 * $2"},
    {ComputeOp::Div, "$1 / $2"},
    {ComputeOp::Max, "tally::larger($1, $2)"},
    {ComputeOp::Min, "tally::smaller($1, $2)"},
    {ComputeOp::Pow, "std::pow($1, $2)"},
    {ComputeOp::Mod, "tally::modulo($1, $2)"},
    {ComputeOp::Less, "$1 < $2 ? 1.0F : 0.0F"},
    {ComputeOp::LessEqual, "$1 <= $2 ? 1.0F : 0.0F"},
    {ComputeOp::Greater, "$1 > $2 ? 1.0F : 0.0F"},
    {ComputeOp::GreaterEqual, "$1 >= $2 ? 1.0F : 0.0F"},
    {ComputeOp::Equal, "$1 == $2 ? 1.0F : 0.0F"},
    {ComputeOp::NotEqual, "$1 != $2 ? 1.0F : 0.0F"},
    {ComputeOp::Select, "$1 != 0 ? $2 : $3"},
    {ComputeOp::BitAnd, "$1 & $2"},
    {ComputeOp::BitOr, "$1 | $2"},
    {ComputeOp::BitXor, "$1 ^ $2"},
    {ComputeOp::BitNot, "~$1"},
    {ComputeOp::ShiftLeft, "tally::shiftLeft($1, $2)"},
    {ComputeOp::ShiftRight, "tally::shiftRight($1, $2)"},
    {ComputeOp::ShiftRightSigned, "tally::shiftRightSigned($1, $2)"},
    {ComputeOp::WholeAdd, "tally::wholeAdd($1, $2)"},
    {ComputeOp::WholeSub, "tally::wholeSub($1, $2)"},
    {ComputeOp::WholeMul, "tally::wholeMul($1, $2)"},
    {ComputeOp::Bits, "tally::bitsOf($1)"},
    {ComputeOp::FromBits, "std::bit_cast<float>($1)"},
};

} // namespace

Value CppTarget::apply(ComputeOp op, std::span<const Value> operands) {
  const Written *written = std::ranges::find(writtenAs, op, &Written::op);
  assert(written != std::end(writtenAs) && "all operations element by element are in the table");
  bool isCall = written->text.ends_with(')') && written->text.find(" / ") == std::string::npos;
  std::string text;
  for (size_t at = 0; at < written->text.size(); ++at) {
    if (written->text[at] != '$') {
      text += written->text[at];
      continue;
    }
    Value operand = operands[static_cast<size_t>(written->text[++at] - '1')];
    text += isCall ? of(operand).text : inner(operand);
  }
  return add({text, isCall});
}

Value CppTarget::toNumber(Value whole) {
  return atom(fmt::format("static_cast<float>({})", of(whole).text));
}

Value CppTarget::toWhole(Value number) {
  return atom(fmt::format("tally::toWhole({})", of(number).text));
}

Value CppTarget::convert(Format format, Value value, Kind from) {
  if (isWhole(format)) {
    return atom(fmt::format("tally::asWhole({}, {})", layoutOf(format), of(value).text));
  }
  std::string number = from == Kind::Whole ? of(toNumber(value)).text : of(value).text;
  return atom(fmt::format("tally::rounded({}, {})", layoutOf(format), number));
}

Value CppTarget::nearest(Format to, Format from, Value whole) {
  return to == from ? whole
                    : atom(fmt::format("tally::nearest({}, {}, {})", layoutOf(to), layoutOf(from),
                                       of(whole).text));
}

Value CppTarget::rowIndex(Value number, uint64_t rows, std::string_view buffer) {
  return atomNotNegative(
      fmt::format("tally::rowIndex({}, {}, {})", of(number).text, rows, quoted(buffer)));
}

std::string CppTarget::argumentText(const Argument &argument) const {
  if (const auto *place = std::get_if<Place>(&argument)) {
    const Text &element = of(place->element);
    const std::string &name = arrays[place->memory].name;
    return element.constant == 0 ? fmt::format("{}.data()", name)
                                 : fmt::format("{}.data() + {}", name, element.text);
  }
  if (const auto *size = std::get_if<uint64_t>(&argument)) {
    return std::to_string(*size);
  }
  if (const auto *sign = std::get_if<char>(&argument)) {
    return fmt::format("'{}'", *sign);
  }
  return of(std::get<Value>(argument)).text;
}

std::string CppTarget::argumentsText(std::span<const Argument> arguments) const {
  std::string text;
  for (const Argument &argument : arguments) {
    text += (text.empty() ? "" : ", ") + argumentText(argument);
  }
  return text;
}

Value CppTarget::callForNumber(std::string_view function, std::span<const Argument> arguments) {
  return atom(fmt::format("tally::{}({})", function, argumentsText(arguments)));
}

void CppTarget::call(std::string_view function, std::span<const Argument> arguments) {
  line(fmt::format("tally::{}({});", function, argumentsText(arguments)));
}

//===----------------------------------------------------------------------===//
// What is done several times, or perhaps not
//===----------------------------------------------------------------------===//

Value CppTarget::beginCount(uint64_t count) {
  std::string name = fmt::format("i{}", depth - 1);
  open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", name, count));
  return atomNotNegative(name);
}

void CppTarget::beginWhen(Value condition) {
  open(fmt::format("if ({})", of(condition).text));
}

void CppTarget::beginOtherwise() {
  --depth;
  open("} else");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void CppTarget::beginInstr(InstrId id, std::span<const Count> counts) {
  instr = id;
  std::string parameters;
  for (const Count &count : counts) {
    parameters +=
        fmt::format("{}[[maybe_unused]] int64_t {}", parameters.empty() ? "" : ", ", nameOf(count));
  }
  constexpr std::pair<AccessKind, std::string_view> verbs[] = {{AccessKind::Read, "reads"},
                                                               {AccessKind::Write, "writes"},
                                                               {AccessKind::Accumulate, "adds to"}};
  const Instr &what = kernel.instrs[id];
  std::string tiles;
  for (auto [kind, verb] : verbs) {
    std::string some;
    for (AccessId access : what.accesses) {
      if (kernel.accesses[access].kind == kind) {
        some += (some.empty() ? "" : ", ") + std::string(kernel.text(kernel.accesses[access].text));
      }
    }
    tiles += some.empty() ? "" : fmt::format("{}{} {}", tiles.empty() ? "" : "; ", verb, some);
  }
  done += '\n';
  if (what.computes.valid()) {
    line("/// " + commentText(fmt::format("computes {}", kernel.text(what.computes))));
  }
  if (!tiles.empty()) {
    line("/// " + commentText(tiles));
  }
  open(fmt::format("void {}({})", instrNames[id], parameters));
}

void CppTarget::endInstr() {
  close();
}

void CppTarget::callOwn(std::span<const Value> indices, std::span<const OwnTile> tiles) {
  std::string parameters, arguments;
  auto put = [&](const std::string &parameter, const std::string &argument) {
    parameters += (parameters.empty() ? "" : ", ") + parameter;
    arguments += (arguments.empty() ? "" : ", ") + argument;
  };
  for (Value index : indices) {
    put("int64_t " + of(index).text, of(index).text);
  }
  Names own = names; // no parameter hides what the program has
  for (const OwnTile &tile : tiles) {
    const Array &array = arrays[tile.place.memory];
    std::string place = argumentText(tile.place);
    put(fmt::format("{}{} *{}", tile.isRead ? "const " : "", array.type,
                    own.unique("at_" + array.name)),
        tile.guard ? fmt::format("{} ? {} : nullptr", inner(*tile.guard), place) : place);
  }
  ownDeclarations += fmt::format("void {}({});\n", ownNames[instr], parameters);
  line(fmt::format("{}({});", ownNames[instr], arguments));
}

void CppTarget::pause() {
  line("tally::pause();");
}

std::string CppTarget::callText(InstrId id, const std::vector<std::string> &counts) const {
  if (!subject.effects[id]) {
    return {};
  }
  std::string text;
  for (const std::string &count : counts) {
    text += (text.empty() ? "" : ", ") + count;
  }
  return fmt::format("{}({});", instrNames[id], text);
}

std::string CppTarget::raised(SemaId signal, uint32_t amount) const {
  return signal.valid() ? fmt::format("{}.raise({});", semaNames[signal], amount) : "";
}

void CppTarget::run(InstrId id, std::span<const Value> counts, SemaId signal, uint32_t amount) {
  std::vector<std::string> texts;
  for (Value count : counts) {
    texts.push_back(of(count).text);
  }
  std::string call = callText(id, texts);
  if (!call.empty()) {
    line(call);
  }
  if (signal.valid()) {
    raise(signal, amount);
  }
}

void CppTarget::enqueue(InstrId id, std::span<const Value> counts, SemaId signal, uint32_t amount) {
  QueueId queue = kernel.instrs[id].queue;
  size_t number = tasks[queue].size();
  number = tasks[queue].try_emplace({id, signal, amount}, number).first->second;
  std::string texts;
  for (Value count : counts) {
    texts += (texts.empty() ? "" : ", ") + of(count).text;
  }
  line(fmt::format("{}.push({{{}, {{{}}}}}); // {}", queueNames[queue], number, texts,
                   commentText(kernel.nameOf(id))));
}

/// What the thread of a queue does, told by its engine.
void CppTarget::serve(QueueId queue) {
  done += '\n';
  line("/// " + commentText(fmt::format("the thread of queue '{}'", kernel.nameOf(queue))));
  open(fmt::format("void serve_{}()", queueNames[queue]));
  open(fmt::format("while (const auto *next = {}.next())", queueNames[queue]));
  open("switch (next->instr)");
  for (const auto &[task, number] : tasks[queue]) {
    std::vector<std::string> counts;
    for (size_t i = 0; i < subject.counts[task.instr].size(); ++i) {
      counts.push_back(fmt::format("next->counts[{}]", i));
    }
    line(fmt::format("case {}:", number));
    for (const std::string &text :
         {callText(task.instr, counts), raised(task.signal, task.amount), std::string("break;")}) {
      if (!text.empty()) {
        line("  " + text);
      }
    }
  }
  close();
  line(fmt::format("{}.retire();", queueNames[queue]));
  close();
  close();
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// Registers begin with 0, and counts of entries before the first one.
void CppTarget::beginEngine(EngineId id, const IdVector<LoopId, bool> &isCountedLoop) {
  engine = id;
  isCounted = isCountedLoop;
  Names own = names;
  registerNames.clear();
  done += '\n';
  line("/// " + commentText(fmt::format("engine '{}'", kernel.nameOf(id))));
  open(fmt::format("void {}()", engineNames[id]));
  for (const Register &reg : subject.code.engines[id].registers) {
    // `r0` is no name of the kernel's.
    bool isNumbered = reg.name.starts_with('r') && reg.name.size() > 1 &&
                      reg.name.find_first_not_of("0123456789", 1) == std::string::npos;
    registerNames.push_back(isNumbered ? reg.name : own.unique(reg.name));
    line(fmt::format("[[maybe_unused]] uint32_t {} = 0;{}", registerNames.back(),
                     reg.role.text.empty() ? "" : " // " + commentText(reg.role.text)));
  }
  std::vector<bool> isThere(kernel.loops.size(), false);
  for (const Op &op : subject.code.engines[id].ops) {
    if (op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin) {
      isThere[op.target] = true;
    }
  }
  for (LoopId loop : kernel.loops.ids()) {
    if (isThere[loop.value] && subject.isVariable(loop)) {
      line(fmt::format("uint64_t reached_{} = 0;", loopNames[loop]));
    }
    if (isCounted[loop]) {
      line(fmt::format("[[maybe_unused]] int64_t total_{} = -1;", loopNames[loop]));
    }
  }
}

void CppTarget::endEngine() {
  for (QueueId queue : kernel.engines[engine].queues) {
    if (subject.hasThread(queue)) {
      line(fmt::format("{}.close();", queueNames[queue]));
    }
  }
  close();
  for (QueueId queue : kernel.engines[engine].queues) {
    if (subject.hasThread(queue)) {
      serve(queue);
    }
  }
}

Value CppTarget::tripsOf(LoopId loop) {
  if (!subject.isVariable(loop)) {
    return index(static_cast<int64_t>(kernel.loops[loop].trip.constant));
  }
  const std::string &name = loopNames[loop];
  return atomNotNegative(fmt::format("how_often_{0}.at(++reached_{0}, seed)", name));
}

void CppTarget::beginLoop(LoopId loop, Value trips) {
  const std::string &name = loopNames[loop];
  open(fmt::format("for (int64_t {0} = 0, trips_{0} = {1}; {0} < trips_{0}; ++{0})", name,
                   of(trips).text));
  if (isCounted[loop]) {
    line(fmt::format("++total_{};", name));
  }
}

void CppTarget::beginBranch(LoopId thenBranch, Value holds) {
  open(fmt::format("if ({})", of(holds).text));
  if (isCounted[thenBranch]) {
    line(fmt::format("++total_{};", loopNames[thenBranch]));
  }
}

void CppTarget::beginOtherBranch(LoopId otherBranch) {
  --depth;
  open("} else");
  if (isCounted[otherBranch]) {
    line(fmt::format("++total_{};", loopNames[otherBranch]));
  }
}

//===----------------------------------------------------------------------===//
// Registers and semaphores
//===----------------------------------------------------------------------===//

/// Within the bits of a register.
std::string CppTarget::masked(std::string text) const {
  return subject.wordMask() == UINT32_MAX ? text
                                          : fmt::format("({}) & {}U", text, subject.wordMask());
}

Value CppTarget::iterationNumber(LoopId loop) {
  return wordOf(add({loopNames[loop] + " + 1", false}));
}

Value CppTarget::word(uint32_t number) {
  return atom(fmt::format("{}U", number));
}

Value CppTarget::wordOf(Value index) {
  return add({masked(fmt::format("static_cast<uint32_t>({})", of(index).text)),
              subject.wordMask() == UINT32_MAX});
}

Value CppTarget::readRegister(RegId reg) {
  return atom(registerNames[reg.value]);
}

void CppTarget::setRegister(RegId reg, Value word) {
  line(fmt::format("{} = {};", registerNames[reg.value], of(word).text));
}

Value CppTarget::compute(AluOp op, Value a, Value b) {
  bool saturates = subject.machine.subtraction == Subtraction::Saturates;
  switch (op) {
  case AluOp::Move:
    return a;
  case AluOp::Add:
    return add({masked(fmt::format("{} + {}", inner(a), inner(b))), false});
  case AluOp::Mul:
    return add({masked(fmt::format("{} * {}", inner(a), inner(b))), false});
  case AluOp::Sub:
    return saturates ? atom(fmt::format("tally::subtractToZero({}, {})", of(a).text, of(b).text))
                     : add({masked(fmt::format("{} - {}", inner(a), inner(b))), false});
  case AluOp::Min:
    return atom(fmt::format("std::min({}, {})", of(a).text, of(b).text));
  case AluOp::IsGT:
    return add({fmt::format("{} > {} ? 1 : 0", inner(a), inner(b)), false});
  }
  return a;
}

Value CppTarget::isNotZero(Value word) {
  return add({fmt::format("{} != 0", inner(word)), false});
}

void CppTarget::wait(SemaId semaphore, Value threshold) {
  std::vector<uint32_t> rules{subject.wordMask(), subject.waitFlip(), subject.options.firstCount};
  for (uint32_t usual : {0U, 0U, UINT32_MAX}) { // from the last one
    if (rules.back() != usual) {
      break;
    }
    rules.pop_back();
  }
  std::string text;
  for (uint32_t rule : rules) {
    text += fmt::format(", {}U", rule);
  }
  line(fmt::format("{}.wait({}{});", semaNames[semaphore], of(threshold).text, text));
}

/// Empty where it is 0.
std::string CppTarget::firstCountText() const {
  uint32_t first = subject.options.firstCount;
  return first == 0 ? "" : fmt::format("{}U", first);
}

void CppTarget::raise(SemaId semaphore, uint32_t amount) {
  line(raised(semaphore, amount));
}

void CppTarget::reset(SemaId first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    line(fmt::format("{}.reset({});", semaNames[SemaId(first.value + i)], firstCountText()));
  }
}

void CppTarget::drain() {
  bool hasThreads = false;
  for (QueueId queue : kernel.engines[engine].queues) {
    if (subject.hasThread(queue)) {
      line(fmt::format("{}.drain();", queueNames[queue]));
      hasThreads = true;
    }
  }
  if (!hasThreads) {
    note("all has finished that this engine began");
  }
}

//===----------------------------------------------------------------------===//
// The rest of the program
//===----------------------------------------------------------------------===//

std::string CppTarget::declarations() const {
  std::string text;
  auto put = [&](const std::string &declaration, const std::string &about = "") {
    text += declaration + ";" + (about.empty() ? "" : " // " + commentText(about)) + "\n";
  };
  for (const Array &array : arrays) {
    put(fmt::format("std::vector<{}> {}", array.type, array.name),
        array.format ? std::string(toString(*array.format)) : array.note);
  }
  for (SemaId id : subject.code.semaphores.ids()) {
    std::string first = firstCountText();
    put(fmt::format("tally::Counter {}{}", semaNames[id], first.empty() ? "" : "{" + first + "}"));
  }
  for (QueueId id : kernel.queues.ids()) {
    if (subject.hasThread(id)) {
      put(fmt::format("tally::Queue<tally::Run<{}>> {}", subject.numCounts(id), queueNames[id]));
    }
  }
  constexpr uint64_t noLimit = maxCount;
  Bindings usual(kernel); // what is not given, as `tally sim` chooses it
  usual.bindOpen(usualTrips);
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    bool isOwn = loop.kind == LoopKind::Loop || loop.kind == LoopKind::Then;
    if (isOwn && subject.isVariable(id)) {
      bool isChoice = loop.trip.isOpaque();
      put(fmt::format("tally::Trips how_often_{}{{{}, {}, {}, {}, {}, {}, {}, {{}}}}",
                      loopNames[id], quoted(kernel.nameOf(id)),
                      quoted(loop.trip.symbol.valid() && loop.kind == LoopKind::Loop
                                 ? kernel.text(loop.trip.symbol)
                                 : ""),
                      id.value, isChoice ? 0 : loop.trip.min,
                      loop.isBranch() ? 1 : loop.trip.max.value_or(noLimit),
                      isChoice ? 0 : usual.trips(EngineId(0), id, 1),
                      !isChoice         ? 0
                      : loop.isBranch() ? 2
                                        : 4));
    }
  }
  for (RunValueId id : kernel.values.ids()) {
    const RunValue &value = kernel.values[id];
    put(fmt::format("tally::RunValue {}{{{}, {}, {}, {}}}", valueNames[id],
                    quoted(kernel.nameOf(id)), value.min, value.max.value_or(noLimit),
                    usual.values()[id.value]));
  }
  return text;
}

/// What run() is to be told: the name of a value or a loop, and that of the parameter.
std::vector<std::pair<std::string, std::string>> CppTarget::runParameters() const {
  std::vector<std::pair<std::string, std::string>> parameters;
  Names own = names;
  auto put = [&](std::string_view name) {
    if (std::ranges::find(parameters, name, &std::pair<std::string, std::string>::first) ==
        parameters.end()) {
      parameters.emplace_back(name, own.unique("num_" + std::string(name)));
    }
  };
  for (RunValueId id : kernel.values.ids()) {
    put(kernel.nameOf(id));
  }
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if (loop.kind == LoopKind::Loop && subject.isVariable(id)) {
      put(loop.trip.symbol.valid() ? kernel.text(loop.trip.symbol) : kernel.nameOf(id));
    }
  }
  return parameters;
}

std::string CppTarget::startFunction() const {
  bool isOwn = subject.options.calls;
  std::string parameters;
  for (const auto &[name, parameter] : runParameters()) {
    parameters += (parameters.empty() ? "" : ", ") + fmt::format("uint64_t {}", parameter);
  }
  std::string text =
      isOwn ? fmt::format("\n/// Returns when all has run.\nvoid run({}) {{", parameters)
            : "\nint start(int argc, char **argv) {";
  text += "\n  tally::Program program;\n";
  auto put = [&](const std::string &statement) { text += "  " + statement + ";\n"; };
  const IdVector<BufferId, bool> isNeeded = neededBuffers(subject);
  for (BufferId id : kernel.buffers.ids()) {
    const Array &array = arrays[Memory(id.value)];
    if (isOwn) {
      put(fmt::format("program.addArray({}, {}, tally::unwritten({}), {})", array.name, array.size,
                      layoutOf(*array.format), quoted(kernel.text(kernel.buffers[id].name))));
      continue;
    }
    std::string shape;
    for (uint64_t extent : kernel.buffers[id].shape) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    }
    shape += kernel.buffers[id].shape.size() == 1 ? "," : "";
    put(fmt::format("program.addBuffer({}, {}, tally::unwritten({}), {{{}, {}, {}, {}}})",
                    array.name, array.size, layoutOf(*array.format),
                    quoted(kernel.text(kernel.buffers[id].name)), quoted(npyType(*array.format)),
                    quoted("(" + shape + ")"), static_cast<bool>(isNeeded[id])));
  }
  for (size_t i = kernel.buffers.size(); i < arrays.size(); ++i) {
    const Array &array = arrays[Memory(static_cast<uint32_t>(i))];
    put(fmt::format("program.addRoom({}, {})", array.name, array.size));
  }
  for (const std::string &name : semaNames) {
    put(fmt::format("program.addCounter({}, {})", name, subject.options.firstCount));
  }
  for (QueueId id : kernel.queues.ids()) {
    if (subject.hasThread(id)) {
      put(fmt::format("program.addQueue({})", queueNames[id]));
    }
  }
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if ((loop.kind == LoopKind::Loop || loop.kind == LoopKind::Then) && subject.isVariable(id)) {
      put(fmt::format("program.addTrips(how_often_{})", loopNames[id]));
    }
  }
  for (RunValueId id : kernel.values.ids()) {
    put(fmt::format("program.addValue({})", valueNames[id]));
  }
  for (EngineId id : kernel.engines.ids()) {
    put(fmt::format("program.addThread({})", engineNames[id]));
    for (QueueId queue : kernel.engines[id].queues) {
      if (subject.hasThread(queue)) {
        put(fmt::format("program.addThread(serve_{})", queueNames[queue]));
      }
    }
  }
  for (const auto &[name, parameter] : runParameters()) {
    if (isOwn) {
      put(fmt::format("program.set({}, {})", quoted(name), parameter));
    }
  }
  put(isOwn ? "program.run()" : "return program.run(argc, argv, seed)");
  return text + "}\n";
}

} // namespace tally::exec
