//===- Header.h - What the next string of an operation would name ---------===//
//
// Goes through the words of one operation, from its name on, and knows at each place which string
// could stand there:
//
//   tally.instr |"load" on |"dma" reads [|"X[A]", |"Y"]
//               instr      queue         tile     tile
//
// Outline asks what the strings are that stand there; Completion, which could.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_HEADER_H
#define TALLY_LSP_SERVER_HEADER_H

#include "Document.h"
#include "Language.h"

namespace tally::server {

class Header {
public:
  /// Right after the name of an operation.
  explicit Header(std::string_view operation);

  /// The word that asks for a string here; null if none does.
  const Word *expected() const { return role; }

  void pass(const Token &token, std::string_view text);

private:
  void passWord(const Word &word);
  void passValue(bool isString);

  std::string_view operation;
  const Word *last;                ///< the last clause
  const Word *role;                ///< what is expected now
  std::vector<const Word *> lists; ///< what each open list is of
};

} // namespace tally::server

#endif // TALLY_LSP_SERVER_HEADER_H
