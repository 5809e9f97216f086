//===- WholeFile.h - Files that are written whole or not at all -----------===//
//
// What is written goes to a file of another name in the same folder, which then takes the place of
// the old one in one step. So a reader never sees half of it, and what was there before stays
// if writing fails or ends early.
//
// What was read as input is never replaced: a slip in a command would lose it.
//
// What cannot be replaced is written to directly: pipes, devices, and all under /dev and /proc,
// such as /dev/stdout.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_WHOLEFILE_H
#define TALLY_SUPPORT_WHOLEFILE_H

#include <fstream>
#include <string>

namespace tally {

/// A file that is gone when this is, whatever ends the program, as far as it can be caught.
class TemporaryFile {
public:
  TemporaryFile() = default;

  ~TemporaryFile() { remove(); }

  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  /// The file that is there now.
  void take(std::string path);
  void remove();

  /// It has another name now, and stays.
  void release();

  /// Empty: there is none.
  const std::string &path() const { return name; }

private:
  std::string name;
};

/// Those that there are now; for handlers of signals that end the program.
void removeTemporaryFiles();

class WholeFile {
public:
  /// Begins to write. If that is not possible, commit() will say why.
  explicit WholeFile(const std::string &path);

  /// Without commit(), nothing has happened.
  ~WholeFile();

  WholeFile(const WholeFile &) = delete;
  WholeFile &operator=(const WholeFile &) = delete;

  std::ostream &stream() { return out; }

  /// No more is written. Returns why that was not possible; what was there before is still there.
  /// For several files of which none is to change if one cannot.
  std::string finish();

  /// Puts what was written into place. Returns why that is not possible; then nothing has changed.
  std::string commit();

  /// Why nothing could be written to this path, as far as that shows beforehand; nothing is
  /// changed.
  static std::string whyNot(const std::string &path);

private:
  std::string open(const std::string &path);
  std::string openBeside(const std::string &path);

  std::ofstream out;
  std::string target;      ///< what is replaced
  TemporaryFile temporary; ///< none: written to directly
  std::string problem;     ///< of opening, which sets what is above; or of writing
};

/// Writes a text as a file. Returns why that is not possible.
std::string writeWholeFile(const std::string &path, std::string_view text);

} // namespace tally

#endif // TALLY_SUPPORT_WHOLEFILE_H
