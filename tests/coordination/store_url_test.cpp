// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/coordination/store_url.hpp>

namespace evenkeel::coordination {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of(const std::string& url, const StoreUrlOptions& options = {}) {
  try {
    open_store(url, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "opened";
}

TEST(OpenStore, KnowsItsForms) {
  EXPECT_EQ(open_store("memory:")->name(), "memory");
  EXPECT_EQ(open_store("etcd://127.0.0.1:2379")->name(), "etcd http://127.0.0.1:2379");
  EXPECT_EQ(open_store("etcds://one:2379,two:2379")->name(), "etcd https://one:2379 https://two:2379");
}

TEST(OpenStore, SaysWhichFormsThereAre) {
  EXPECT_EQ(refusal_of("redis://db"),
            "no store has URLs that begin with \"redis:\"; there are etcd://HOST:PORT, "
            "etcds://USER:PASSWORD@HOST:PORT, kube://[CONTEXT/]NAMESPACE/NAME and memory:");
  EXPECT_THAT(refusal_of("etcd://admin:secret@"), Not(HasSubstr("secret")));
  EXPECT_NE(refusal_of("etcd://admin:secret@"), "opened");
}

}  // namespace
}  // namespace evenkeel::coordination
