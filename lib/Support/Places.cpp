//===- Places.cpp - How places are shown ----------------------------------===//

#include "tally/Support/Places.h"

#include "tally/Support/Printable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tally {

std::string placeText(Location where, const std::vector<std::string> &files) {
  std::string file = where.file < files.size() ? printable(files[where.file]) : "<unknown>";
  return fmt::format("{}:{}:{}", file, where.line, where.column);
}

std::string placeJson(Location where, const std::vector<std::string> &files) {
  using Json = nlohmann::ordered_json;
  bool hasFile = where.file < files.size() && !files[where.file].empty();
  if (!hasFile && !where.known()) {
    return "null";
  }
  Json place = {{"file", hasFile ? Json(files[where.file]) : Json()},
                {"line", where.known() ? Json(where.line) : Json()},
                {"column", where.known() ? Json(where.column) : Json()}};
  return place.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace tally
