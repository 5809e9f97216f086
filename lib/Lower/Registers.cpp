//===- Registers.cpp - Values to registers, by live range -----------------===//
//
// One pass over the operations, keeping which value each register holds. A value lives until its
// last use; if that is inside a loop or branch in which it was not computed, until the end of it.
//
// With a limit, three rules keep registers and paths consistent:
//   R1  Entering a region, at least `reserve` registers are free; temporaries are forgotten until
//       they are. What stays is kept to the end of the region.
//   R2  Inside, only temporaries loaded at the current depth may be forgotten.
//   R3  At the end of each body, what was loaded inside is forgotten: another path, or the
//       next iteration, has not loaded it.
//
// Cost: linear without a limit; with one, times the limit.
//===----------------------------------------------------------------------===//

#include "Registers.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace tally::lowering {
namespace {

constexpr uint32_t none = UINT32_MAX;

/// Registers that one wait needs at most: both operands of a product, one of them a product itself.
constexpr uint32_t reserve = 4;

class Allocator {
public:
  Allocator(const ValueCode &program, std::optional<uint32_t> limit)
      : program(program), limit(limit.value_or(none)), limited(limit.has_value()),
        registerOf(program.values.size(), none), loadDepth(program.values.size(), 0),
        placeOf(program.values.size(), none) {}

  AllocatedCode run() {
    findEnds();
    out.ops.reserve(program.ops.size());
    if (limited) {
      findUses();
    }
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      at = i;
      step(program.ops[i]);
      release(none);
    }
    out.numRegisters = static_cast<uint32_t>(held.size());
    return std::move(out);
  }

private:
  //===--- Live ranges ----------------------------------------------------===//

  uint32_t endOf(const RegisterValue &value) const {
    return value.lastRegion == none ? value.lastUse : program.regions[value.lastRegion].end;
  }

  /// ends[firstEnd[i]...firstEnd[i+1]]: the values that die after operation i.
  void findEnds() {
    firstEnd.assign(program.ops.size() + 1, 0);
    for (const RegisterValue &value : program.values) {
      ++firstEnd[endOf(value) + 1];
    }
    std::partial_sum(firstEnd.begin(), firstEnd.end(), firstEnd.begin());
    ends.resize(program.values.size());
    std::vector<uint32_t> next = firstEnd;
    for (uint32_t v = 0; v < program.values.size(); ++v) {
      ends[next[endOf(program.values[v])]++] = v;
    }
  }

  template <typename Visit> void forEachRead(const Op &op, Visit visit) const {
    if (op.a.isRegister) {
      visit(op.a.value);
    }
    if (op.b.isRegister) {
      visit(op.b.value);
    }
  }

  /// uses[nextUse[v]]: the operation that reads v next.
  void findUses() {
    std::vector<uint32_t> first(program.values.size() + 1, 0);
    for (const Op &op : program.ops) {
      forEachRead(op, [&](uint32_t v) { ++first[v + 1]; });
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    uses.resize(first.back());
    nextUse.assign(first.begin(), first.end() - 1);
    lastUse.assign(first.begin() + 1, first.end());
    std::vector<uint32_t> fill = nextUse;
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      forEachRead(program.ops[i], [&](uint32_t v) { uses[fill[v]++] = i; });
    }
  }

  /// Index of the next operation after the current one that reads the value.
  uint32_t distanceOf(uint32_t value) {
    uint32_t &next = nextUse[value];
    while (next < lastUse[value] && uses[next] <= at) {
      ++next;
    }
    return next < lastUse[value] ? uses[next] : none;
  }

  //===--- One operation --------------------------------------------------===//

  void step(const Op &op) {
    switch (op.kind) {
    case OpKind::Alu:
      compute(op);
      return;
    case OpKind::LoopBegin:
    case OpKind::IfBegin:
      out.ops.push_back(op);
      if (op.dst.valid()) {
        take(op.dst.value);
        out.ops.back().dst = RegId(registerOf[op.dst.value]);
      }
      enterRegion();
      return;
    case OpKind::Else:
      forgetInner();
      out.ops.push_back(op);
      return;
    case OpKind::LoopEnd:
    case OpKind::IfEnd:
      forgetInner();
      --depth;
      out.ops.push_back(op);
      return;
    default:
      locked.clear();
      out.ops.push_back(withRegisters(op));
      return;
    }
  }

  void compute(const Op &op) {
    uint32_t value = op.dst.value;
    locked.clear();
    if (!program.values[value].isCounter() && limited && !worthKeeping(value)) {
      return;
    }
    Op placed = withRegisters(op);
    release(value); // the result may take the register of an operand that ends here
    if (registerOf[value] == none) {
      take(value);
    }
    placed.dst = RegId(registerOf[value]);
    out.ops.push_back(placed);
  }

  /// Whether a temporary computed now would survive until it is used.
  bool worthKeeping(uint32_t value) {
    if (!freeRegisters.empty() || held.size() < limit) {
      return true;
    }
    uint32_t victim = farthest();
    return victim != none && distanceOf(held[victim]) > distanceOf(value);
  }

