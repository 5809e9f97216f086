//===- Resolve.h - From what was written to kernels and code --------------===//
//
// The one place where names become ids. A door (MLIR, JSON) hands over what was written, statement
// by statement: `add` for one, `open` and `close` around a body, `otherwise` between two branches.
// Of a kernel engines, values and buffers come first, then the tree, then dependences; of code
// semaphores, then programs.
//
//   KernelResolver resolver(errors);
//   resolver.open("k", KernelData(), where);
//   resolver.add(engine, where);
//   resolver.open(loop, where);
//   resolver.add(instr, where);
//   resolver.close();
//   resolver.add(dep, where);
//   Kernel kernel = resolver.finish();
//
// What the core has no value for (names that do not exist, tiles that are none, numbers beyond 32
// bits) is reported and left out, so that the rest can still be judged, and one run reports
// all of it. What is legal is the business of check() and verifyCode(). The first of several equal
// names counts; they report the others.
//
// A name costs one hash lookup, in the kernel's own string pool; what it names lies in a dense
// table by NameId.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_RESOLVE_H
#define TALLY_WRITTEN_RESOLVE_H

#include "tally/Model/KernelBuilder.h"
#include "tally/Written/Data.h"
#include "tally/Written/NameTable.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace tally::written {

/// A part of what was handed over last: the field with this key in JSON, and which item of it. A
/// field inside another is `wait.semaphore`.
struct Spot {
  Location where; ///< of the whole statement
  std::string_view key = {};
  size_t index = 0;
};

/// How a door tells an error in what it handed over last.
class Errors {
public:
  virtual ~Errors() = default;
  virtual void error(const Spot &spot, std::string message,
                     std::vector<DiagnosticNote> notes = {}) = 0;
};

/// Tells them at the place of the statement.
class ErrorsAtStatements : public Errors {
public:
  explicit ErrorsAtStatements(Diagnostics &diagnostics) : diagnostics(diagnostics) {}

  void error(const Spot &spot, std::string message, std::vector<DiagnosticNote> notes) override {
    diagnostics.error(spot.where, std::move(message)).notes = std::move(notes);
  }

private:
  Diagnostics &diagnostics;
};

/// What both resolvers do in the same way.
class Resolver {
protected:
  explicit Resolver(Errors &errors) : errors(errors) {}

  Spot at(std::string_view key, size_t index = 0) const { return {where, key, index}; }

  template <typename Table>
  void unknown(const Kernel &kernel, std::string_view kind, std::string_view plural,
               std::string_view name, const Table &table, const Spot &spot) {
    std::vector<std::string_view> allowed = allowedNames(kernel, table, effort);
    errors.error(spot, unknownName(kind, plural, name, allowed, effort));
  }

  Errors &errors;
  Location where; ///< of the current statement
  uint32_t effort = 16;
};

class KernelResolver : Resolver {
public:
  explicit KernelResolver(Errors &errors);

  /// The number of a file for Location::file.
  uint32_t file(std::string_view path) { return builder.file(path); }

  const std::vector<std::string> &files() const { return builder.peek().files; }

  /// `; this statement comes from k.py:12:5`, if it names a place elsewhere.
  std::string sourceOf(Location where) const;

  void open(std::string_view name, const KernelData &data, Location where);
  void add(const EngineData &data, Location where);
  void add(const ValueData &data, Location where);
  void add(const BufferData &data, Location where);
  void open(const LoopData &data, Location where);
  void open(const IfData &data, Location where);

  void otherwise() { builder.beginElse(); }

  void close();
  void add(const InstrData &data, Location where);
  void add(const DepData &data, Location where);

  Kernel finish();

private:
  std::optional<uint32_t> reservable(uint64_t number, std::string_view key, size_t index = 0);
  std::vector<uint32_t> reserved(const std::vector<uint64_t> &numbers);
  template <typename IdT> void pin(IdT id, const std::optional<uint64_t> &semaphore);
  uint32_t weightOf(const QueueData &data);
  Location placeOf(const QueueData &data);
  std::vector<BufferId> earlierBuffers(const Names &names, std::string_view key);
  Trip tripOf(const LoopData &data);
  Trip formulaOf(const LoopData &data);
  void setSync(LoopId id, const std::string &name);
  void setCondition(LoopId then, const IfData &data);
  void accesses(AccessKind kind, const Names &texts, std::string_view key);
  void access(AccessKind kind, const std::string &text, const Spot &spot);
  InstrId instrNamed(const std::string &name, std::string_view key);
  bool componentsOf(const DistanceData &data);

