//===- Checker.h - Running tally-certify from tests -----------------------===//
#ifndef TALLY_UNITTESTS_CERTIFY_CHECKER_H
#define TALLY_UNITTESTS_CERTIFY_CHECKER_H

#include <string>

namespace tally {

/// What tally-certify said.
struct Answer {
  int status = -1; ///< its exit status
  std::string output;
};

/// Runs it over certificates, given as one text, with an option or none, in a shell that `setting`
/// has changed.
Answer runChecker(const std::string &certificates, const std::string &option = "",
                  const std::string &setting = "");

} // namespace tally

#endif // TALLY_UNITTESTS_CERTIFY_CHECKER_H
