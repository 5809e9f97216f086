//===- Mutate.h - Code with one mistake -----------------------------------===//
//
// A check is as good as the mistakes it finds. Here correct code is given one
// mistake at a time, of the kinds that compilers and people make:
//
//   wait-plus-one           waits for one more than it should
//   wait-minus-one          ... for one less
//   wrong-semaphore         waits on, or raises, another semaphore
//   lost-update             an instruction or signal raises nothing
//   doubled-update          ... raises twice as much
//   lost-register-operation a count, shift or computation is left out
//   wrong-mask              the mask of a wait opens one iteration early or late, or always
//   wrong-snapshot-slot     reads a ring one slot newer or older
//   hoisted-wait            a wait, or a part of its value, comes before a write that it needs
//   dropped-wait            a wait-only operation is left out
//   swapped-nk              N, the signals of a trip, and K, the producer's place, change places
//   missing-reset           a counter or semaphore does not start again from zero
//
// A mutation names its kind and its place; the same code always has the same
// mutations, in the same order. Whether one makes a difference is not asked here: a mask may
// be opened where it was never closed.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_MUTATE_H
#define TALLY_FUZZ_MUTATE_H

#include "tally/Code/Code.h"

namespace tally::fuzz {

enum class MutantKind : uint8_t {
  WaitPlusOne,
  WaitMinusOne,
  WrongSemaphore,
  LostUpdate,
  DoubledUpdate,
  LostRegisterOperation,
  WrongMask,
  WrongSnapshotSlot,
  HoistedWait,
  DroppedWait,
  SwappedNK,
  MissingReset,
};
inline constexpr size_t numMutantKinds = 12;

std::string_view toString(MutantKind kind);

/// One mistake: what, and at which operation.
struct Mutation {
  MutantKind kind = MutantKind::WaitPlusOne;
  EngineId engine;
  uint32_t at = 0;     ///< index into the operations of the engine
  uint32_t target = 0; ///< what it becomes: a number, semaphore, register or index, by kind
  uint8_t variant = 0; ///< where one place can go wrong in several ways

  bool operator==(const Mutation &) const = default;
};

/// All mistakes that can be made in this program, by kind, then engine, then place. For programs
/// that verifyCode() accepts.
std::vector<Mutation> findMutations(const Code &code);

/// The code with this mistake, one of findMutations().
Code mutate(const Code &code, const Mutation &mutation);

/// `wait-plus-one on 'act' at operation 5, the wait of 'scale'`.
std::string describe(const Kernel &kernel, const Code &code, const Mutation &mutation);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_MUTATE_H
