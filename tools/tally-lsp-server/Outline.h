//===- Outline.h - The operations of a text, and the names in it ----------===//
//
// Made of tokens alone, so that there is one of every text, also of half of a kernel. Which string
// is which name follows from the words before it (Header.h).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_OUTLINE_H
#define TALLY_LSP_SERVER_OUTLINE_H

#include "Document.h"
#include "Language.h"

#include <map>
#include <tuple>

namespace tally::server {

struct Operation {
  std::string_view word;        ///< without `tally.`
  size_t firstToken = 0;        ///< `tally.loop`
  size_t endToken = 0;          ///< after the last token before its body
  Span header;                  ///< of these
  Span whole;                   ///< with the body
  std::optional<Span> body;     ///< between its braces; up to the end of the text if it is open
  std::optional<size_t> around; ///< the operation that it stands in
  std::string scope;            ///< the kernel that its names belong to
  std::optional<size_t> name;   ///< its first name
};

struct Name {
  NameKind kind = NameKind::Kernel;
  std::string_view text;
  Span span; ///< without quotes
  bool isDeclared = false;
  std::string scope;          ///< empty for kernels, and where the kernel is not known
  size_t operation = 0;       ///< that it stands in
  const Word *word = nullptr; ///< after which it stands
};

class Outline {
public:
  explicit Outline(const Document &document);

  const std::vector<Operation> &operations() const { return ops; }

  const std::vector<Name> &names() const { return list; }

  /// The name under a cursor; null if there is none.
  const Name *nameAt(size_t offset) const;

  /// Where it is declared: the first place, if there are several; null if there is none.
  const Name *declarationOf(const Name &name) const;

  /// All places of what this name names, in order.
  std::vector<const Name *> placesOf(const Name &name) const;

  /// The operation whose header holds this token, or ended last before it; none before the first.
  std::optional<size_t> operationAt(size_t token) const;

private:
  friend class OutlineReader;

  using Key = std::tuple<NameKind, std::string_view, std::string_view>; ///< scope and text

  static Key keyOf(const Name &name);
  void index();

  std::vector<Operation> ops; ///< in the order of the text
  std::vector<Name> list;     ///< the same
  std::map<Key, size_t> declarations;
};

} // namespace tally::server

#endif // TALLY_LSP_SERVER_OUTLINE_H
