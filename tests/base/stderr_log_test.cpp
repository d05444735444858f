// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/stderr_log.hpp>

namespace evenkeel {
namespace {

using ::testing::MatchesRegex;

TEST(StderrLog, WritesOneLineForEachMessageOfItsLevel) {
  const Log log = stderr_log(LogLevel::warn).with({{"lease", "apps/demo"}});
  ::testing::internal::CaptureStderr();
  log.info("not written");
  log.warn("cannot be read", {{"attempt", 2}, {"error", "no answer"}});
  EXPECT_TRUE(log.set_level(LogLevel::off));
  log.error("not written");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              MatchesRegex("[0-9-]+T[0-9:.]+Z WARN  cannot be read lease=apps/demo attempt=2 "
                           "error=\"no answer\"\n"));
}

}  // namespace
}  // namespace evenkeel
