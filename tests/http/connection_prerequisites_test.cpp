// SPDX-License-Identifier: Apache-2.0
#include "http/connection_prerequisites.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http/deadline_clock.hpp"

namespace evenkeel::http::detail {
namespace connection_prerequisites_test {

using namespace std::chrono_literals;

Endpoint named_endpoint() {
  Endpoint endpoint;
  endpoint.host = "api.example";
  endpoint.port = "6443";
  return endpoint;
}

/// The prerequisites of a server with a name, which the test looks up.
struct Names {
  void resolve(const EventLoopOptions::Resolved& done) const {
    if (found.empty()) return done(std::make_exception_ptr(std::runtime_error("no such host")));
    done(std::vector<std::string>{found});
  }
  /// Returns true if a connection may be opened `after` a time, or once the lookup that it takes has ended.
  bool is_done(Duration after) {
    const TimePoint at = now();
    if (prerequisites->is_done(at + after)) return true;
    loop->poll();
    return prerequisites->is_done(at);
  }

  std::string found = "10.0.0.1";
  const std::shared_ptr<evenkeel::detail::EventLoopState> loop =
      std::make_shared<evenkeel::detail::EventLoopState>(EventLoopOptions{
          .resolve = [this](const std::string&, const EventLoopOptions::Resolved& done) { resolve(done); }});
  const std::shared_ptr<ConnectionPrerequisites> prerequisites = std::make_shared<ConnectionPrerequisites>(
      loop, named_endpoint(), CurlTransportOptions{}, nullptr, [] {});
};

// Regression: a lookup that failed after a minute dropped the addresses, and ended all requests, also those
// for which a connection was open.
TEST(ConnectionPrerequisites, KeepTheAddressesWhileTheNameCannotBeLookedUpAgain) {
  Names names;
  ASSERT_TRUE(names.is_done(0s));
  ASSERT_EQ(names.prerequisites->addresses(), "api.example:6443:10.0.0.1");
  names.found.clear();
  EXPECT_TRUE(names.is_done(61s));
  EXPECT_FALSE(names.prerequisites->take_failure());
  EXPECT_EQ(names.prerequisites->addresses(), "api.example:6443:10.0.0.1");
  names.found = "10.0.0.2";
  EXPECT_TRUE(names.is_done(2s)) << "it is looked up again soon";
  EXPECT_EQ(names.prerequisites->addresses(), "api.example:6443:10.0.0.2");
}

TEST(ConnectionPrerequisites, FailWithoutAnAddress) {
  Names names;
  names.found.clear();
  EXPECT_FALSE(names.is_done(0s));
  const auto failure = names.prerequisites->take_failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, "Could not resolve host: api.example: no such host");
}

}  // namespace connection_prerequisites_test
}  // namespace evenkeel::http::detail
