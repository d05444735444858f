// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/http/message.hpp>

namespace evenkeel::http {
namespace {

TEST(Headers, FindIgnoresCaseAndTakesTheFirst) {
  Headers headers{{"Content-Type", "a"}, {"content-type", "b"}};
  ASSERT_NE(headers.find("CONTENT-TYPE"), nullptr);
  EXPECT_EQ(*headers.find("CONTENT-TYPE"), "a");
  EXPECT_EQ(headers.find("Content-Typ"), nullptr);
}

TEST(Headers, SetReplacesAllLinesOfTheName) {
  Headers headers{{"A", "1"}, {"B", "2"}, {"a", "3"}};
  headers.set("a", "4");
  EXPECT_EQ(headers.size(), 2U);
  EXPECT_EQ(*headers.find("A"), "4");
  headers.set("C", "5");
  EXPECT_EQ(*headers.find("c"), "5");
}

TEST(Percent, EncodesAllButUnreserved) {
  EXPECT_EQ(percent_encode("az-AZ09._~"), "az-AZ09._~");
  EXPECT_EQ(percent_encode("a b/c?d=e&f,g%+"), "a%20b%2Fc%3Fd%3De%26f%2Cg%25%2B");
  EXPECT_EQ(percent_encode("\xc3\xa9"), "%C3%A9");
}

TEST(Percent, DecodeUndoesEncodeForEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
}

TEST(Percent, DecodeKeepsBrokenEscapes) {
  EXPECT_EQ(percent_decode("%"), "%");
  EXPECT_EQ(percent_decode("%2"), "%2");
  EXPECT_EQ(percent_decode("%zz%41%4"), "%zzA%4");
  EXPECT_EQ(percent_decode("a+b"), "a+b");
  EXPECT_EQ(percent_decode("a+b", true), "a b");
}

TEST(Method, Names) {
  EXPECT_EQ(method_name(Method::get), "GET");
  EXPECT_EQ(method_name(Method::post), "POST");
  EXPECT_EQ(method_name(Method::put), "PUT");
  EXPECT_EQ(method_name(Method::patch), "PATCH");
  EXPECT_EQ(method_name(Method::delete_), "DELETE");
}

}  // namespace
}  // namespace evenkeel::http
