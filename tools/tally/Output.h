//===- Output.h - JSON that commands print --------------------------------===//
#ifndef TALLY_TOOLS_TALLY_OUTPUT_H
#define TALLY_TOOLS_TALLY_OUTPUT_H

#include <nlohmann/json.hpp>

#include <string>

namespace tally::tool {

using Json = nlohmann::ordered_json;

/// The text of a document. Names may hold any bytes; those that are no UTF-8 become U+FFFD.
inline std::string dump(const Json &document, int indent = 2) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// What an object says, to follow other members: `,"seed":0`.
inline std::string membersText(const Json &object) {
  std::string text;
  for (const auto &[name, value] : object.items()) {
    text += "," + dump(name, -1) + ":" + dump(value, -1);
  }
  return text;
}

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_OUTPUT_H
