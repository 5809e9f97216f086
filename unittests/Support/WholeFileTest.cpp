//===- WholeFileTest.cpp - Files that are written whole or not at all -----===//

#include "tally/Support/WholeFile.h"
#include "tally/Support/ReadFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

using namespace tally;
namespace fs = std::filesystem;

namespace {

/// A folder that goes away with the test.
struct Folder {
  Folder() { fs::create_directory(path); }

  ~Folder() { fs::remove_all(path); }

  std::string operator/(const char *name) const { return (path / name).string(); }

  size_t numFiles() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }

  fs::path path = fs::temp_directory_path() / ("tally-whole-" + std::to_string(getpid()));
};

std::string textOf(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST(WholeFileTest, appearsWithCommit) {
  Folder folder;
  ASSERT_EQ(writeWholeFile(folder / "f", "old"), "");
  WholeFile file(folder / "f");
  file.stream() << "new";
  file.stream().flush();
  EXPECT_EQ(textOf(folder / "f"), "old");
  EXPECT_EQ(file.commit(), "");
  EXPECT_EQ(textOf(folder / "f"), "new");
  EXPECT_EQ(folder.numFiles(), 1u);
}

TEST(WholeFileTest, leavesNothingWithoutCommit) {
  Folder folder;
  {
    WholeFile file(folder / "f");
    file.stream() << "new";
  }
  EXPECT_EQ(folder.numFiles(), 0u);
}

/// Two at once into one folder do not meet.
TEST(WholeFileTest, severalAtOnce) {
  Folder folder;
  WholeFile first(folder / "a"), second(folder / "a");
  first.stream() << "first";
  second.stream() << "second";
  EXPECT_EQ(second.commit(), "");
  EXPECT_EQ(first.commit(), "");
  EXPECT_EQ(textOf(folder / "a"), "first");
  EXPECT_EQ(folder.numFiles(), 1u);
}

TEST(WholeFileTest, keepsModeAndLink) {
  Folder folder;
  ASSERT_EQ(writeWholeFile(folder / "f", "old"), "");
  chmod((folder / "f").c_str(), 0640);
  fs::create_symlink("f", folder / "link");
  ASSERT_EQ(writeWholeFile(folder / "link", "new"), "");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(textOf(folder / "f"), "new");
  struct stat status{};
  stat((folder / "f").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(WholeFileTest, saysWhyNot) {
  Folder folder;
  EXPECT_EQ(writeWholeFile(folder.path.string(), "x"), "Is a directory");
  EXPECT_EQ(writeWholeFile(folder / "none/f", "x"),
            "there can be no new file in its folder: No such file or directory");
  EXPECT_EQ(writeWholeFile("/dev/full", "x"), "No space left on device");
  EXPECT_NE(writeWholeFile("", "x"), "");
  EXPECT_EQ(folder.numFiles(), 0u);
}

TEST(WholeFileTest, devicesAreWrittenTo) {
  EXPECT_EQ(writeWholeFile("/dev/null", "x"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(WholeFileTest, makesWhatALinkLeadsTo) {
  Folder folder;
  fs::create_symlink("second", folder / "first");
  fs::create_symlink("target", folder / "second");
  EXPECT_EQ(writeWholeFile(folder / "first", "text"), "");
  EXPECT_TRUE(fs::is_symlink(folder / "first"));
  EXPECT_TRUE(fs::is_symlink(folder / "second"));
  EXPECT_EQ(textOf(folder / "target"), "text");
}

TEST(WholeFileTest, refusesLinksInACircle) {
  Folder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_EQ(writeWholeFile(folder / "a", "text"), "Too many levels of symbolic links");
  EXPECT_EQ(folder.numFiles(), 2u);
}

/// By whatever name.
TEST(WholeFileTest, keepsWhatWasRead) {
  Folder folder;
  EXPECT_EQ(writeWholeFile(folder / "input", "old"), "");
  EXPECT_EQ(readFile(folder / "input", kernelInput).text, "old");
  fs::create_symlink("input", folder / "link");
  for (const char *name : {"input", "link"}) {
    EXPECT_EQ(writeWholeFile(folder / name, "new"),
              "it is an input of this command; name another file");
  }
  EXPECT_EQ(textOf(folder / "input"), "old");
}

TEST(WholeFileTest, canRemoveWhatIsTemporary) {
  Folder folder;
  WholeFile first(folder / "first");
  WholeFile second(folder / "second");
  EXPECT_EQ(folder.numFiles(), 2u);
  removeTemporaryFiles();
  EXPECT_EQ(folder.numFiles(), 0u);
}
