//===- SameKernel.cpp - Whether two files hold the same kernel ------------===//
//
// A form (Write.h) that lists what a kernel says, so that what is new in a kernel is compared as
// soon as it can be written.
//
//===----------------------------------------------------------------------===//

#include "SameKernel.h"

#include "tally/Written/Text.h"
#include "tally/Written/Write.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::tool {
namespace {

class Listing {
public:
  template <written::Struct S> void add(const S &data, const Origin &origin) {
    std::string text = fmt::format("'tally.{}", S::word);
    written::appendText(text, data);
    said.push_back({text + "'", origin.place()});
  }

  template <written::Struct S> void open(const S &data, const Origin &origin) {
    add(data, origin);
    around.push_back(said.back());
  }

  void otherwise() {
    said.push_back({"the else-branch of " + around.back().text, around.back().where});
  }

  void close() {
    said.push_back({"the end of " + around.back().text, around.back().where});
    around.pop_back();
  }

  std::vector<Said> said;

private:
  std::vector<Said> around; ///< the bodies that are open
};

std::vector<Said> listed(const Kernel &kernel) {
  Listing list;
  written::KernelWriter writer(kernel, list);
  list.open(writer.head(), kernel.where);
  writer.engines();
  writer.buffers();
  writer.body(rootLoop);
  list.close();
  return std::move(list.said);
}

} // namespace

std::optional<KernelDifference> differenceOf(const Kernel &first, const Kernel &second) {
  const std::vector<Said> a = listed(first);
  const std::vector<Said> b = listed(second);
  auto [x, y] = std::ranges::mismatch(a, b, {}, &Said::text, &Said::text);
  // Both lists end with the end of the kernel, which stands nowhere else.
  return x == a.end() ? std::nullopt : std::optional(KernelDifference{*x, *y});
}

} // namespace tally::tool
