// SPDX-License-Identifier: Apache-2.0
// Processes and directories that end with their creator, in whatever way it ends.
#include "testing/control_plane/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>

#include "../support/await.hpp"

namespace {

namespace ek = evenkeel;
using ek::testing::ChildProcess;
using ek::testing::ProcessKeeper;
using ek::tests::await;

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// Zombies do not count.
bool lives(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  return text.at(text.rfind(')') + 2) != 'Z';
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The resources of the creator, as reported by it.
struct Made {
  std::string directory = {};
  pid_t child = -1;
  pid_t grandchild = -1;
};

/// Forks a creator of a directory and of a child with a child, which ignore all signals that can be ignored;
/// it ends by `end`.
template <class End>
Made make_and_end(End end) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t maker = ::fork();
  if (maker == 0) {
    ProcessKeeper keeper;
    ChildProcess child;
    const std::string pids = keeper.directory() + "/pids";
    child.start(
        {"/bin/sh", "-c",
         "trap '' HUP INT TERM; (while :; do sleep 1; echo more >> $0.more; done) & echo $$ $! > $0; wait",
         pids},
        keeper.directory() + "/log", keeper.group());
    await("the child's pids", [&] { return content(pids).ends_with("\n"); });
    const std::string told = keeper.directory() + " " + content(pids);
    if (::write(ends[1], told.data(), told.size()) < 0) std::abort();
    ::close(ends[1]);
    end(keeper);
    std::_Exit(0);
  }
  ::close(ends[1]);
  std::string told;
  for (char letter = 0; ::read(ends[0], &letter, 1) == 1;) told += letter;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(maker, &status, 0);
  Made made;
  std::istringstream(told) >> made.directory >> made.child >> made.grandchild;
  return made;
}

void expect_nothing_left(const Made& made) {
  ASSERT_GT(made.grandchild, 0) << "the maker did not come so far";
  await("the child to be killed", [&] { return !lives(made.child); });
  await("the grandchild to be killed", [&] { return !lives(made.grandchild); });
  await("the directory to be removed", [&] { return !exists(made.directory); });
}

TEST(ProcessKeeper, LeavesNothingWhenItsProcessIsKilled) {
  expect_nothing_left(make_and_end([](const ProcessKeeper&) { ::kill(::getpid(), SIGKILL); }));
}

TEST(ProcessKeeper, LeavesNothingWhenItsProcessAborts) {
  expect_nothing_left(make_and_end([](const ProcessKeeper&) {
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
  }));
}

TEST(ProcessKeeper, LeavesNothingWhenItsProcessExitsWithoutDestructors) {
  expect_nothing_left(make_and_end([](const ProcessKeeper&) {}));
}

TEST(ProcessKeeper, IsNotTouchedByWhatEndsATerminalsJob) {
  expect_nothing_left(make_and_end([](const ProcessKeeper& keeper) {
    for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGQUIT}) ::kill(keeper.group(), number);
    ::kill(::getpid(), SIGKILL);
  }));
}

TEST(ProcessKeeper, HasAGroupOfItsOwn) {
  const ProcessKeeper keeper;
  EXPECT_EQ(::getpgid(keeper.group()), keeper.group());
}

TEST(ProcessKeeper, RemovesTheDirectoryAndItselfWhenItFinishes) {
  ProcessKeeper keeper;
  const pid_t group = keeper.group();
  const std::string directory = keeper.directory();
  std::ofstream(directory + "/file") << "text";
  keeper.finish();
  EXPECT_FALSE(exists(directory));
  EXPECT_FALSE(lives(group));
  keeper.finish();
}

TEST(ProcessKeeper, FinishesWhenTheKeeperWasKilled) {
  ProcessKeeper keeper;
  ::kill(keeper.group(), SIGKILL);
  await("the keeper to end", [&] { return !lives(keeper.group()); });
  const std::string directory = keeper.directory();
  keeper.finish();
  EXPECT_FALSE(exists(directory));
}

TEST(ChildProcess, TellsHowItEnded) {
  const ProcessKeeper keeper;
  const std::string log = keeper.directory() + "/log";
  ChildProcess child;
  EXPECT_FALSE(child.running());
  child.start({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, log, keeper.group());
  await("the child to end", [&] { return !child.running(); });
  EXPECT_EQ(child.ending(), "ended with code 3");
  EXPECT_EQ(content(log), "out\nerr\n");
  child.start({"/bin/sh", "-c", "echo again; exec sleep 1000"}, log, keeper.group());
  EXPECT_TRUE(child.running());
  await("its output", [&] { return content(log) == "out\nerr\nagain\n"; });
  child.kill();
  EXPECT_FALSE(child.running());
  EXPECT_EQ(child.ending(), "was killed by signal 9");
  child.kill();
}

TEST(ChildProcess, NamesWhatCannotBeStarted) {
  const ProcessKeeper keeper;
  ChildProcess child;
  try {
    child.start({"/no/such/program"}, keeper.directory() + "/log", keeper.group());
    FAIL() << "it was started";
  } catch (const ek::Error& error) {
    EXPECT_STREQ(error.what(), "/no/such/program: cannot be started: No such file or directory");
  }
}

}  // namespace
