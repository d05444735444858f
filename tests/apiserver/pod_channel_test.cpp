// SPDX-License-Identifier: Apache-2.0
// The messages between a function of the kubelet and its client.
#include "apiserver/shell/pod_channel.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/error.hpp>

#include "apiserver/shell/kubelet_messages.hpp"

namespace evenkeel::apiserver::detail {
namespace pod_channel_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A channel, and the number of times that its connection was woken.
struct Rig {
  explicit Rig(PodChannelOptions options = {}) : channel(options, [this] { ++wakes; }) {}
  std::vector<std::string> sent() {
    std::vector<std::string> all;
    while (auto message = channel.next()) all.push_back(std::move(*message));
    return all;
  }
  int wakes = 0;
  PodChannel channel;
};

TEST(PodChannel, NumbersItsStreams) {
  Rig rig;
  rig.channel.begin("\x01");
  rig.channel.write("out");
  rig.channel.write_error("err");
  EXPECT_EQ(rig.wakes, 2);
  EXPECT_FALSE(rig.channel.ended());
  rig.channel.end("\x03last", std::nullopt);
  EXPECT_FALSE(rig.channel.ended()) << "something is left";
  EXPECT_THAT(rig.sent(), ElementsAre("\x01", "\x01out",
                                      "\x02"
                                      "err",
                                      "\x03last"));
  EXPECT_TRUE(rig.channel.ended());
}

TEST(PodChannel, DiscardsWhatTheClientDidNotAskFor) {
  Rig rig({.with_output = false, .with_errors = false});
  rig.channel.write("out");
  rig.channel.write_error("err");
  EXPECT_THAT(rig.sent(), IsEmpty());
}

TEST(PodChannel, JoinsTheErrorsOfATerminal) {
  Rig rig({.with_errors = false, .joins_errors = true});
  rig.channel.write_error("err");
  EXPECT_THAT(rig.sent(), ElementsAre("\x01"
                                      "err"));
}

TEST(PodChannel, ALogIsPlainAndAPortHasOneStream) {
  Rig log({.wire = PodWire::log});
  log.channel.write("a");
  log.channel.write_error("b");
  EXPECT_THAT(log.sent(), ElementsAre("a", "b"));
  Rig port({.wire = PodWire::port});
  port.channel.write("a");
  port.channel.write_error("b");
  EXPECT_THAT(port.sent(), ElementsAre(std::string("\0a", 2), std::string("\0b", 2)));
}

TEST(PodChannel, CutsLongOutputIntoMessages) {
  Rig rig;
  rig.channel.write(std::string(70'000, 'x'));
  const auto sent = rig.sent();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].size(), 32'769U);
  EXPECT_EQ(sent[2].size(), 70'000U - 2 * 32'768U + 1);
}

TEST(PodChannel, PassesInputSizesAndTheEnd) {
  Rig rig;
  EXPECT_FALSE(rig.channel.terminal_size());
  rig.channel.on_message(std::string("\0one", 4));
  rig.channel.on_message("\x04{\"Width\":120,\"Height\":40}");
  rig.channel.on_message("\x04{nonsense");
  rig.channel.on_message("");
  rig.channel.on_message("\x07what");
  rig.channel.on_message(std::string("\xff\x01", 2));
  rig.channel.on_message(std::string("\0two", 4));
  rig.channel.on_message(std::string("\xff\0", 2));
  rig.channel.on_message(std::string("\0late", 5));
  EXPECT_EQ(rig.channel.read(), "one");
  EXPECT_EQ(rig.channel.read(), "two");
  EXPECT_EQ(rig.channel.read(), std::nullopt);
  EXPECT_EQ(rig.channel.terminal_size()->width, 120);
  EXPECT_EQ(rig.channel.terminal_size()->height, 40);
  EXPECT_FALSE(rig.channel.stop_token().stop_requested()) << "only its input has ended";
}

TEST(PodChannel, HasNoInputIfNoneWasAskedFor) {
  Rig rig({.with_input = false});
  EXPECT_EQ(rig.channel.read(), std::nullopt);
  rig.channel.on_message(std::string("\0one", 4));
  EXPECT_EQ(rig.channel.read(), std::nullopt);
}

TEST(PodChannel, AClientMayBeOneMebibyteAhead) {
  Rig rig;
  const std::string half = std::string(1, '\0') + std::string(PodChannel::read_ahead / 2, 'x');
  rig.channel.on_message(half);
  EXPECT_TRUE(rig.channel.room());
  rig.channel.on_message(half);
  EXPECT_FALSE(rig.channel.room());
  EXPECT_EQ(rig.wakes, 0);
  rig.channel.read();
  EXPECT_TRUE(rig.channel.room());
  EXPECT_EQ(rig.wakes, 1) << "the connection reads on";
  rig.channel.read();
  EXPECT_EQ(rig.wakes, 1);
}

TEST(PodChannel, WhatAClientSentBeforeItWentCanBeRead) {
  Rig rig;
  rig.channel.write("unsent");
  rig.channel.on_message(std::string("\0one", 4));
  rig.channel.on_gone();
  EXPECT_TRUE(rig.channel.stop_token().stop_requested());
  EXPECT_EQ(rig.channel.read(), "one");
  EXPECT_EQ(rig.channel.read(), std::nullopt);
  EXPECT_THROW(rig.channel.write("x"), Cancelled);
  EXPECT_THROW(rig.channel.write_error("x"), Cancelled);
  EXPECT_THAT(rig.sent(), IsEmpty());
}

// Source: k8s.io/kubelet pkg/cri/streaming/remotecommand and apimachinery pkg/util/remotecommand.
TEST(KubeletMessages, AreThoseOfANode) {
  EXPECT_EQ(exit_message(0),
            "\x03"
            R"({"metadata":{},"status":"Success"})");
  EXPECT_EQ(
      exit_message(3).substr(1),
      R"({"details":{"causes":[{"message":"3","reason":"ExitCode"}]},"message":"command terminated with )"
      R"(non-zero exit code: command terminated with exit code 3","metadata":{},)"
      R"("reason":"NonZeroExitCode","status":"Failure"})");
  EXPECT_EQ(failure_message("no such program").substr(1),
            R"({"code":500,"details":{"causes":[{"message":"no such program"}]},)"
            R"("message":"Internal error occurred: no such program","metadata":{},"reason":"InternalError",)"
            R"("status":"Failure"})");
  EXPECT_EQ(port_message(data_stream, 60'000), std::string("\0\x60\xea", 3));
  EXPECT_EQ(port_message(port_error_stream, 80), std::string("\x01\x50\0", 3));
}

}  // namespace pod_channel_test
}  // namespace evenkeel::apiserver::detail
