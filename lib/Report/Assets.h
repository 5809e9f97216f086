//===- Assets.h - The style and script of reports -------------------------===//
//
// picture.css, page.css and page.js as text; CMake makes Assets.cpp of them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_ASSETS_H
#define TALLY_LIB_REPORT_ASSETS_H

#include <string_view>

namespace tally::report::assets {

extern const std::string_view pictureStyle;
extern const std::string_view pageStyle;
extern const std::string_view pageScript;

} // namespace tally::report::assets

#endif // TALLY_LIB_REPORT_ASSETS_H
