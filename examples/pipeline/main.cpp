// Frames of a film are decoded from files, smoothed, reduced and written, by threads that work on
// different frames at a time. They are synchronised in four ways, which docs/guide/Pipeline.md
// compares: by barriers, by semaphores of the standard library, as tasks of OpenMP, and by tally.
//
//   pipeline [FRAMES [SIDE [THREADS [RUNS [FOLDER]]]]]
//
// FRAMES of SIDE * SIDE bytes, 8 to 1024, on 2 or 3 THREADS. With RUNS, it tells how long they
// took.

#include "three.h"
#include "two.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int64_t ring = 4;              // of frames between two stages
constexpr int64_t largest = 1024 * 1024; // a frame

int64_t frames = 12;
int64_t side = 64;
int threads = 3;
fs::path folder;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

using Bytes = std::vector<uint8_t>;

fs::path fileOf(int64_t frame, const char *kind) {
  return folder / (std::to_string(frame) + kind);
}

Bytes contentsOf(const fs::path &path) {
  Bytes bytes(fs::file_size(path));
  std::FILE *file = std::fopen(path.c_str(), "rb");
  bool isRead = file && std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (!isRead) {
    std::fprintf(stderr, "error: cannot read '%s'\n", path.c_str());
    std::exit(2);
  }
  std::fclose(file);
  return bytes;
}

void write(const fs::path &path, const Bytes &bytes) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool isWritten = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (!isWritten || std::fclose(file) != 0) {
    std::fprintf(stderr, "error: cannot write '%s'\n", path.c_str());
    std::exit(2);
  }
}

/// From pairs of a number and a byte that is repeated as often.
void decode(int64_t frame, uint8_t *raw) {
  Bytes pairs = contentsOf(fileOf(frame, ".runs"));
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    raw = std::fill_n(raw, pairs[i], pairs[i + 1]);
  }
}

/// Each byte becomes the mean of nine.
void blur(const uint8_t *raw, uint8_t *smooth) {
  std::copy_n(raw, side * side, smooth); // the edge stays
  for (int64_t y = 1; y + 1 < side; ++y) {
    for (int64_t x = 1; x + 1 < side; ++x) {
      const uint8_t *at = raw + y * side + x;
      int sum = 0;
      for (const uint8_t *row : {at - side, at, at + side}) {
        sum += row[-1] + row[0] + row[1];
      }
      smooth[y * side + x] = static_cast<uint8_t>(sum / 9);
    }
  }
}

/// Squares of 8 * 8 bytes become one.
void reduce(int64_t frame, const uint8_t *smooth) {
  Bytes small;
  for (int64_t y = 0; y < side; y += 8) {
    for (int64_t x = 0; x < side; x += 8) {
      int sum = 0;
      for (int64_t i = 0; i < 64; ++i) {
        sum += smooth[(y + i / 8) * side + x + i % 8];
      }
      small.push_back(static_cast<uint8_t>(sum / 64));
    }
  }
  write(fileOf(frame, ".small"), small);
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

uint8_t *rawOf(int64_t frame) {
  static auto bytes = std::make_unique<uint8_t[]>(ring * largest);
  return bytes.get() + frame % ring * largest;
}

uint8_t *smoothOf(int64_t frame) {
  static auto bytes = std::make_unique<uint8_t[]>(ring * largest);
  return bytes.get() + frame % ring * largest;
}

/// What one of the threads does to a frame; on two threads, the last one does two stages.
void work(int thread, int64_t frame) {
  if (thread == 0) {
    decode(frame, rawOf(frame));
  }
  if (thread == 1) {
    blur(rawOf(frame), smoothOf(frame));
  }
  if (thread == threads - 1) {
    reduce(frame, smoothOf(frame));
  }
}

void startAll(const std::function<void(int)> &function) {
  std::vector<std::jthread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back(function, thread);
  }
}

void inOneThread() {
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (int thread = 0; thread < threads; ++thread) {
      work(thread, frame);
    }
  }
}

/// In each step, a thread works on the frame behind that of the thread before it.
void withBarriers() {
  std::barrier barrier(threads);
  startAll([&](int thread) {
    for (int64_t frame = -thread; frame < frames + threads - 1 - thread; ++frame) {
      if (0 <= frame && frame < frames) {
        work(thread, frame);
      }
      barrier.arrive_and_wait();
    }
  });
}

/// Two semaphores for each ring: how many frames it has, and how many it has room for.
void withSemaphores() {
  struct Ring {
    std::counting_semaphore<ring> full{0}, empty{ring};
  };

  std::array<Ring, 2> rings;
  startAll([&](int thread) {
    Ring *from = thread == 0 ? nullptr : &rings[thread - 1];
    Ring *to = thread == threads - 1 ? nullptr : &rings[thread];
    for (int64_t frame = 0; frame < frames; ++frame) {
      if (from) {
        from->full.acquire();
      }
      if (to) {
        to->empty.acquire();
      }
      work(thread, frame);
      if (from) {
        from->empty.release();
      }
      if (to) {
        to->full.release();
      }
    }
  });
}

