//===- CheckSubject.cpp - Which code is checked against which kernel ------===//
//
//   check k.mlir             the code next to the kernel; without any, what compiling gives
//   check k.mlir --sync=S    what compiling gives
//   check k.mlir code.mlir   the code in the other file, whose own kernel is the same
//   (SameKernel.h)
//
// Code that was compiled names its strategy, and is held to what that promises.
//
//===----------------------------------------------------------------------===//

#include "CheckCommand.h"
#include "Progress.h"
#include "SameKernel.h"

#include "tally/Deps/Implied.h"
#include "tally/Model/Check.h"
#include "tally/Model/Open.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::tool {
namespace {

/// The dependences of another file may be numbered differently.
Code forgetReasons(Code code) {
  for (EngineProgram &engine : code.engines) {
    for (Op &op : engine.ops) {
      op.numReasons = 0;
    }
  }
  code.reasons.clear();
  return code;
}

class SubjectLoader {
public:
  SubjectLoader(const CheckOptions &options, Session &session)
      : options(options), session(session), machine(session.machine()) {}

  std::optional<std::vector<Subject>> run(std::vector<LoadedKernel> kernels) {
    std::vector<LoadedKernel> codes;
    if (!options.common.code.empty()) {
      codes = session.loadCode();
    }
    bool all = true;
    for (LoadedKernel &loaded : kernels) {
      all &= options.common.code.empty() ? addOne(loaded) : addWithCode(loaded, codes);
    }
    return all ? std::optional(std::move(subjects)) : std::nullopt;
  }

private:
  bool addWithCode(LoadedKernel &loaded, std::vector<LoadedKernel> &codes) {
    std::string_view name = loaded.kernel.text(loaded.kernel.name);
    auto code = std::ranges::find_if(codes, [&](const LoadedKernel &other) {
      return other.code && other.kernel.text(other.kernel.name) == name;
    });
    if (code == codes.end()) {
      complain(fmt::format("'{}' holds no code for kernel '{}'", options.common.code, name),
               options.common.code);
      return false;
    }
    loaded.kernel = chosenAs(std::move(loaded.kernel), code->kernel);
    if (!isSameKernel(loaded.kernel, *code)) {
      return false;
    }
    loaded.code = forgetReasons(std::move(*code->code));
    bool isManual = loaded.code->strategy == Strategy::Manual;
    return (isManual || session.findDeps(loaded, /*mayChoose=*/false)) &&
           addWritten(loaded, !isManual);
  }

  /// What compiling settles for the machine of the code is settled for the given kernel, too.
  Kernel asMadeFor(const LoadedKernel &code, const Kernel &given) const {
    std::optional<MachineRules> rules = rulesOfCode(code);
    return rules ? onMachine(given, withRules(machine, *rules)) : given;
  }

  /// Whether the code was made for the given kernel; else the first difference is reported.
  bool isSameKernel(const Kernel &given, const LoadedKernel &code) const {
    std::optional<KernelDifference> found = differenceOf(asMadeFor(code, given), code.kernel);
    if (!found) {
      return true;
    }
    Diagnostics diagnostics;
    std::vector<std::string> files = code.kernel.files;
    Location there = found->first.where;
    there.file += static_cast<uint32_t>(files.size());
    files.insert(files.end(), given.files.begin(), given.files.end());
    diagnostics
        .error(found->second.where,
               fmt::format("the kernel '{}' in '{}' differs from the one in '{}': it has {} where "
                           "the other has {}",
                           given.text(given.name), options.common.code, options.common.input,
                           found->second.text, found->first.text))
        .note(there, "the other is here")
        .note({}, fmt::format("compile '{}' again, or check '{}' alone, which holds its own kernel",
                              options.common.input, options.common.code));
    tell(diagnostics, files);
    return false;
  }

  bool addOne(LoadedKernel &loaded) {
    bool keep = loaded.code && (!options.common.strategyGiven ||
                                options.common.strategy == toString(Strategy::Manual));
    return keep ? addWritten(loaded, /*areFound=*/false) : addCompiled(loaded);
  }

  bool addCompiled(LoadedKernel &loaded) {
    if (!session.findDeps(loaded)) {
      return false;
    }
    std::optional<Compiled> compiled = session.compile(loaded.kernel, options.common.request());
    if (compiled) {
      add(loaded, std::move(compiled->code), compiled->plan, promisesExactness(compiled->plan));
    }
    return compiled.has_value();
  }

  /// Whether an option that says how code is made changes nothing about code that is there. It
  /// may say which dependences the code is held to; `areFound`: some were looked for.
  bool isIdle(const Kernel &kernel, std::string_view option, bool areFound) const {
    if (option == "--deps=written") {
      bool isHeld = options.asksWritten && !kernel.accesses.empty();
      return !isHeld && !(areFound && asksForDeps(kernel));
    }
    if (option == "--keep-implied") {
      return !areFound; // else the search has said so
    }
    return !option.starts_with("--overflow"); // what its strategy promises depends on it
  }

