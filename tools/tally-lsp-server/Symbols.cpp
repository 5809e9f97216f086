//===- Symbols.cpp - What a document holds, as a tree ---------------------===//

#include "Symbols.h"

#include <algorithm>
#include <iterator>

namespace lsp = llvm::lsp;

namespace tally::server {
namespace {

/// More than a legal kernel has loops around one another; text may have any number of braces.
constexpr size_t deepest = 260;

std::optional<lsp::SymbolKind> kindOf(std::string_view operation) {
  constexpr std::pair<std::string_view, lsp::SymbolKind> kinds[] = {
      {"kernel", lsp::SymbolKind::Module},  {"code", lsp::SymbolKind::Package},
      {"engine", lsp::SymbolKind::Class},   {"buffer", lsp::SymbolKind::Array},
      {"loop", lsp::SymbolKind::Namespace}, {"if", lsp::SymbolKind::Namespace},
      {"instr", lsp::SymbolKind::Function}, {"semaphore", lsp::SymbolKind::Event},
      {"program", lsp::SymbolKind::Object},
  };
  auto found = std::ranges::find(kinds, operation, [](const auto &each) { return each.first; });
  return found == std::end(kinds) ? std::nullopt : std::optional(found->second);
}

/// An editor refuses a symbol without a name.
std::string shownName(std::string_view name) {
  return name.empty() ? "?" : std::string(name);
}

class Tree {
public:
  Tree(const Document &document, const Outline &outline) : document(document), outline(outline) {}

  /// From the last operation to the first, so that each is whole before it joins the one around it.
  std::vector<lsp::DocumentSymbol> make() {
    const std::vector<Operation> &ops = outline.operations();
    findDepths();
    children.resize(ops.size() + 1);
    for (size_t i = ops.size(); i-- > 0;) {
      if (!kindOf(ops[i].word) || !ops[i].name || depths[i] > deepest) {
        continue;
      }
      lsp::DocumentSymbol symbol = symbolOf(ops[i]);
      std::move(children[i].rbegin(), children[i].rend(), std::back_inserter(symbol.children));
      children[ops[i].around.value_or(ops.size())].push_back(std::move(symbol));
    }
    std::vector<lsp::DocumentSymbol> roots;
    std::move(children.back().rbegin(), children.back().rend(), std::back_inserter(roots));
    return roots;
  }

private:
  void findDepths() {
    for (const Operation &op : outline.operations()) {
      depths.push_back(op.around ? depths[*op.around] + 1 : 0);
    }
  }

  lsp::DocumentSymbol symbolOf(const Operation &op) const {
    const Name &name = outline.names()[*op.name];
    lsp::DocumentSymbol symbol(shownName(name.text), *kindOf(op.word),
                               document.lines().rangeOf(op.whole),
                               document.lines().rangeOf(name.span));
    symbol.detail = std::string(op.word);
    if (op.word == "engine") {
      addQueues(op, symbol);
    }
    return symbol;
  }

  void addQueues(const Operation &op, lsp::DocumentSymbol &engine) const {
    for (size_t i = *op.name + 1; i < outline.names().size(); ++i) {
      const Name &name = outline.names()[i];
      if (name.operation != outline.names()[*op.name].operation) {
        return;
      }
      lsp::Range range = document.lines().rangeOf(name.span);
      engine.children.emplace_back(shownName(name.text), lsp::SymbolKind::Property, range, range);
      engine.children.back().detail = "queue";
    }
  }

  const Document &document;
  const Outline &outline;
  std::vector<size_t> depths;
  std::vector<std::vector<lsp::DocumentSymbol>> children; ///< by operation; the last: of the text
};

} // namespace

std::vector<lsp::DocumentSymbol> symbolsOf(const Document &document, const Outline &outline) {
  return Tree(document, outline).make();
}

} // namespace tally::server
