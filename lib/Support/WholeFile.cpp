//===- WholeFile.cpp - Files that are written whole or not at all ---------===//

#include "tally/Support/WholeFile.h"

#include <fmt/format.h>

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

/// Through a link to the file that it leads to.
static std::string resolved(const std::string &path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
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
  if (!temporary.empty()) {
    ::unlink(temporary.c_str());
  }
}

std::string WholeFile::open(const std::string &path) {
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return std::strerror(EISDIR);
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
  temporary = newFileIn(folder.empty() ? "." : folder, isThere ? status.st_mode & 07777 : 0);
  if (temporary.empty()) {
    return fmt::format("there can be no new file in its folder: {}", lastError());
  }
  target = path;
  out.open(temporary, std::ios::binary);
  return out.is_open() ? "" : lastError();
}

/// A stream remembers that it failed, and not why; a further character fails for the same reason.
static std::string whyItFailed(std::ofstream &out) {
  out.clear();
  errno = 0;
  out.put('\n').flush();
  return errno != 0 ? lastError() : "not all of it could be written";
}

std::string WholeFile::commit() {
  if (!problem.empty()) {
    return problem;
  }
  if (!out.flush()) {
    return whyItFailed(out);
  }
  out.close();
  if (!out) {
    return lastError();
  }
  if (!temporary.empty() && ::rename(temporary.c_str(), target.c_str()) != 0) {
    return lastError();
  }
  temporary.clear();
  return "";
}

std::string writeWholeFile(const std::string &path, std::string_view text) {
  WholeFile file(path);
  file.stream() << text;
  return file.commit();
}

} // namespace tally
