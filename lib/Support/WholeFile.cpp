//===- WholeFile.cpp - Files that are written whole or not at all ---------===//

#include "tally/Support/WholeFile.h"

#include "tally/Support/ReadFile.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tally {

namespace fs = std::filesystem;

static std::string lastError() {
  return std::strerror(errno);
}

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

/// A handler of signals may not wait for a lock.
static std::array<std::atomic<const char *>, 256> temporaries;

static void replaceTemporary(const char *from, const char *to) {
  for (std::atomic<const char *> &place : temporaries) {
    const char *expected = from;
    if (place.compare_exchange_strong(expected, to)) {
      return;
    }
  }
}

void TemporaryFile::take(std::string path) {
  remove();
  name = std::move(path);
  if (!name.empty()) {
    replaceTemporary(nullptr, name.c_str());
  }
}

void TemporaryFile::remove() {
  if (!name.empty()) {
    ::unlink(name.c_str());
  }
  release();
}

void TemporaryFile::release() {
  if (!name.empty()) {
    replaceTemporary(name.c_str(), nullptr);
  }
  name.clear();
}

void removeTemporaryFiles() {
  for (std::atomic<const char *> &place : temporaries) {
    if (const char *name = place.load()) {
      ::unlink(name);
    }
  }
}

//===----------------------------------------------------------------------===//
// Whole files
//===----------------------------------------------------------------------===//

/// Through links to the file that they lead to, which need not be there.
static std::string resolved(const std::string &path) {
  constexpr int mostLinks = 40; // as the kernel follows
  fs::path at = path;
  std::error_code error;
  for (int links = 0; links < mostLinks && fs::is_symlink(at, error); ++links) {
    at = at.parent_path() / fs::read_symlink(at, error);
  }
  return at.string();
}

static bool mayBeReplaced(const std::string &path) {
  struct stat status{};
  bool isSpecial = path.starts_with("/dev/") || path.starts_with("/proc/");
  return !isSpecial && (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode));
}

/// A new file in the folder, which nothing else uses; empty, with errno, if there cannot be one.
static std::string newFileIn(const fs::path &folder, mode_t mode) {
  for (unsigned i = 0; i < 1000; ++i) {
    std::string path = (folder / fmt::format(".tally-{}-{}.tmp", getpid(), i)).string();
    int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0) {
      bool keepsMode = mode == 0 || fchmod(file, mode) == 0;
      ::close(file);
      return keepsMode ? path : (::unlink(path.c_str()), "");
    }
    if (errno != EEXIST) {
      return "";
    }
  }
  return "";
}

WholeFile::WholeFile(const std::string &path) : problem(open(path)) {}

/// A pipe is not opened: its reader would see it end.
std::string WholeFile::whyNot(const std::string &path) {
  bool isFolder = fs::is_directory(path);
  if (isFolder || mayBeReplaced(path)) {
    return WholeFile(path).problem;
  }
  return ::access(path.c_str(), W_OK) == 0 ? "" : lastError();
}

WholeFile::~WholeFile() {
  out.close();
}

std::string WholeFile::open(const std::string &path) {
  struct stat status{};
  bool isThere = stat(path.c_str(), &status) == 0;
  if (isThere && S_ISDIR(status.st_mode)) {
    return std::strerror(EISDIR);
  }
  if (!isThere && errno != ENOENT) {
    return lastError();
  }
  if (wasRead(path)) {
    return "it is an input of this command; name another file";
  }
  if (mayBeReplaced(path)) {
    return openBeside(resolved(path));
  }
  out.open(path, std::ios::binary);
  return out.is_open() ? "" : lastError();
}

std::string WholeFile::openBeside(const std::string &path) {
  struct stat status{};
  bool isThere = stat(path.c_str(), &status) == 0;
  if (isThere && access(path.c_str(), W_OK) != 0) {
    return lastError();
  }
  fs::path folder = fs::path(path).parent_path();
  temporary.take(newFileIn(folder.empty() ? "." : folder, isThere ? status.st_mode & 07777 : 0));
  if (temporary.path().empty()) {
    return fmt::format("there can be no new file in its folder: {}", lastError());
  }
  target = path;
  out.open(temporary.path(), std::ios::binary);
  return out.is_open() ? "" : lastError();
}

/// A stream remembers that it failed, and not why; a further character fails for the same reason.
static std::string whyItFailed(std::ofstream &out) {
  out.clear();
  errno = 0;
  out.put('\n').flush();
  return errno != 0 ? lastError() : "not all of it could be written";
}

std::string WholeFile::finish() {
  if (problem.empty() && out.is_open()) {
    problem = out.flush() ? "" : whyItFailed(out);
    out.close();
    problem = problem.empty() && !out ? lastError() : problem;
  }
  return problem;
}

std::string WholeFile::commit() {
  if (!finish().empty()) {
    return problem;
  }
  if (!temporary.path().empty() && ::rename(temporary.path().c_str(), target.c_str()) != 0) {
    return lastError();
  }
  temporary.release();
  return "";
}

std::string writeWholeFile(const std::string &path, std::string_view text) {
  WholeFile file(path);
  file.stream() << text;
  return file.commit();
}

} // namespace tally
