//===- WaitCosts.cpp - What the waits of a plan cost, estimated -----------===//
//
// Each wait that stands is charged to the set that it waits for. The charge includes what has to be
// computed for its threshold and is not yet known where the consumer stands: an engine computes
// equal values of one place once, as the emitter does.
//
//===----------------------------------------------------------------------===//

#include "tally/Lower/WaitCosts.h"

#include "Emit.h"
#include "Linear.h"
#include "tally/Code/ControlCost.h"

namespace tally {

using namespace lowering;

namespace {

/// What the waits of a plan cost, by the set that is waited for.
class WaitPricer {
public:
  WaitPricer(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
             const LowerDecisions &decisions, const IdVector<InstrId, uint32_t> &setOf)
      : kernel(kernel), context(kernel, plan, machine, decisions, scratch), exprs(context.exprs),
        known(exprs.pool().size()), setOf(setOf), entries(expectedEntries(kernel)),
        prices(machine) {}

  std::vector<double> run(size_t numSets) {
    std::vector<double> costs(numSets, 0);
    for (EngineId e : kernel.engines.ids()) {
      engine = e;
      for (InstrId instr : context.instrsOf[e.value]) {
        for (const KeptWait &w : context.waits.of(instr)) {
          double wait = entries[kernel.instrs[instr].home] * prices.wait;
          costs[setOf[kernel.deps[w.dep].producer]] +=
              wait + costOf(exprs.legal(w.threshold), instr);
        }
      }
    }
    return costs;
  }

private:
  /// Of what is not yet computed where a consumer finds it.
  double costOf(ExprId expr, InstrId consumer) {
    const Expr &node = exprs.pool()[expr];
    if (isLeaf(node.op)) {
      return 0;
    }
    Known &entry = known.on(engine, expr);
    // One operation costs the same, stepped or not.
    std::optional<Linear> form = linearForm(exprs.pool(), expr);
    if (form && form->numOps > 1 && kernel.encloses(form->loop, kernel.instrs[consumer].home)) {
      bool isNew = !entry.steppedBy.valid();
      entry.steppedBy = form->loop;
      return isNew ? (1 + entries[form->loop]) * prices.alu : 0;
    }
    Anchor anchor = known.anchorOf(kernel, context.plan, exprs.pool(), expr, consumer);
    LoopId body = bodyAt(kernel, anchor.depth, kernel.instrs[consumer].home);
    if (entry.body == body && entry.epoch == anchor.epoch) {
      return 0;
    }
    entry.body = body;
    entry.epoch = anchor.epoch;
    return entries[body] * prices.alu + costOf(ExprId(node.a), consumer) +
           costOf(ExprId(node.b), consumer);
  }

  const Kernel &kernel;
  Code scratch; ///< of no use here
  const EmitContext context;
  const LegalExprs &exprs;
  KnownExprs known;
  const IdVector<InstrId, uint32_t> &setOf;
  const IdVector<LoopId, double> entries;
  const ControlPrices prices;
  EngineId engine;
};

} // namespace

std::vector<double> waitCosts(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
                              const LowerDecisions &decisions,
                              const IdVector<InstrId, uint32_t> &setOf, size_t numSets) {
  return WaitPricer(kernel, plan, machine, decisions, setOf).run(numSets);
}

} // namespace tally
