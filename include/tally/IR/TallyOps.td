//===- TallyOps.td - The dialect `tally` ----------------------------------===//
//
// Kernels, the code that engines run for them, and the operations that stand
// in the `scf` form of such code. docs/guide/Language.md is the reference of the text.
//
// What an operation says lies in one plain struct (tally/Written/Data.h), held as a property: unique data
// such as names of instructions is never an attribute, which MLIR would keep forever and
// look up in a table for each operation. Names refer to one another as text; the
// core resolves them when a kernel is loaded (tally/Written/Resolve.h).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_IR_TALLYOPS_TD
#define TALLY_IR_TALLYOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Properties.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tally_Dialect : Dialect {
  let name = "tally";
  let cppNamespace = "::tally::ir";
  let summary = "kernels for several engines, and the code that synchronises them";
}

/// A written struct as the property of an operation.
class StructProp<string type>
    : Property<"::tally::ir::" # type, type, "const ::tally::ir::" # type # " &"> {
  let hashProperty = "::tally::ir::hash_value($_storage)";
}

class Tally_Op<string mnemonic, list<Trait> traits = []> : Op<Tally_Dialect, mnemonic, traits> {
  let hasCustomAssemblyFormat = 1;
}

/// Its text is that of its struct (lib/IR/Grammar.h).
defvar textOfStruct = [{
  ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                       ::mlir::OperationState &result) {
    return parseOp<$cppClass>(parser, result);
  }

  void $cppClass::print(::mlir::OpAsmPrinter &p) { printOp(p, *this); }
}];

/// It may stand only where Verify.cpp allows.
defvar placeIsChecked = [{
  ::llvm::LogicalResult $cppClass::verify() { return verifyPlace(*this); }
}];

/// An operation that says what a struct holds.
class Tally_DataOp<string mnemonic, string data, string text, list<Trait> traits = []>
    : Tally_Op<mnemonic, traits> {
  let summary = text;
  let arguments = (ins StructProp<data>:$data);
}

/// An operation of a kernel or of code.
class Tally_PlacedOp<string mnemonic, string data, string text, list<Trait> traits = []>
    : Tally_DataOp<mnemonic, data, text, traits> {
  let hasVerifier = 1;
  let extraClassDefinition = !strconcat(textOfStruct, placeIsChecked);
}

/// One with a body.
class Tally_BodyOp<string mnemonic, string data, string text, list<Trait> traits = []>
    : Tally_PlacedOp<mnemonic, data, text,
                     traits # [SingleBlock, NoTerminator, NoRegionArguments]> {
  let regions = (region AnyRegion:$body);
}

/// One with two.
class Tally_BranchesOp<string mnemonic, string data, string text>
    : Tally_PlacedOp<mnemonic, data, text, [NoTerminator, NoRegionArguments]> {
  let regions = (region MaxSizedRegion<1>:$thenBody, MaxSizedRegion<1>:$elseBody);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tally_KernelOp : Tally_BodyOp<"kernel", "KernelData",
    "one structured program that all engines walk", [Symbol]> {
  let description = [{
    Holds engines and buffers, the loop tree with its instructions, and dependences.

    ```mlir
    tally.kernel @copy {
      tally.engine "dma"
      tally.instr "load" on "dma"
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StructProp<"KernelData">:$data);
  let hasRegionVerifier = 1;
  let extraClassDefinition = placeIsChecked;
}

def Tally_EngineOp : Tally_PlacedOp<"engine", "EngineData", "a sequencer with its queues">;

def Tally_ValueOp : Tally_PlacedOp<"value", "ValueData", "a number that only a run knows">;

def Tally_BufferOp : Tally_PlacedOp<"buffer", "BufferData", "memory that accesses name">;

def Tally_LoopOp : Tally_BodyOp<"loop", "LoopData",
    "a body that runs a constant, run-time or opaque number of times">;

def Tally_IfOp : Tally_BranchesOp<"if", "IfData", "one of two bodies, by an opaque condition">;

def Tally_InstrOp : Tally_PlacedOp<"instr", "InstrData", "an instruction on a queue">;

def Tally_DepOp : Tally_PlacedOp<"dep", "DepData",
    "the consumer waits for an earlier run of the producer">;

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

def Tally_CodeOp : Tally_BodyOp<"code", "CodeData",
    "what each engine executes for the kernel of this name",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins FlatSymbolRefAttr:$kernel, StructProp<"CodeData">:$data);
  let hasRegionVerifier = 1;
  let extraClassDefinition = placeIsChecked;
}

def Tally_SemaphoreOp : Tally_PlacedOp<"semaphore", "SemaphoreData",
    "a counter that engines raise and wait for">;

def Tally_ProgramOp : Tally_BodyOp<"program", "ProgramData", "the code of one engine">;

def Tally_RegisterOp : Tally_PlacedOp<"register", "RegisterData", "a register of this engine">;

def Tally_SetOp : Tally_PlacedOp<"set", "SetData", "computes a register">;

def Tally_ForOp : Tally_BodyOp<"for", "ForData", "runs a loop of the kernel">;

def Tally_BranchOp : Tally_BranchesOp<"branch", "BranchData", "runs an if of the kernel">;

def Tally_WaitOp : Tally_PlacedOp<"wait", "WaitData", "blocks until a semaphore has a value">;

def Tally_IssueOp : Tally_PlacedOp<"issue", "IssueData",
    "issues an instruction, with at most one wait and one signal">;

def Tally_BarrierOp : Tally_BodyOp<"barrier", "BarrierData",
    "the operations by which engines meet">;

def Tally_WhenOp : Tally_BodyOp<"when", "WhenData", "operations for when a register is not zero">;

//===----------------------------------------------------------------------===//
// Operations of code that also stand in its scf form
//===----------------------------------------------------------------------===//

/// What a sequencer does to the world outside its registers. Every operation that blocks, signals,
/// or asks for a run-time value writes it, so that none is removed, merged or moved across another.
def Tally_Sequencer : Resource<"::tally::ir::SequencerResource">;
def Tally_Outside : MemoryEffects<[MemRead<Tally_Sequencer>, MemWrite<Tally_Sequencer>]>;

def Tally_SignalOp : Tally_PlacedOp<"signal", "SignalData",
    "raises a semaphore at once", [Tally_Outside]>;

def Tally_ResetOp : Tally_PlacedOp<"reset", "ResetData",
    "sets consecutive semaphores to zero in one operation", [Tally_Outside]>;

def Tally_DrainOp : Tally_PlacedOp<"drain", "DrainData",
    "blocks until all instructions of this engine have retired", [Tally_Outside]>;

def Tally_TripsOp : Tally_DataOp<"trips", "TripsData",
    "how often a loop of the kernel runs this time", [Tally_Outside]> {
  let results = (outs Index:$trips);
}

def Tally_GuardOp : Tally_DataOp<"guard", "GuardData",
    "whether the then-branch runs this time, or a while-loop once more", [Tally_Outside]> {
  let results = (outs I1:$holds);
}

def Tally_AwaitOp : Tally_Op<"await", [Tally_Outside]> {
  let summary = "blocks until a semaphore has a computed value";
  let arguments = (ins StructProp<"AwaitData">:$data, I32:$threshold);
}

def Tally_RunOp : Tally_Op<"run", [Tally_Outside]> {
  let summary = "issues an instruction that may wait for a computed value";
  let arguments = (ins StructProp<"RunData">:$data, Optional<I32>:$threshold);
  let hasVerifier = 1;
}

#endif // TALLY_IR_TALLYOPS_TD
