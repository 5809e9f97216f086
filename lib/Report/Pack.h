//===- Pack.h - Much data in little text ----------------------------------===//
#ifndef TALLY_LIB_REPORT_PACK_H
#define TALLY_LIB_REPORT_PACK_H

#include <string>
#include <string_view>

namespace tally::report {

/// Compressed by zlib, in base 64: what a browser's DecompressionStream("deflate") reads.
std::string pack(std::string_view data);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_PACK_H
