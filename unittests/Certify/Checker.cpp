//===- Checker.cpp - Running tally-certify from tests ---------------------===//

#include "Checker.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace tally {

Answer runChecker(const std::string &certificates, const std::string &option,
                  const std::string &setting) {
  // Tests may run side by side, each in a process of its own.
  std::string path = testing::TempDir() + "tally-certificates-" + std::to_string(getpid());
  std::ofstream(path) << certificates;
  std::string command = setting + std::string(TALLY_CERTIFY) + " " + option + " " + path + " 2>&1";
  Answer answer;
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe) {
    return answer;
  }
  char chunk[4096];
  while (size_t n = fread(chunk, 1, sizeof chunk, pipe)) {
    answer.output.append(chunk, n);
  }
  int status = pclose(pipe);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::remove(path.c_str());
  return answer;
}

} // namespace tally
