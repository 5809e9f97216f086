//===- Runtime.h - Errors, arguments and files of programs in C++ ---------===//
//
// What `tally compile --emit=c++` writes into each file, after Arithmetic.h, Mix.h and Counters.h.
// It needs only these and the standard library.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_EXEC_RUNTIME_H
#define TALLY_LIB_EXEC_RUNTIME_H

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tally::exec::runtime {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Ends the program; nothing of the outputs is written then.
[[noreturn]] inline void fail(const std::string &message) {
  std::fflush(stdout); // of functions of the user's
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::_Exit(2);
}

/// The index, if it is from 0 to size - 1.
inline int64_t within(int64_t index, int64_t size, const char *tile) {
  if (index < 0 || index >= size) {
    fail("'" + std::string(tile) + "' lies outside its buffer: it begins at " +
         std::to_string(index) + ", and may begin at 0 to " + std::to_string(size - 1));
  }
  return index;
}

/// The number of a row, which is one of `rows`.
inline int64_t rowIndex(float number, int64_t rows, const char *buffer) {
  if (!(number >= 0 && number < static_cast<float>(rows) && number == std::floor(number))) {
    fail("row " + std::to_string(number) + " of '" + buffer + "' is taken, which has rows 0 to " +
         std::to_string(rows - 1));
  }
  return static_cast<int64_t>(number);
}

//===----------------------------------------------------------------------===//
// Indices and registers
//===----------------------------------------------------------------------===//

/// The difference, or 0 instead of less.
inline uint32_t subtractToZero(uint32_t a, uint32_t b) {
  return a > b ? a - b : 0;
}

/// What is rounded down, for a positive divisor.
inline int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

inline int64_t floorMod(int64_t a, int64_t b) {
  return a % b < 0 ? a % b + b : a % b;
}

//===----------------------------------------------------------------------===//
// What is left to run time
//===----------------------------------------------------------------------===//

/// How often a loop runs, or whether a branch is taken: what `--trips` says, or as `tally sim`
/// chooses.
struct Trips {
  const char *loop;
  const char *value; ///< a name that it may share with other loops
  uint64_t number;   ///< of the loop, for conditions
  uint64_t least;
  uint64_t most;
  uint64_t usual;
  uint64_t choices; ///< of a condition: how many it chooses from, by the seed; otherwise 0
  std::vector<uint64_t> counts;

  /// The `entry`-th time, from 1, that its statement is reached. Counts are repeated.
  int64_t at(uint64_t entry, uint64_t seed) const {
    if (!counts.empty()) {
      return static_cast<int64_t>(counts[(entry - 1) % counts.size()]);
    }
    if (choices != 0) {
      return static_cast<int64_t>(mix(mix(mix(seed ^ mix(number)) ^ entry)) % choices);
    }
    return static_cast<int64_t>(usual);
  }
};

/// A number that is one and the same throughout a run.
struct RunValue {
  const char *name;
  uint64_t least;
  uint64_t most;
  int64_t number;
};

//===----------------------------------------------------------------------===//
// Files of NumPy
//===----------------------------------------------------------------------===//

/// A buffer, and how its file describes it.
struct BufferFile {
  const char *name;
  const char *type;  ///< `<f4`
  const char *shape; ///< `(2, 128)`
  bool isNeeded;     ///< it is read before any instruction writes it
  void *bytes = nullptr;
  size_t numBytes = 0;
};

inline std::string headerOf(const BufferFile &buffer) {
  std::string text = std::string("{'descr': '") + buffer.type +
                     "', 'fortran_order': False, 'shape': " + buffer.shape + ", }";
  size_t length = (10 + text.size() + 64) / 64 * 64 - 10;
  text.resize(length - 1, ' ');
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 255);
  header += static_cast<char>(length >> 8);
  return header + text + "\n";
}