  /// Held to what is written or found, and to all that accesses ask for.
  bool addWritten(LoadedKernel &loaded, bool areFound) {
    Request request = options.common.request();
    request.strategy = Strategy::Manual;
    std::optional<Compiled> compiled = session.compile(loaded.kernel, request, &*loaded.code);
    if (!compiled) {
      return false;
    }
    compiled->code.strategy = loaded.code->strategy;
    compiled->plan.decisions.strategy = Strategy::Manual;
    request.strategy = loaded.code->strategy;
    std::optional<Compiled> made = compiledAgain(loaded, request);
    compiled->code.isCompiled = made && isSameCode(made->code, compiled->code);
    if (made && !compiled->code.isCompiled) {
      std::optional<Compiled> covered = compiledAgain(loaded, request.certifiable());
      compiled->code.isCompiled = covered && isSameCode(covered->code, compiled->code);
      made = compiled->code.isCompiled ? std::move(covered) : std::move(made);
    }
    if (made && !compiled->code.isCompiled && request.strategy == Strategy::Auto) {
      std::optional<Compiled> like = likeCode(loaded.kernel, request, compiled->code);
      made = like ? std::move(like) : std::move(made);
    }
    for (const std::string &option : compileFlags(options.common)) {
      if (!compiled->code.isCompiled && isIdle(loaded.kernel, option, areFound)) {
        session.warnIdle(loaded.kernel, option, "its code is kept as it is written");
      }
    }
    std::optional<SyncPlan> promised = promiseOf(std::move(made));
    if (options.asksWritten && !issuesAll(loaded.kernel, compiled->code)) {
      end(Exit::No);
    }
    add(loaded, std::move(compiled->code), promised ? *promised : compiled->plan,
        promised && promisesExactness(*promised));
    subjects.back().isWritten = true;
    return true;
  }

  /// Whether the code has all instructions of the kernel; else the missing ones are reported.
  bool issuesAll(const Kernel &kernel, const Code &code) const {
    Diagnostics missing;
    verifyCode(kernel, code, missing, /*complete=*/true);
    session.report(kernel, missing);
    return !missing.hasErrors();
  }

  /// What the accesses of a kernel ask of the code besides its own dependences.
  Asked askedOf(const LoadedKernel &loaded) const {
    if (!options.asksWritten || loaded.depsFound || options.common.deps == "written" ||
        loaded.kernel.accesses.empty()) {
      return {};
    }
    return asksForDeps(loaded.kernel) ? askedByAccesses(loaded.kernel) : askedBesides(loaded);
  }

  Asked askedByAccesses(const Kernel &kernel) const {
    nowDoing("finding dependences");
    Extractor extractor;
    Extraction found = extractor.extract(kernel, {.queueOverlap = machine.queueOverlap});
    markImplied(kernel, found);
    Asked result = ifLegal(withDeps(kernel, found));
    std::erase_if(found.deps, [](const DerivedDep &derived) { return derived.isImplied(); });
    for (uint32_t d = 0; d < found.deps.size(); ++d) {
      noteLoose(found.deps[d], d, result);
    }
    return result;
  }

  /// Nothing, where the dependences that are written imply it all.
  Asked askedBesides(const LoadedKernel &loaded) const {
    Held held = session.hold(loaded);
    if (held.open.empty()) {
      return {};
    }
    Asked result = ifLegal(withOpenDeps(loaded.kernel, held));
    auto number = static_cast<uint32_t>(loaded.kernel.deps.size());
    for (size_t d : held.open) {
      noteLoose(held.asked.deps[d], number++, result);
    }
    return result;
  }

  static void noteLoose(const DerivedDep &derived, uint32_t number, Asked &asked) {
    if (derived.excess != Excess::None) {
      asked.loose.push_back(DepId(number));
    }
  }

  /// Dependences may be not legal here, as where engines disagree.
  static Asked ifLegal(Kernel kernel) {
    Diagnostics diagnostics;
    check(kernel, diagnostics);
    if (!diagnostics.hasErrors()) {
      return {std::move(kernel), {}, ""};
    }
    return {
        {},
        {},
        "accesses ask for more than the written dependences, and the code cannot wait for it: " +
            diagnostics.reason()};
  }

  /// What the strategy that read code names makes of its kernel now.
  std::optional<Compiled> compiledAgain(const LoadedKernel &loaded, const Request &request) const {
    if (request.strategy == Strategy::Manual || request.strategy == Strategy::Ideal) {
      return {};
    }
    Diagnostics ignored; // the code has been checked, as far as it can be without running it
    return compile(loaded.kernel, request, machine, ignored);
  }

  /// What is made of the kernel that does the same as code whose size other options have limited,
  /// for a certificate or not.
  std::optional<Compiled> likeCode(const Kernel &kernel, const Request &request,
                                   const Code &code) const {
    std::optional<Compiled> like = compileLike(kernel, request, machine, code);
    return like ? std::move(like) : compileLike(kernel, request.certifiable(), machine, code);
  }

  /// Its plan, if the strategy promises to be exact.
  static std::optional<SyncPlan> promiseOf(std::optional<Compiled> made) {
    bool isExact = made && made->plan.decisions.strategy != Strategy::Barrier;
    return isExact ? std::optional(std::move(made->plan)) : std::nullopt;
  }

  static bool promisesExactness(const SyncPlan &plan) { return plan.barriers.empty(); }

  void add(LoadedKernel &loaded, Code code, const SyncPlan &plan, bool exact) {
    Subject subject;
    subject.asked = askedOf(loaded);
    subject.depsFound = loaded.depsFound;
    subject.mayOverwait = overwaitAllowed(loaded.kernel, plan);
    subject.kernel = std::move(loaded.kernel);
    subject.code = std::move(code);
    subject.exact = exact;
    subject.numInexact = numInexact(plan);
    subject.resets = !plan.decisions.resets.empty();
    subjects.push_back(std::move(subject));
  }

  const CheckOptions &options;
  Session &session;
  const Machine &machine;
  std::vector<Subject> subjects;
};

} // namespace

std::optional<std::vector<Subject>> makeSubjects(std::vector<LoadedKernel> kernels,
                                                 const CheckOptions &options, Session &session) {
  return SubjectLoader(options, session).run(std::move(kernels));
}

} // namespace tally::tool
