//===- ReadFile.cpp - Files that are read whole, up to a limit ------------===//

#include "tally/Support/ReadFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tally {
namespace {

/// A file, whatever its name.
using FileId = std::pair<dev_t, ino_t>;

FileId idOf(const struct stat &status) {
  return {status.st_dev, status.st_ino};
}

/// Threads may read machines.
struct FilesRead {
  std::mutex mutex;
  std::vector<FileId> ids;
};

FilesRead &filesRead() {
  static FilesRead files;
  return files;
}

void remember(const struct stat &status) {
  FilesRead &files = filesRead();
  std::lock_guard lock(files.mutex);
  if (std::ranges::find(files.ids, idOf(status)) == files.ids.end()) {
    files.ids.push_back(idOf(status));
  }
}

class FileReader {
public:
  FileReader(const std::string &path, const InputKind &kind)
      : kind(kind), isStdin(path == "-"),
        file(isStdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  ~FileReader() {
    if (file >= 0 && !isStdin) {
      ::close(file);
    }
  }

  FileReader(const FileReader &) = delete;

  FileText run() {
    FileText result;
    try {
      result.problem = file < 0 ? std::strerror(errno) : readAll(result.text);
    } catch (const std::bad_alloc &) {
      result.problem = "there is not enough memory to hold it";
    }
    if (!result.problem.empty()) {
      result.text = {};
    }
    return result;
  }

private:
  std::string readAll(std::string &text) {
    size_t end = 0;
    for (size_t space = firstSpace(); end <= kind.maxBytes && space <= kind.maxBytes + 1;
         space = std::min(2 * space, kind.maxBytes + 1)) {
      text.resize(space);
      ssize_t count = 1;
      while (end < space && (count = readSome(text.data() + end, space - end)) > 0) {
        end += static_cast<size_t>(count);
      }
      if (count <= 0) {
        text.resize(end);
        return count == 0 ? "" : std::strerror(errno);
      }
    }
    return fmt::format("it is larger than {} MiB, the limit of {}; {}", kind.maxBytes >> 20,
                       kind.name, kind.wayOut);
  }

  /// One byte more than a file holds, so that its end is seen. What has no size begins small.
  size_t firstSpace() const {
    struct stat status{};
    bool hasSize = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (hasSize) {
      remember(status);
    }
    size_t size = hasSize ? static_cast<size_t>(status.st_size) : 0;
    return std::max(size + 1, size_t(1) << 12);
  }

  ssize_t readSome(char *to, size_t size) const {
    ssize_t count = 0;
    do {
      count = ::read(file, to, size);
    } while (count < 0 && errno == EINTR);
    return count;
  }

  const InputKind &kind;
  bool isStdin;
  int file;
};

} // namespace

FileText readFile(const std::string &path, const InputKind &kind) {
  return FileReader(path, kind).run();
}

bool wasRead(const std::string &path) {
  struct stat status{};
  FilesRead &files = filesRead();
  std::lock_guard lock(files.mutex);
  return stat(path.c_str(), &status) == 0 &&
         std::ranges::find(files.ids, idOf(status)) != files.ids.end();
}

} // namespace tally