/// Without blanks, and without a comma after the last of several extents: writers of such files
/// differ in these.
inline std::string entryOf(const std::string &header, const std::string &key) {
  std::string value, quoted = "'" + key + "':";
  size_t at = header.find(quoted);
  int depth = 0;
  for (at += at == std::string::npos ? 0 : quoted.size(); at < header.size(); ++at) {
    depth += (header[at] == '(') - (header[at] == ')');
    if ((header[at] == ',' || header[at] == '}') && depth == 0) {
      break;
    }
    if (header[at] == ')' && value.find(',') + 1 < value.size() && value.back() == ',') {
      value.pop_back();
    }
    if (header[at] != ' ') {
      value += header[at];
    }
  }
  return value;
}

/// Reads the buffer's file; false if there is none.
inline bool readFile(const std::string &folder, const BufferFile &buffer) {
  std::string path = folder + "/" + buffer.name + ".npy";
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return false;
  }
  unsigned char start[10];
  if (std::fread(start, 1, 10, file) != 10 || std::memcmp(start, "\x93NUMPY\x01", 7) != 0) {
    fail("'" + path + "': it is not an NPY file of version 1");
  }
  std::string header(start[8] + 256 * start[9], ' ');
  if (std::fread(header.data(), 1, header.size(), file) != header.size()) {
    fail("'" + path + "': it ends in its header");
  }
  std::string own = headerOf(buffer).substr(10);
  for (const char *key : {"descr", "fortran_order", "shape"}) {
    if (entryOf(header, key) != entryOf(own, key)) {
      fail("'" + path + "': its " + key + " is " + entryOf(header, key) + ", but the buffer's is " +
           entryOf(own, key));
    }
  }
  if (std::fread(buffer.bytes, 1, buffer.numBytes, file) != buffer.numBytes) {
    fail("'" + path + "': it ends before the last element");
  }
  std::fclose(file);
  return true;
}

inline bool writePart(const std::string &path, const BufferFile &buffer) {
  std::string header = headerOf(buffer);
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool isWritten = file != nullptr &&
                   std::fwrite(header.data(), 1, header.size(), file) == header.size() &&
                   std::fwrite(buffer.bytes, 1, buffer.numBytes, file) == buffer.numBytes;
  return (file == nullptr || std::fclose(file) == 0) && isWritten;
}

