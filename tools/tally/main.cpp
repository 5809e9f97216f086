//===- main.cpp - The `tally` command -------------------------------------===//

#include "Options.h"
#include "Session.h"

using namespace tally::tool;

static constexpr const char *examples = R"(Examples:
  tally compile k.mlir                          code for every engine, with the semaphores that cost least
  tally compile k.mlir --listing                the same, for human readers
  tally compile k.mlir --sync=barrier -o b.mlir the baseline, into a file
  tally compile k.json --format=json            from JSON to JSON, for compilers without MLIR
  tally plan k.mlir                             which semaphores, and one line per dependence
  tally deps k.mlir                             which dependences follow from its accesses
  tally explain k.mlir --instr=load             every wait of one instruction, and why its value
  tally compare k.mlir                          size, registers and semaphores of each strategy
  tally check k.mlir                            does the code wait long enough, and no longer?
  tally sim k.mlir --trips=A=64                 how long it takes on a machine, and why
  tally advise k.mlir --trips=A=64              what would make it faster
  tally report k.mlir --trips=A=64 -o k.html    the same as a page: timelines of several strategies
  tally bench --size=paper                      what each strategy costs on nine kernels
  tally kernels list                            kernels to try all this on
  tally machine list                            machines to try it on
  tally machine check mine.json                 is this description of a machine right, and what can it be used for?
  tally manual check | man -l -                 the manual of one command

Exit status, of every command:
  0  done; the answer is yes
  1  the answer is no: code is wrong, data differ, a run is stuck or leaves a buffer, a description
     is not well formed; only from commands that ask a question, and even if more is undecided
  2  there is no answer: wrong input or wrong use, a limit was reached, it could not be decided

Documents: what a text calls docs/guide/X.md is share/doc/tally/docs/guide/X.md of an installation.)";

int main(int argc, char **argv) {
  return runProgram(
      {"tally", "tally: exact, barrier-free synchronisation of accelerator engines", examples},
      argc, argv, [](CLI::App &app) {
        addCompile(app);
        addPlan(app);
        addDeps(app);
        addExplain(app);
        addCompare(app);
        addCheck(app);
        addSim(app);
        addAdvise(app);
        addRun(app);
        addReport(app);
        addBench(app);
        addKernels(app);
        addMachine(app);
        addShell(app);
        addMoved(
            app, "fuzz",
            "'tally fuzz' is now a separate program: 'tally-fuzz', which a build with tests makes");
      });
}
