// SPDX-License-Identifier: Apache-2.0
// Connections that end at every byte of an answer to a call, on the wire: reads succeed, and writes are sent
// once and reported as interrupted.
#include <cstddef>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/client.hpp>

#include "cut_fixture.hpp"

namespace evenkeel::tests {
namespace {

constexpr const char* no_error = "no error";

class CutConcurrency : public CutFixture {
 protected:
  /// Makes sure that a connection stands, so that a cut counts the bytes of the next answer.
  void warm() { client_->find<ConfigMap>({"default", "warm"}); }
  /// Returns the bytes of the next answer of `call`, on a connection that stands.
  std::size_t bytes_of(const std::function<void()>& call) {
    warm();
    const std::size_t before = proxy_.passed();
    call();
    return proxy_.passed() - before;
  }
  /// Cuts the answer of `call` after `bytes` and returns its outcome.
  std::string cut(std::size_t bytes, const std::function<void()>& call) {
    warm();
    proxy_.cut_after(bytes, GetParam().ending);
    std::string outcome = outcome_of(call);
    was_cut_ = !proxy_.cut_pending();
    proxy_.cancel_cut();
    return outcome;
  }
  void walk_read(const std::function<void()>& read) {
    const std::size_t size = bytes_of(read);
    for (std::size_t at = 0; at < size; at += step()) {
      ASSERT_EQ(cut(at, read), no_error) << "at byte " << at;
      ASSERT_TRUE(was_cut_) << "at byte " << at;
    }
  }
  void walk_write(const std::function<void(const std::string&)>& write,
                  const std::function<bool(const std::string&)>& is_there);

  bool was_cut_ = false;
};

TEST_P(CutConcurrency, ARead) {
  client_->create(named("a"));
  walk_read([&] { EXPECT_EQ(client_->get<ConfigMap>({"default", "a"})->data.at("k"), "1"); });
}

TEST_P(CutConcurrency, AList) {
  client_->create(named("a"));
  walk_read([&] { EXPECT_EQ(client_->list<ConfigMap>({.namespace_ = "default"}).items.size(), 1U); });
}

// The server has done it: the caller learns that the outcome is unknown, and it was not sent twice.
void CutConcurrency::walk_write(const std::function<void(const std::string&)>& write,
                                const std::function<bool(const std::string&)>& is_there) {
  constexpr std::size_t digits = 10;  // answers differ by those of versions
  const std::size_t size = bytes_of([&] { write("n-100000"); });
  for (std::size_t at = 0; at < size + digits; at += step()) {
    const std::string name = "n-" + std::to_string(200000 + at);
    const int before = writes_;
    const std::string outcome = cut(at, [&] { write(name); });
    ASSERT_EQ(outcome, was_cut_ ? "interrupted" : no_error) << "at byte " << at;
    if (at + digits < size) {
      ASSERT_TRUE(was_cut_) << "at byte " << at;
    }
    ASSERT_TRUE(is_there(name)) << "at byte " << at;
    ASSERT_EQ(writes_ - before, 1) << "at byte " << at;
  }
  EXPECT_FALSE(was_cut_);
}

TEST_P(CutConcurrency, ACreate) {
  walk_write([&](const std::string& name) { client_->create(named(name)); },
             [&](const std::string& name) {
               return static_cast<bool>(client_->find<ConfigMap>({"default", name}));
             });
}

TEST_P(CutConcurrency, AnApply) {
  client_->apply(named("a"));
  walk_write([&](const std::string& value) { client_->apply(named("a", value), {.force = true}); },
             [&](const std::string& value) {
               return client_->get<ConfigMap>({"default", "a"})->data.at("k") == value;
             });
}

// From the first byte of a new connection: the handshake of TLS and the head.
TEST_P(CutConcurrency, AConnection) {
  const auto read = [&] { client_->find<ConfigMap>({"default", "a"}); };
  connect();
  const std::size_t before = proxy_.passed();
  read();
  const std::size_t size = proxy_.passed() - before;
  for (std::size_t at = 0; at < size; at += GetParam().tls ? 11 : 3) {
    connect();
    proxy_.cut_after(at, GetParam().ending);
    ASSERT_EQ(outcome_of(read), no_error) << "at byte " << at;
    proxy_.cancel_cut();
  }
}

INSTANTIATE_TEST_SUITE_P(, CutConcurrency, ::testing::ValuesIn(wires), name_of);
}  // namespace
}  // namespace evenkeel::tests
