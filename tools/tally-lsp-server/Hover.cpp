//===- Hover.cpp - What is under the cursor, in words ---------------------===//

#include "Hover.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lsp = llvm::lsp;

namespace tally::server {
namespace {

/// A passage and the span that it is about.
struct Passage {
  std::string text;
  Span span;
};

std::string join(std::string_view first, std::string_view second) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : "\n\n---\n\n", second);
}

class Finder {
public:
  Finder(const Document &document, const Outline &outline, const Facts &facts, bool areOld,
         size_t offset)
      : document(document), outline(outline), facts(facts), areOld(areOld), offset(offset) {}

  std::optional<Passage> find() const {
    if (const Name *name = outline.nameAt(offset)) {
      return Passage{aboutName(*name), name->span};
    }
    for (size_t i = document.tokenAt(offset);
         i < document.tokens().size() && document.tokens()[i].span.touches(offset); ++i) {
      if (std::optional<Passage> passage = aboutToken(i)) {
        return passage;
      }
    }
    return std::nullopt;
  }

private:
  //===--------------------------------------------------------------------===//
  // Words
  //===--------------------------------------------------------------------===//

  std::optional<Passage> aboutToken(size_t i) const {
    const Token &token = document.tokens()[i];
    if (token.kind == Token::Kind::String) {
      return aboutWordOfTile(token);
    }
    if (std::string_view word = document.text(token.span); word == "else") {
      return Passage{fmt::format("`{}`\n\nWhat runs where the condition does not hold.", word),
                     token.span};
    }
    std::optional<size_t> at = outline.operationAt(i);
    if (token.kind == Token::Kind::Comment || !at || i >= outline.operations()[*at].endToken) {
      return std::nullopt;
    }
    const Operation &op = outline.operations()[*at];
    bool isOperation = i == op.firstToken;
    const Word *word =
        findWord(op.word, isOperation ? std::string_view() : document.text(token.span));
    if (!word) {
      return std::nullopt;
    }
    std::string fact = isOperation || word->clause == "->" ? factOf(*at) : "";
    return Passage{join(meaning(*word), fact), token.span};
  }

  static std::string meaning(const Word &word) {
    return fmt::format("`{}`\n\n{}", word.form, word.meaning);
  }

  std::optional<Passage> aboutWordOfTile(const Token &token) const {
    auto isPart = [](char sign) { return (sign >= 'a' && sign <= 'z') || sign == '_'; };
    size_t begin = offset;
    size_t end = offset;
    std::string_view text = document.text();
    for (; begin > token.span.begin && isPart(text[begin - 1]); --begin) {
    }
    for (; end < token.span.end && isPart(text[end]); ++end) {
    }
    const Word *word = findWord("tile", text.substr(begin, end - begin));
    return word && begin < end ? std::optional(Passage{meaning(*word), {begin, end}})
                               : std::nullopt;
  }

  //===--------------------------------------------------------------------===//
  // Facts
  //===--------------------------------------------------------------------===//

  std::string known(const std::string &key) const {
    std::string_view text = facts.find(key);
    return text.empty() || !areOld
               ? std::string(text)
               : fmt::format("{}\nAs of the last text that could be read.\n", text);
  }

  /// Of the instruction or the dependence that an operation is.
  std::string factOf(size_t at) const {
    const Operation &op = outline.operations()[at];
    if (op.word == "dep") {
      return known(Facts::ofDep(op.scope, numberOf(at)));
    }
    bool isInstr = (op.word == "instr" || op.word == "issue") && op.name;
    return isInstr ? known(Facts::ofInstr(op.scope, outline.names()[*op.name].text)) : "";
  }

  /// Which dependence of its kernel it is.
  size_t numberOf(size_t at) const {
    const Operation &dep = outline.operations()[at];
    return static_cast<size_t>(std::ranges::count_if(
        outline.operations().begin(), outline.operations().begin() + at,
        [&](const Operation &op) { return op.word == "dep" && op.scope == dep.scope; }));
  }

  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  std::string aboutName(const Name &name) const {
    const Name *declared = outline.declarationOf(name);
    std::string fact;
    if (name.kind == NameKind::Instr) {
      fact = known(Facts::ofInstr(declared ? declared->scope : name.scope, name.text));
    }
    if (!declared) {
      return fmt::format("{} `{}`, which is not declared", toString(name.kind), name.text);
    }
    bool isBranch = outline.operations()[declared->operation].word == "if";
    std::string text =
        fmt::format("{} `{}`\n\n```mlir\n{}\n```", isBranch ? "branch" : toString(declared->kind),
                    name.text, headerOf(*declared));
    std::string uses = usesOf(*declared);
    return join(uses.empty() ? text : fmt::format("{}\n\n{}", text, uses), fact);
  }

  /// In one line, and not too long a one.
  std::string headerOf(const Name &name) const {
    constexpr size_t longest = 200;
    std::string_view text = document.text(outline.operations()[name.operation].header);
    std::string line;
    for (char sign : text.substr(0, std::min(text.find_first_of("\r\n"), longest))) {
      line += sign;
    }
    return line.size() < text.size() ? line + " ..." : line;
  }

  /// The instructions that use a queue, a buffer or a loop, by the word behind which they name it.
  std::string usesOf(const Name &declared) const {
    constexpr size_t mostShown = 8;
    std::vector<std::pair<std::string_view, std::vector<std::string>>> groups;
    for (const Name *place : outline.placesOf(declared)) {
      const Operation &op = outline.operations()[place->operation];
      if (place->isDeclared || op.word != "instr" || !op.name || !place->word) {
        continue;
      }
      std::string instr = fmt::format("`{}`", outline.names()[*op.name].text);
      auto group = std::ranges::find(groups, place->word->clause,
                                     [](const auto &each) { return each.first; });
      if (group == groups.end()) {
        group = groups.insert(groups.end(), {place->word->clause, {}});
      }
      if (std::ranges::find(group->second, instr) == group->second.end()) {
        group->second.push_back(instr);
      }
    }
    std::string text;
    for (auto &[clause, instrs] : groups) {
      size_t left = instrs.size() - std::min(instrs.size(), mostShown);
      instrs.resize(instrs.size() - left);
      text += fmt::format("`{}` of {}{}  \n", clause, fmt::join(instrs, ", "),
                          left == 0 ? "" : fmt::format(" and {} more", left));
    }
    return text;
  }

  const Document &document;
  const Outline &outline;
  const Facts &facts;
  bool areOld;
  size_t offset;
};

} // namespace

std::optional<lsp::Hover> hoverAt(const Document &document, const Outline &outline,
                                  const Facts &facts, bool areOld, size_t offset) {
  std::optional<Passage> passage = Finder(document, outline, facts, areOld, offset).find();
  if (!passage) {
    return std::nullopt;
  }
  lsp::Hover hover(document.lines().rangeOf(passage->span));
  hover.contents.value = std::move(passage->text);
  return hover;
}

} // namespace tally::server
