//===- JsonTarget.cpp - Any bytes into the JSON readers -------------------===//
//
// Every reader gets every input. None may crash or hang, and what one accepts it must accept again
// when written out, with the same result.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Schedule.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/Check.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"

#include <cstdlib>
#include <fmt/format.h>

using namespace tally;

static void expectEqual(const std::string &first, const std::string &second) {
  if (first != second) {
    fmt::print(stderr, "written once:\n{}\nread and written again:\n{}\n", first, second);
    std::abort();
  }
}

static void readKernel(std::string_view text) {
  Diagnostics diagnostics;
  if (std::optional<Kernel> kernel = readKernelJson(text, "input", diagnostics)) {
    std::string written = writeKernelJson(*kernel);
    Diagnostics again;
    for (bool compact : {false, true}) {
      std::string text = writeKernelJson(*kernel, {.compact = compact});
      std::optional<Kernel> second = readKernelJson(text, "input", again);
      expectEqual(written, second ? writeKernelJson(*second) : render(again, {}));
    }
    check(*kernel, diagnostics);
  }
  render(diagnostics, {"input"});
}

/// Programs are only written if they are well formed: names stand for ids.
static void readCode(std::string_view text) {
  Diagnostics diagnostics;
  if (std::optional<LoadedKernel> both = readCodeJson(text, "input", diagnostics)) {
    check(both->kernel, diagnostics);
    verifyCode(both->kernel, *both->code, diagnostics);
    if (!diagnostics.hasErrors()) {
      std::string written = writeCodeJson(both->kernel, *both->code);
      Diagnostics again;
      for (bool compact : {false, true}) {
        std::string text = writeCodeJson(both->kernel, *both->code, {.compact = compact});
        std::optional<LoadedKernel> second = readCodeJson(text, "input", again);
        expectEqual(written,
                    second ? writeCodeJson(second->kernel, *second->code) : render(again, {}));
      }
    }
  }
  render(diagnostics, {"input"});
}

static void readSchedule(std::string_view text) {
  Diagnostics diagnostics;
  if (std::optional<ScheduleFile> schedule = readScheduleFile(text, diagnostics)) {
    std::string written = writeScheduleFile(*schedule);
    Diagnostics again;
    std::optional<ScheduleFile> second = readScheduleFile(written, again);
    expectEqual(written, second ? writeScheduleFile(*second) : render(again, {}));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  readKernel(text);
  readCode(text);
  readSchedule(text);
  parseMachine(text, "input");
  return 0;
}
