//===- Npy.cpp - Buffers as files that NumPy reads ------------------------===//

#include "tally/Data/Npy.h"

#include "Tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <ostream>

namespace tally {

using namespace data;

static constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
static constexpr size_t alignment = 64; ///< of the first element in the file

/// `(2, 128)`, and `(2,)` for one dimension.
static std::string tupleText(const std::vector<uint64_t> &shape) {
  return fmt::format("({}{})", joined(shape), shape.size() == 1 ? "," : "");
}

void checkFileNames(const Kernel &kernel, Diagnostics &diagnostics) {
  for (const Buffer &buffer : kernel.buffers) {
    std::string_view name = kernel.text(buffer.name);
    if (name.find('/') != std::string_view::npos) {
      diagnostics.error(buffer.where,
                        fmt::format("buffer '{}' cannot be a file of that name; rename it", name));
    }
  }
}

uint32_t unwrittenBits(Format format) {
  return isWhole(format) ? encodeWhole(format, INT64_MIN) : encode(format, NAN);
}

bool writeNpy(std::ostream &out, const BufferData &data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   npyType(data.format()), tupleText(data.shape()));
  size_t before = magic.size() + 2;
  header.resize((before + header.size() + alignment) / alignment * alignment - before - 1, ' ');
  header += '\n';
  uint16_t length = static_cast<uint16_t>(header.size());
  out.write(magic.data(), static_cast<std::streamsize>(magic.size()));
  out.write(reinterpret_cast<const char *>(&length), sizeof length);
  out << header;
  const char *bytes = reinterpret_cast<const char *>(data.bytes().data());
  if (data.numPoison() == 0) {
    out.write(bytes, static_cast<std::streamsize>(data.bytes().size()));
    return out.good();
  }
  uint32_t poison = unwrittenBits(data.format());
  for (size_t i = 0; i < data.size(); ++i) {
    uint32_t bits = data.isPoison(i) ? poison : data.bits(i);
    out.write(reinterpret_cast<const char *>(&bits), sizeOf(data.format()));
  }
  return out.good();
}

/// What stands between `key` and the next comma outside parentheses, without blanks; empty if the
/// key is not there. A comma after the last of several extents means nothing.
static std::string entry(std::string_view header, std::string_view key) {
  size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) {
    return {};
  }
  std::string value;
  int depth = 0;
  for (at += key.size() + 3; at < header.size(); ++at) {
    char c = header[at];
    depth += (c == '(') - (c == ')');
    if ((c == ',' || c == '}') && depth == 0) {
      break;
    }
    if (c == ')' && value.ends_with(',') && value.find(',') != value.size() - 1) {
      value.pop_back();
    }
    if (c != ' ') {
      value += c;
    }
  }
  return value;
}

/// The line that says what follows; empty if there is none.
static std::string readHeader(std::istream &in) {
  char start[8] = {};
  in.read(start, sizeof start);
  if (!in || std::string_view(start, 6) != magic.substr(0, 6) || start[6] < 1 || start[6] > 3) {
    return {};
  }
  uint32_t length = 0;
  in.read(reinterpret_cast<char *>(&length), start[6] == 1 ? 2 : 4);
  constexpr uint32_t longest = 1 << 16;
  std::string header(std::min(length, longest), ' ');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  return in ? header : std::string();
}

std::string readNpy(std::istream &in, BufferData &data) {
  std::string header = readHeader(in);
  if (header.empty()) {
    return "it is not an NPY file";
  }
  std::string type = entry(header, "descr");
  std::string own = fmt::format("'{}'", npyType(data.format()));
  bool rounds = type == "'<f4'" && !isWhole(data.format());
  if (type != own && !rounds) {
    return fmt::format("it holds {}, but {} is {}", type, toString(data.format()), own);
  }
  if (entry(header, "fortran_order") != "False") {
    return "its elements are not in C order";
  }
  std::string shape = fmt::format("'shape': {},", tupleText(data.shape()));
  if (entry(header, "shape") != entry(shape, "shape")) {
    return fmt::format("its shape is {}, but the buffer's is {}", entry(header, "shape"),
                       tupleText(data.shape()));
  }
  uint32_t size = rounds ? 4 : sizeOf(data.format());
  constexpr size_t chunk = 1 << 16;
  std::vector<char> bytes(chunk * size);
  for (size_t first = 0; first < data.size(); first += chunk) {
    size_t count = std::min(chunk, data.size() - first);
    in.read(bytes.data(), static_cast<std::streamsize>(count * size));
    if (!in) {
      return fmt::format("it ends before element {}",
                         first + static_cast<size_t>(in.gcount()) / size);
    }
    for (size_t i = 0; i < count; ++i) {
      uint32_t bits = 0;
      std::copy_n(&bytes[i * size], size, reinterpret_cast<char *>(&bits));
      data.setBits(first + i, rounds ? encode(data.format(), std::bit_cast<float>(bits)) : bits);
    }
  }
  return {};
}

} // namespace tally