  Op withRegisters(Op op) {
    if (op.a.isRegister) {
      op.a = Operand::reg(RegId(load(op.a.value)));
    }
    if (op.b.isRegister) {
      op.b = Operand::reg(RegId(load(op.b.value)));
    }
    return op;
  }

  /// The register of a value, computing it again if it was forgotten.
  uint32_t load(uint32_t value) {
    if (registerOf[value] == none) {
      computeAgain(value);
    }
    locked.push_back(value);
    return registerOf[value];
  }

  void computeAgain(uint32_t value) {
    assert(!program.values[value].isCounter() && "a counter has its register while it lives");
    const Op &definition = program.ops[program.values[value].definition];
    std::vector<uint32_t> borrowed;
    forEachRead(definition, [&](uint32_t v) {
      if (registerOf[v] == none) {
        borrowed.push_back(v);
      }
    });
    Op placed = withRegisters(definition);
    for (uint32_t v : borrowed) {
      drop(v);
    }
    take(value);
    placed.dst = RegId(registerOf[value]);
    out.ops.push_back(placed);
  }

  //===--- Registers ------------------------------------------------------===//

  void take(uint32_t value) {
    if (freeRegisters.empty() && held.size() >= limit) {
      uint32_t victim = farthest();
      if (victim != none) {
        drop(held[victim]);
      }
    }
    if (freeRegisters.empty()) {
      freeRegisters.push(static_cast<uint32_t>(held.size()));
      held.push_back(none);
      out.countersOf.emplace_back();
    }
    uint32_t reg = freeRegisters.top();
    freeRegisters.pop();
    held[reg] = value;
    registerOf[value] = reg;
    loadDepth[value] = depth;
    if (program.values[value].isCounter()) {
      out.countersOf[reg].push_back(value);
    } else {
      placeOf[value] = static_cast<uint32_t>(temporaries.size());
      temporaries.push_back(value);
    }
  }

  void drop(uint32_t value) {
    uint32_t reg = registerOf[value];
    if (reg == none) {
      return;
    }
    if (!program.values[value].isCounter()) {
      temporaries[placeOf[value]] = temporaries.back();
      placeOf[temporaries.back()] = placeOf[value];
      temporaries.pop_back();
    }
    held[reg] = none;
    registerOf[value] = none;
    freeRegisters.push(reg);
  }

  /// Frees the registers of all values that end at the current operation, but for `kept`.
  void release(uint32_t kept) {
    for (uint32_t e = firstEnd[at]; e < firstEnd[at + 1]; ++e) {
      if (ends[e] != kept) {
        drop(ends[e]);
      }
    }
  }

  /// The register whose temporary may be forgotten and is needed last (R2); none if there is none.
  uint32_t farthest() {
    uint32_t best = none;
    uint32_t bestDistance = 0;
    for (uint32_t value : temporaries) {
      if (loadDepth[value] != depth ||
          std::find(locked.begin(), locked.end(), value) != locked.end()) {
        continue;
      }
      uint32_t distance = distanceOf(value);
      uint32_t reg = registerOf[value];
      if (best == none || distance > bestDistance || (distance == bestDistance && reg < best)) {
        best = reg;
        bestDistance = distance;
      }
    }
    return best;
  }

  void enterRegion() {
    locked.clear();
    if (limited) {
      while (freeRegisters.size() + (limit - std::min<size_t>(limit, held.size())) < reserve) {
        uint32_t victim = farthest();
        if (victim == none) {
          break;
        }
        drop(held[victim]);
      }
    }
    ++depth;
  }

  /// R3. Without a limit nothing is loaded twice, and what is computed inside has ended inside.
  void forgetInner() {
    if (!limited) {
      return;
    }
    for (size_t i = temporaries.size(); i-- > 0;) {
      if (loadDepth[temporaries[i]] == depth) {
        drop(temporaries[i]); // another one, which has been looked at, takes its place
      }
    }
  }

  const ValueCode &program;
  const uint32_t limit;
  const bool limited;
  AllocatedCode out;
  std::vector<uint32_t> registerOf;  ///< by value
  std::vector<uint32_t> loadDepth;   ///< by value: region depth at which it got its register
  std::vector<uint32_t> placeOf;     ///< by value: of a temporary that has a register
  std::vector<uint32_t> temporaries; ///< that have registers; with a limit, no more than it allows
  std::vector<uint32_t> held;        ///< by register: the value it holds
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> freeRegisters;
  std::vector<uint32_t> firstEnd, ends;
  std::vector<uint32_t> uses, nextUse, lastUse;
  std::vector<uint32_t> locked; ///< read by the operation at hand
  uint32_t depth = 0;
  uint32_t at = 0;
};

} // namespace

AllocatedCode allocateRegisters(const ValueCode &program, std::optional<uint32_t> limit) {
  return Allocator(program, limit).run();
}

} // namespace tally::lowering