#ifdef _OPENMP
/// A stage of a frame is a task. Any thread does it, so a stage may work on several frames.
void withTasks() {
  [[maybe_unused]] char raw[ring], smooth[ring];
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int64_t frame = 0; frame < frames; ++frame) {
    [[maybe_unused]] int64_t slot = frame % ring;
#pragma omp task depend(out : raw[slot])
    decode(frame, rawOf(frame));
#pragma omp task depend(in : raw[slot]) depend(out : smooth[slot])
    blur(rawOf(frame), smoothOf(frame));
#pragma omp task depend(in : smooth[slot])
    reduce(frame, smoothOf(frame));
  }
}
#else
void withTasks() {
  inOneThread();
}
#endif

} // namespace

//===----------------------------------------------------------------------===//
// By tally
//===----------------------------------------------------------------------===//

void three::decode(int64_t frame, uint8_t *raw) {
  ::decode(frame, raw);
}

void three::blur(int64_t, const uint8_t *raw, uint8_t *smooth) {
  ::blur(raw, smooth);
}

void three::reduce(int64_t frame, const uint8_t *smooth) {
  ::reduce(frame, smooth);
}

void two::decode(int64_t frame, uint8_t *raw) {
  ::decode(frame, raw);
}

void two::blur(int64_t, const uint8_t *raw, uint8_t *smooth) {
  ::blur(raw, smooth);
}

void two::reduce(int64_t frame, const uint8_t *smooth) {
  ::reduce(frame, smooth);
}

namespace {

void withTally() {
  threads == 3 ? three::run(frames) : two::run(frames);
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

/// A bright square on a ground that is plain in some frames and noisy in others, so that some are
/// decoded fast and others slowly.
void writeFilm() {
  uint32_t noise = 1;
  for (int64_t frame = 0; frame < frames; ++frame) {
    Bytes pairs;
    for (int64_t i = 0; i < side * side; ++i) {
      noise = noise * 1664525 + 1013904223;
      bool isNoisy = (noise >> 24) < static_cast<uint32_t>(frame * 37 % 256);
      bool isBright = (i % side + frame) / 16 % 4 == 0 && i / side / 16 % 4 == 0;
      auto byte = static_cast<uint8_t>((isBright ? 200 : 40) + (isNoisy ? noise >> 27 : 0));
      if (!pairs.empty() && pairs.back() == byte && pairs[pairs.size() - 2] < 255) {
        ++pairs[pairs.size() - 2];
      } else {
        pairs.insert(pairs.end(), {1, byte});
      }
    }
    write(fileOf(frame, ".runs"), pairs);
  }
}

/// What was written, as one number; files are then gone.
uint64_t takeResult() {
  uint64_t hash = 1469598103934665603;
  for (int64_t frame = 0; frame < frames; ++frame) {
    for (uint8_t byte : contentsOf(fileOf(frame, ".small"))) {
      hash = (hash ^ byte) * 1099511628211;
    }
    fs::remove(fileOf(frame, ".small"));
  }
  return hash;
}

struct Way {
  const char *name;
  void (*run)();
  std::vector<double> times = {}; ///< in milliseconds
};

/// By turns, so that what disturbs this computer disturbs all alike. False if results differ.
bool compare(std::vector<Way> &ways, int runs) {
  inOneThread();
  uint64_t expected = takeResult();
  for (int i = 0; i < std::max(runs, 1); ++i) {
    for (Way &way : ways) {
      auto begin = std::chrono::steady_clock::now();
      way.run();
      std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      way.times.push_back(time.count());
      if (takeResult() != expected) {
        std::printf("%s: another result\n", way.name);
        return false;
      }
    }
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  auto number = [&](int i, int64_t otherwise) {
    return i < argc ? std::atoll(argv[i]) : otherwise;
  };
  frames = number(1, frames);
  side = number(2, side);
  threads = static_cast<int>(number(3, threads));
  auto runs = static_cast<int>(number(4, 0));
  if (frames < 1 || side < 8 || side > 1024 || side % 8 != 0 || threads < 2 || threads > 3) {
    std::fputs("error: there are to be: FRAMES, SIDE (8, 16, ..., 1024), THREADS (2, 3), RUNS\n",
               stderr);
    return 2;
  }
  std::string own = (fs::temp_directory_path() / "pipeline-XXXXXX").string();
  folder = argc > 5 ? argv[5] : mkdtemp(own.data());
  writeFilm();
  std::vector<Way> ways = {{"one thread", inOneThread},
                           {"barriers", withBarriers},
                           {"semaphores", withSemaphores},
                           {"OpenMP tasks", withTasks},
                           {"tally", withTally}};
  bool isEqual = compare(ways, runs);
  for (Way &way : ways) {
    std::sort(way.times.begin(), way.times.end());
    if (runs != 0 && isEqual) {
      std::printf("%-14s%10.1f ms (%.1f to %.1f)\n", way.name, way.times[way.times.size() / 2],
                  way.times.front(), way.times.back());
    }
  }
  if (isEqual) {
    std::printf("%zu ways, and one result\n", ways.size());
  }
  for (int64_t frame = 0; frame < frames; ++frame) {
    fs::remove(fileOf(frame, ".runs"));
  }
  fs::remove(argc > 5 ? fs::path() : folder);
  return isEqual ? 0 : 1;
}
