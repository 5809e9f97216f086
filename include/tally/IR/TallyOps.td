//===- TallyOps.td - The dialect `tally` ----------------------------------===//
//
// Kernels, the code that engines run for them, and the operations that stand
// in the `scf` form of such code. docs/guide/Language.md is the reference of the text.
//
// What an operation says lies in one plain struct (tally/Written/Data.h), held as a property: unique data
// such as names of instructions is never an attribute, which MLIR would keep for ever and
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

/// Its text is that of its struct (lib/IR/Assembly.h).
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

/// An operation of a kernel or of code.
class Tally_PlacedOp<string mnemonic, list<Trait> traits = []> : Tally_Op<mnemonic, traits> {
  let hasVerifier = 1;
  let extraClassDefinition = !strconcat(textOfStruct, placeIsChecked);
}

/// One with bodies.
class Tally_BodyOp<string mnemonic, list<Trait> traits = []>
    : Tally_PlacedOp<mnemonic, traits # [NoTerminator, NoRegionArguments]>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tally_KernelOp : Tally_BodyOp<"kernel", [SingleBlock, Symbol]> {
  let summary = "one structured program that all engines walk";
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
  let regions = (region AnyRegion:$body);
  let hasRegionVerifier = 1;
  let extraClassDefinition = placeIsChecked;
}

def Tally_EngineOp : Tally_PlacedOp<"engine"> {
  let summary = "a sequencer with its queues";
  let arguments = (ins StructProp<"EngineData">:$data);
}

def Tally_BufferOp : Tally_PlacedOp<"buffer"> {
  let summary = "memory that accesses name";
  let arguments = (ins StructProp<"BufferData">:$data);
}

def Tally_LoopOp : Tally_BodyOp<"loop", [SingleBlock]> {
  let summary = "a body that runs a constant, run-time or opaque number of times";
  let arguments = (ins StructProp<"LoopData">:$data);
  let regions = (region AnyRegion:$body);
}

def Tally_IfOp : Tally_BodyOp<"if"> {
  let summary = "one of two bodies, by an opaque condition";
  let arguments = (ins StructProp<"IfData">:$data);
  let regions = (region MaxSizedRegion<1>:$thenBody, MaxSizedRegion<1>:$elseBody);
}

def Tally_InstrOp : Tally_PlacedOp<"instr"> {
  let summary = "an instruction on a queue";
  let arguments = (ins StructProp<"InstrData">:$data);
}

def Tally_DepOp : Tally_PlacedOp<"dep"> {
  let summary = "the consumer waits for an earlier run of the producer";
  let arguments = (ins StructProp<"DepData">:$data);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

def Tally_CodeOp : Tally_BodyOp<"code", [SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what each engine executes for the kernel of this name";
  let arguments = (ins FlatSymbolRefAttr:$kernel, StructProp<"CodeData">:$data);
  let regions = (region AnyRegion:$body);
  let hasRegionVerifier = 1;
  let extraClassDefinition = placeIsChecked;
}

def Tally_SemaphoreOp : Tally_PlacedOp<"semaphore"> {
  let summary = "a counter that engines raise and wait for";
  let arguments = (ins StructProp<"SemaphoreData">:$data);
}

def Tally_ProgramOp : Tally_BodyOp<"program", [SingleBlock]> {
  let summary = "the code of one engine";
  let arguments = (ins StructProp<"ProgramData">:$data);
  let regions = (region AnyRegion:$body);
}

def Tally_RegisterOp : Tally_PlacedOp<"register"> {
  let summary = "a register of this engine";
  let arguments = (ins StructProp<"RegisterData">:$data);
}

def Tally_SetOp : Tally_PlacedOp<"set"> {
  let summary = "computes a register";
  let arguments = (ins StructProp<"SetData">:$data);
}

def Tally_ForOp : Tally_BodyOp<"for", [SingleBlock]> {
  let summary = "runs a loop of the kernel";
  let arguments = (ins StructProp<"ForData">:$data);
  let regions = (region AnyRegion:$body);
}

def Tally_BranchOp : Tally_BodyOp<"branch"> {
  let summary = "runs an if of the kernel";
  let arguments = (ins StructProp<"BranchData">:$data);
  let regions = (region MaxSizedRegion<1>:$thenBody, MaxSizedRegion<1>:$elseBody);
}

def Tally_WaitOp : Tally_PlacedOp<"wait"> {
  let summary = "blocks until a semaphore has a value";
  let arguments = (ins StructProp<"WaitData">:$data);
}

def Tally_IssueOp : Tally_PlacedOp<"issue"> {
  let summary = "issues an instruction, with at most one wait and one signal";
  let arguments = (ins StructProp<"IssueData">:$data);
}

def Tally_BarrierOp : Tally_BodyOp<"barrier", [SingleBlock]> {
  let summary = "the operations by which engines meet";
  let arguments = (ins StructProp<"BarrierData">:$data);
  let regions = (region AnyRegion:$body);
}

def Tally_WhenOp : Tally_BodyOp<"when", [SingleBlock]> {
  let summary = "operations for when a register is not zero";
  let arguments = (ins StructProp<"WhenData">:$data);
  let regions = (region AnyRegion:$body);
}

//===----------------------------------------------------------------------===//
// Operations of code that also stand in its scf form
//===----------------------------------------------------------------------===//

/// What a sequencer does to the world outside its registers. Every operation that blocks, signals,
/// or asks for a run-time value writes it, so that none is removed, merged or moved across another.
def Tally_Sequencer : Resource<"::tally::ir::SequencerResource">;
def Tally_Outside : MemoryEffects<[MemRead<Tally_Sequencer>, MemWrite<Tally_Sequencer>]>;

def Tally_SignalOp : Tally_PlacedOp<"signal", [Tally_Outside]> {
  let summary = "raises a semaphore at once";
  let arguments = (ins StructProp<"SignalData">:$data);
}

def Tally_ResetOp : Tally_PlacedOp<"reset", [Tally_Outside]> {
  let summary = "sets consecutive semaphores to zero in one operation";
  let arguments = (ins StructProp<"ResetData">:$data);
}

def Tally_DrainOp : Tally_PlacedOp<"drain", [Tally_Outside]> {
  let summary = "blocks until all instructions of this engine have retired";
  let arguments = (ins StructProp<"DrainData">:$data);
}

def Tally_TripsOp : Tally_Op<"trips", [Tally_Outside]> {
  let summary = "how often a loop of the kernel runs this time";
  let arguments = (ins StructProp<"TripsData">:$data);
  let results = (outs Index:$trips);
}

def Tally_GuardOp : Tally_Op<"guard", [Tally_Outside]> {
  let summary = "whether the then-branch runs this time, or a while-loop once more";
  let arguments = (ins StructProp<"GuardData">:$data);
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
