//===- ProgressTest.cpp - What a long command is doing --------------------===//

#include "Progress.h"
#include "Interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

using namespace tally::tool;

static void awhile() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TEST(ProgressTest, whatIsBeingDoneIsToldAgainAndAgain) {
  testing::internal::CaptureStderr();
  {
    Heartbeat heartbeat(std::chrono::milliseconds(5));
    awhile();
    nowDoing("planning");
    awhile();
  }
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.starts_with("planning (0 s)\nplanning (0 s)\n")) << text;
}

TEST(ProgressTest, aCommandThatIsDoneSoonerSaysNothing) {
  testing::internal::CaptureStderr();
  {
    Heartbeat heartbeat;
    nowDoing("planning");
  }
  nowDoing("nothing that is told");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

static std::atomic<bool> hasCome = false;

/// A signal that waits until a file is written does not come to the other thread in the meantime.
TEST(ProgressTest, signalsAreLeftToTheThreadThatWorks) {
  auto before = std::signal(SIGTERM, [](int) { hasCome = true; });
  {
    Heartbeat heartbeat;
    UninterruptedWrite write;
    kill(getpid(), SIGTERM);
    awhile();
    EXPECT_FALSE(hasCome);
  }
  EXPECT_TRUE(hasCome);
  std::signal(SIGTERM, before);
}
