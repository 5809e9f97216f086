//===- ReadFileTest.cpp - Files that are read whole, up to a limit --------===//

#include "tally/Support/ReadFile.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tally;
namespace fs = std::filesystem;

namespace {

constexpr InputKind smallInput{"a test", 3 << 20, "say less"};

/// A path that is free before and after the test.
class ReadFileTest : public ::testing::Test {
protected:
  void TearDown() override { fs::remove(path); }

  FileText readWith(const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
    return readFile(path, smallInput);
  }

  const std::string path =
      (fs::temp_directory_path() / ("tally-read-" + std::to_string(getpid()))).string();
};

} // namespace

TEST_F(ReadFileTest, readsUpToItsLimit) {
  for (size_t size : {size_t(0), size_t(1), size_t(4095), size_t(4096), smallInput.maxBytes}) {
    FileText file = readWith(std::string(size, 'x'));
    EXPECT_EQ(file.problem, "") << size;
    EXPECT_EQ(file.text, std::string(size, 'x'));
  }
}

TEST_F(ReadFileTest, refusesMore) {
  FileText file = readWith(std::string(smallInput.maxBytes + 1, 'x'));
  EXPECT_EQ(file.problem, "it is larger than 3 MiB, the limit of a test; say less");
  EXPECT_EQ(file.text, "");
}

TEST_F(ReadFileTest, refusesDevicesThatGoOn) {
  FileText file = readFile("/dev/zero", smallInput);
  EXPECT_EQ(file.problem, "it is larger than 3 MiB, the limit of a test; say less");
}

/// A pipe gives little at a time, and has no size.
TEST_F(ReadFileTest, readsPipes) {
  for (size_t size : {size_t(100'000), smallInput.maxBytes, smallInput.maxBytes + 1}) {
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << std::string(size, 'x'); });
    FileText file = readFile(path, smallInput);
    int rest = ::open(path.c_str(), O_RDONLY | O_NONBLOCK); // a writer may still be at it
    writer.join();
    ::close(rest);
    EXPECT_EQ(file.problem.empty(), size <= smallInput.maxBytes) << size;
    EXPECT_EQ(file.text.size(), size <= smallInput.maxBytes ? size : 0);
    fs::remove(path);
  }
}

TEST_F(ReadFileTest, saysWhatIsWrong) {
  EXPECT_EQ(readFile(path, smallInput).problem, "No such file or directory");
  EXPECT_EQ(readFile("/", smallInput).problem, "Is a directory");
}

TEST_F(ReadFileTest, remembersWhatItRead) {
  EXPECT_FALSE(wasRead(path));
  readWith("x");
  EXPECT_TRUE(wasRead(path));
  std::string other = path + "-link";
  fs::create_hard_link(path, other);
  EXPECT_TRUE(wasRead(other));
  fs::remove(other);
}