/// Writes next to the files first, so that all of them are there, and whole, or none.
inline void writeFiles(const std::string &folder, const std::vector<BufferFile> &buffers) {
  std::error_code error; // of the folder, a file says it
  std::filesystem::create_directories(folder, error);
  auto pathOf = [&](const BufferFile &buffer) { return folder + "/" + buffer.name + ".npy"; };
  std::string problem;
  for (size_t i = 0; i < buffers.size() && problem.empty(); ++i) {
    std::string path = pathOf(buffers[i]);
    if (std::filesystem::is_directory(path, error)) {
      problem = "cannot write '" + path + "': it is a folder";
    } else if (!writePart(path + ".part", buffers[i])) {
      problem = "cannot write '" + path + "': " + std::strerror(errno);
    }
  }
  for (const BufferFile &buffer : buffers) {
    std::string path = pathOf(buffer), part = path + ".part";
    if (!problem.empty()) {
      std::remove(part.c_str());
    } else if (std::rename(part.c_str(), path.c_str()) != 0) {
      problem = "cannot write '" + path + "': " + std::strerror(errno);
      std::remove(part.c_str());
    }
  }
  if (!problem.empty()) {
    fail(problem);
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

class Program {
public:
  template <typename T>
  void addBuffer(std::vector<T> &elements, size_t size, uint32_t unwritten, BufferFile file) {
    rooms.push_back([this, &elements, size, unwritten, file]() mutable {
      T bits;
      std::memcpy(&bits, &unwritten, sizeof bits);
      elements.assign(size, bits);
      file.bytes = elements.data();
      file.numBytes = size * sizeof(T);
      files.push_back(file);
    });
  }

  /// Of the user's program, which may have filled it.
  template <typename T>
  void addArray(std::vector<T> &elements, size_t size, uint32_t unwritten, const char *name) {
    if (elements.empty()) {
      T bits;
      std::memcpy(&bits, &unwritten, sizeof bits);
      elements.assign(size, bits);
    } else if (elements.size() != size) {
      fail("'" + std::string(name) + "' is to have " + std::to_string(size) +
           " elements, or none before the run, not " + std::to_string(elements.size()));
    }
  }

  template <typename T> void addRoom(std::vector<T> &elements, size_t size) {
    rooms.push_back([&elements, size] { elements.assign(size, 0); });
  }

  void addCounter(Counter &counter, uint32_t first) {
    resets.push_back([&counter, first] { counter.reset(first); });
  }

  template <typename AnyQueue> void addQueue(AnyQueue &queue) {
    resets.push_back([&queue] {
      queue.~AnyQueue();
      new (&queue) AnyQueue();
    });
  }

  void addTrips(Trips &each) { trips.push_back(&each); }

  void addValue(RunValue &value) { values.push_back(&value); }

  void addThread(void (*function)()) { functions.push_back(function); }

  int run(int argc, char **argv, uint64_t &seed) {
    try {
      prepare(argc, argv, seed);
      runAll();
    } catch (const std::bad_alloc &) {
      fail("out of memory");
    }
    if (!outputs.empty()) {
      writeFiles(outputs, files);
    }
    return 0;
  }

  /// How often loops of this name or value run, or what a value is.
  void set(const std::string &name, uint64_t count) {
    setValue(name, {count}) || setTrips(name, {count});
  }

  /// For a program of the user's, which has said all by functions.
  void run() {
    makeRooms();
    resetAll();
    runThreads();
  }

protected:
  /// Until threads can run.
  void prepare(int argc, char **argv, uint64_t &seed) {
    for (int i = 1; i < argc; ++i) {
      readArgument(argv[i], seed);
    }
    makeRooms();
    readFiles();
    for (size_t i = 0; repeat != 1 && i < files.size(); ++i) {
      const char *bytes = static_cast<const char *>(files[i].bytes);
      first.emplace_back(bytes, bytes + files[i].numBytes);
    }
  }

  /// As it was after prepare(), if it runs several times.
  void restore() {
    for (size_t i = 0; i < files.size(); ++i) {
      std::copy(first[i].begin(), first[i].end(), static_cast<char *>(files[i].bytes));
    }
    resetAll();
  }

  void makeRooms() {
    for (const std::function<void()> &make : rooms) {
      make();
    }
  }

  void resetAll() {
    for (const std::function<void()> &reset : resets) {
      reset();
    }
  }

  void runThreads() {
    expectThreads(functions.size());
    Watch watch(functions.size());
    size_t numRunning = functions.size();
    std::mutex lock;
    std::condition_variable hasEnded;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < functions.size(); ++i) {
      try {
        threads.emplace_back([&, i] {
          watch.begin(i);
          functions[i]();
          watch.end();
          std::lock_guard<std::mutex> guard(lock);
          numRunning -= 1;
          hasEnded.notify_one();
        });
      } catch (const std::system_error &error) {
        fail(std::string("cannot start a thread: ") + error.what()); // others wait for it already
      }
    }
    std::unique_lock<std::mutex> guard(lock);
    auto haveAllEnded = [&] { return numRunning == 0; };
    auto soon = [] { return std::chrono::system_clock::now() + std::chrono::milliseconds(50); };
    while (!hasEnded.wait_until(guard, soon(), haveAllEnded)) {
      if (watch.areStuck()) {
        fail("deadlock: each thread waits for another, and none can go on; 'tally check --race' "
             "says why");
      }
    }
    guard.unlock();
    for (std::thread &thread : threads) {
      thread.join();
    }
  }

  std::vector<BufferFile> files;
  std::vector<void (*)()> functions;
  uint64_t repeat = 1;

private:
  /// With --repeat, prints how long runs took.
  void runAll() {
    std::vector<double> times;
    for (uint64_t i = 0; i < repeat; ++i) {
      if (i != 0) {
        restore();
      }
      auto begin = std::chrono::steady_clock::now();
      runThreads();
      std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    if (repeat != 1) {
      std::printf("%zu runs: median %.3f ms, least %.3f ms, most %.3f ms\n", times.size(),
                  times[times.size() / 2], times.front(), times.back());
    }
  }

  void readArgument(const std::string &argument, uint64_t &seed) {
    size_t equals = argument.find('=');
    std::string option = argument.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (option == "--inputs") {
      inputs = value;
    } else if (option == "--outputs") {
      outputs = value;
    } else if (option == "--guards") {
      seed = numberFrom(value);
    } else if (option == "--repeat") {
      repeat = numberFrom(value);
      if (repeat == 0) {
        fail("'--repeat=0': it must be at least 1");
      }
    } else if (option == "--trips") {
      readTrips(value);
    } else {
      fail("unknown argument '" + argument +
           "'; there are --inputs=FOLDER, --outputs=FOLDER, --trips=NAME=N, --guards=SEED and "
           "--repeat=N");
    }
  }

  static uint64_t numberFrom(const std::string &text) {
    char *end = nullptr;
    errno = 0;
    uint64_t number = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end != 0) {
      fail("'" + text + "' is not a number");
    }
    if (errno != 0) {
      fail("'" + text + "' is more than 64 bits hold");
    }
    return number;
  }

  /// `A=3,0,4`: a value, a loop, or all loops of that value.
  void readTrips(const std::string &text) {
    size_t equals = text.rfind('=');
    std::string name = text.substr(0, equals);
    std::vector<uint64_t> counts;
    for (size_t at = equals; at < text.size();) {
      size_t comma = std::min(text.find(',', at + 1), text.size());
      counts.push_back(numberFrom(text.substr(at + 1, comma - at - 1)));
      at = comma;
    }
    if (counts.empty() || !(setValue(name, counts) || setTrips(name, counts))) {
      fail("'--trips=" + text + "': no loop, branch or run-time value can be set so");
    }
  }

  bool setValue(const std::string &name, const std::vector<uint64_t> &counts) {
    for (RunValue *value : values) {
      if (name == value->name && counts.size() == 1) {
        checkBounds(name, counts[0], value->least, value->most);
        value->number = static_cast<int64_t>(counts[0]);
        return true;
      }
    }
    return false;
  }

  bool setTrips(const std::string &name, const std::vector<uint64_t> &counts) {
    bool isLoop = std::any_of(trips.begin(), trips.end(),
                              [&](const Trips *each) { return name == each->loop; });
    bool isFound = false;
    for (Trips *each : trips) {
      if (name == (isLoop ? each->loop : each->value)) {
        for (uint64_t count : counts) {
          checkBounds(name, count, each->least, each->most);
        }
        each->counts = counts;
        isFound = true;
      }
    }
    return isFound;
  }

  static void checkBounds(const std::string &name, uint64_t count, uint64_t least, uint64_t most) {
    if (count < least || count > most) {
      fail("'" + name + "' is from " + std::to_string(least) + " to " + std::to_string(most) +
           ", not " + std::to_string(count));
    }
  }

  void readFiles() {
    std::error_code ignored;
    if (!inputs.empty() && !std::filesystem::is_directory(inputs, ignored)) {
      fail("'" + inputs + "' is not a folder");
    }
    bool isMissing = false;
    for (const BufferFile &file : files) {
      if (!(!inputs.empty() && readFile(inputs, file)) && file.isNeeded) {
        std::fprintf(stderr,
                     "error: buffer '%s' is read, and nothing writes it before; give it as "
                     "%s.npy in the folder of --inputs\n",
                     file.name, file.name);
        isMissing = true;
      }
    }
    if (isMissing) {
      std::_Exit(2);
    }
  }

  std::vector<std::function<void()>> rooms, resets;
  std::vector<std::vector<char>> first; ///< what files held
  std::vector<Trips *> trips;
  std::vector<RunValue *> values;
  std::string inputs, outputs;
};

} // namespace tally::exec::runtime

#endif // TALLY_LIB_EXEC_RUNTIME_H
