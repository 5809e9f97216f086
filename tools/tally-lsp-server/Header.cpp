//===- Header.cpp - What the next string of an operation would name -------===//

#include "Header.h"

namespace tally::server {

static const Word *asking(const Word *word) {
  return word && word->strings != Strings::None ? word : nullptr;
}

Header::Header(std::string_view operation)
    : operation(operation), last(findWord(operation)), role(asking(last)) {}

void Header::pass(const Token &token, std::string_view text) {
  if (token.kind == Token::Kind::String || token.kind == Token::Kind::Number) {
    return passValue(token.kind == Token::Kind::String);
  }
  if (const Word *word = text.empty() ? nullptr : findWord(operation, text)) {
    return passWord(*word);
  }
  if (text == "[") {
    lists.push_back(role);
  } else if (text == "]" && !lists.empty()) {
    lists.pop_back();
    role = nullptr;
  } else if (text == ",") {
    role = lists.empty() ? asking(last) : lists.back();
  }
}

void Header::passWord(const Word &word) {
  last = &word;
  role = asking(last);
}

void Header::passValue(bool isString) {
  if (role && !role->repeats && (isString || lists.empty())) {
    role = nullptr;
  }
}

} // namespace tally::server
