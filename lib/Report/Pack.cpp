//===- Pack.cpp - Much data in little text --------------------------------===//

#include "Pack.h"

#include <cstdint>
#include <new>
#include <vector>
#include <zlib.h>

namespace tally::report {

static std::vector<unsigned char> compressed(std::string_view data) {
  uLongf size = compressBound(data.size());
  std::vector<unsigned char> bytes(size);
  int status = compress2(bytes.data(), &size, reinterpret_cast<const Bytef *>(data.data()),
                         data.size(), Z_DEFAULT_COMPRESSION);
  if (status != Z_OK) { // the buffer is large enough, so that only memory can lack
    throw std::bad_alloc();
  }
  bytes.resize(size);
  return bytes;
}

std::string pack(std::string_view data) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes = compressed(data);
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = i; k < i + 3; ++k) {
      three = three << 8 | (k < bytes.size() ? bytes[k] : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

} // namespace tally::report
