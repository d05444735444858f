// SPDX-License-Identifier: Apache-2.0
// A reflector that a test drives by hand, in virtual time, without a server.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include <evenkeel/cache/reflector.hpp>

namespace evenkeel::reflector_tests {

using namespace std::chrono_literals;
using Kind = ReflectorFailure::Kind;

inline WireObject object(const std::string& name, const std::string& version, const std::string& uid = "u") {
  return WireScanner().object(R"({"metadata":{"name":")" + name + R"(","uid":")" + uid +
                              R"(","resourceVersion":")" + version + R"("}})");
}

inline WireEvent event(WatchType type, const std::string& name, const std::string& version) {
  return {.type = type, .object = object(name, version), .error = {}};
}

inline WireEvent error_event(int code, const std::string& reason = "") {
  return {.type = WatchType::error, .object = {}, .error = {.code = code, .reason = reason}};
}

inline ReflectorFailure refused(int code, const std::string& reason = "") {
  return {.kind = Kind::refused, .message = "", .status = {.code = code, .reason = reason}};
}
inline ReflectorFailure of(Kind kind) {
  return {.kind = kind, .message = "what happened", .status = {}};
}

/// Options of tests of lists in pages; streaming lists have tests of their own.
inline ReflectorOptions paged(ReflectorOptions options = {}) {
  options.streaming_list = false;
  return options;
}

/// A reflector with helpers to drive it.
struct Rig {
  explicit Rig(ReflectorOptions options = paged()) : core(std::move(options)) {}

  ReflectorStep next() { return core.next_step(now); }
  ListRequest next_list() {
    const ReflectorStep step = next();
    EXPECT_TRUE(std::holds_alternative<ListRequest>(step));
    return std::get<ListRequest>(step);
  }
  WatchRequest next_watch() {
    const ReflectorStep step = next();
    EXPECT_TRUE(std::holds_alternative<WatchRequest>(step));
    return std::get<WatchRequest>(step);
  }
  /// Takes the wait that is due; returns zero if none is.
  Duration next_pause() {
    const ReflectorStep step = next();
    EXPECT_TRUE(std::holds_alternative<PauseRequest>(step));
    const Duration delay = std::get<PauseRequest>(step).delay;
    now += delay;
    return delay;
  }
  /// Lists one object at `version` and starts the watch.
  void sync(const std::string& version = "10") {
    next_list();
    core.on_item(object("a", "5"));
    EXPECT_TRUE(core.on_list_ended({.resource_version = version}));
    next_watch();
    now += 10s;
  }

  Reflector core;
  TimePoint now{};
};

}  // namespace evenkeel::reflector_tests