  KernelBuilder builder;
  std::string name;
  Location whole; ///< of the kernel
  NameTable<QueueId> queues;
  NameTable<LoopId> loops;
  NameTable<InstrId> instrs;
  NameTable<BufferId> buffers;
  std::vector<bool> opened;                  ///< whether it is a branch, outermost first
  std::unordered_set<std::string> leftOut;   ///< on unknown queues; what names them is not an error
  std::vector<DistanceComponent> components; ///< of the current dependence
};

/// A barrier of the core is one object that all its participants share, while the text has one
/// operation in the program of each. They are matched by what they must have in common: the
/// participants, the innermost loop or branch around, and the how-manieth they are there. So the
/// first of engine A belongs to the first of engine B.
class CodeResolver : Resolver {
public:
  CodeResolver(const Kernel &kernel, Errors &errors);

  void begin(const CodeData &data, Location where);
  void add(const SemaphoreData &data, Location where);
  void add(const BarrierData &data, Location where); ///< of a list, for forms that number them

  /// False if what it holds is not wanted: there is no such engine, or it has a program.
  bool open(const ProgramData &data, Location where);
  void add(const RegisterData &data, Location where);
  void add(const IssueData &data, Location where);
  void add(const WaitData &data, Location where);
  void add(const SignalData &data, Location where);
  void add(const ResetData &data, Location where);
  void add(const DrainData &data, Location where);
  void add(const SetData &data, Location where);
  void open(const ForData &data, Location where);
  void open(const BranchData &data, Location where);
  void open(const BarrierData &data, Location where);
  void open(const WhenData &data, Location where);
  void otherwise();
  void close();

  Code finish() { return std::move(code); }

private:
  struct Opened {
    Op end;
    LoopId around; ///< what was around it
  };

  /// Participants, body, and number there.
  using BarrierKey = std::tuple<std::vector<EngineId>, LoopId, uint32_t>;

  template <typename IdT> using IdsByName = std::unordered_map<std::string, IdT>;

  template <typename IdT, typename T>
  void declare(IdsByName<IdT> &ids, IdVector<IdT, T> &table, T item, std::string_view kind,
               std::string_view within);
  template <typename IdT, typename T>
  IdT lookUp(const Ref &ref, IdsByName<IdT> &ids, const IdVector<IdT, T> &table,
             std::string_view kind, std::string_view plural, std::string_view key);
  void open(const Op &begin, OpKind end, LoopId inside);
  std::vector<EngineId> participantsOf(const BarrierData &data);
  BarrierId barrierOf(std::vector<EngineId> participants);
  void addWait(Op &op, const WaitData &data);
  void addSignal(Op &op, const SignalData &data);

  SemaId semaphore(const Ref &ref);
  RegId reg(const Ref &ref, std::string_view key);
  LoopId loopNamed(const std::string &name, LoopKind kind, std::string_view key);
  Operand operand(const OperandData &data, std::string_view key);
  uint32_t number(uint64_t value, std::string_view what, std::string_view key);

  void push(Op op) { program->ops.push_back(op); }

  const Kernel &kernel;
  Code code;
  NameTable<EngineId> engines;
  NameTable<LoopId> loops;
  NameTable<InstrId> instrs;
  IdsByName<SemaId> semaphores;
  std::map<BarrierKey, BarrierId> barriers;

  // Of the current engine.
  EngineProgram *program = nullptr;
  IdsByName<RegId> registers;
  LoopId around = rootLoop; ///< innermost loop or branch
  std::vector<Opened> opened;
  std::map<std::pair<std::vector<EngineId>, LoopId>, uint32_t> barriersSeen;
};

} // namespace tally::written

#endif // TALLY_WRITTEN_RESOLVE_H
