// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/cxx_text.hpp"

#include <gtest/gtest.h>

#include "programs/evenkeel/types/cxx_names.hpp"

namespace cxx_text_test {
using namespace evenkeel::program;

TEST(CxxNames, SplitAtCapitalsAndSigns) {
  EXPECT_EQ(snake_name("replicas"), "replicas");
  EXPECT_EQ(snake_name("readyReplicas"), "ready_replicas");
  EXPECT_EQ(snake_name("hostIP"), "host_ip");
  EXPECT_EQ(snake_name("podIPs"), "pod_ips");
  EXPECT_EQ(snake_name("caBundleSHA256Sum"), "ca_bundle_sha256_sum");
  EXPECT_EQ(snake_name("ca.crt"), "ca_crt");
  EXPECT_EQ(snake_name("x-foo__bar"), "x_foo_bar");
  EXPECT_EQ(snake_name("$ref"), "ref");
  EXPECT_EQ(pascal_name("tokenSecretRef"), "TokenSecretRef");
  EXPECT_EQ(pascal_name("http01"), "Http01");
}

TEST(CxxNames, AreNeverWordsOfCxxNorMacros) {
  EXPECT_EQ(snake_name("class"), "class_");
  EXPECT_EQ(snake_name("xor_eq"), "xor_eq_");
  EXPECT_EQ(snake_name("errno"), "errno_");
  EXPECT_EQ(snake_name("linux"), "linux_");
  EXPECT_EQ(snake_name("5xx"), "n5xx");
  EXPECT_EQ(snake_name(""), "field");
  EXPECT_EQ(snake_name("\xc3\xa4"), "field");
  EXPECT_EQ(snake_name(std::string(300, 'a')).size(), 100u);
  EXPECT_EQ(wire_of_member(snake_name("class")), "class");
}

TEST(CxxNames, AreNumberedWhenTaken) {
  std::set<std::string> taken;
  EXPECT_EQ(take_name("a", taken), "a");
  EXPECT_EQ(take_name("a", taken), "a2");
  EXPECT_EQ(take_name("a", taken), "a3");
}

TEST(CxxNames, HaveSingulars) {
  EXPECT_EQ(singular_of("Servers"), "Server");
  EXPECT_EQ(singular_of("Policies"), "Policy");
  EXPECT_EQ(singular_of("Addresses"), "Address");
  EXPECT_EQ(singular_of("Matches"), "Match");
  EXPECT_EQ(singular_of("Status"), "Status");
  EXPECT_EQ(singular_of("Access"), "Access");
  EXPECT_EQ(singular_of("As"), "As");
}

TEST(CxxText, EscapesWhatALiteralCannotHave) {
  EXPECT_EQ(literal("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(literal("?\?/ ?\?="), "\"?\\?/ ?\\?=\"");
  EXPECT_EQ(literal(std::string("\0"
                                "1\x1f",
                                3)),
            R"("\0001\037")");
  EXPECT_EQ(literal("\xc3\xa4"), "\"\xc3\xa4\"");
}

TEST(CxxText, ALiteralShowsTheDirectionOfItsText) {
  EXPECT_EQ(literal("^user\u202E \u2066// only admins\u2069 \u2066$"),
            R"("^user\u202e \u2066// only admins\u2069 \u2066$")");
  EXPECT_EQ(literal("\u061c\u200e\u2028\u0085\xff"), R"("\u061c\u200e\u2028\u0085\377")");
  EXPECT_STREQ("\u202e\u0085", "\xe2\x80\xae\xc2\x85") << "what the compiler makes of the escapes";
  EXPECT_EQ(comment("safe \u202e\u061ctext", ""), "/// safe text\n");
}

TEST(CxxText, LetsNoCommentEscape) {
  EXPECT_EQ(comment("One\\\nint x;", ""), "/// One\\ int x;\n");
  EXPECT_EQ(comment("ends in \\", ""), "/// ends in \\ .\n");
  EXPECT_EQ(comment("ends in ?\?/", "  "), "  /// ends in ?\?/ .\n");
  EXPECT_EQ(comment("a */ b", ""), "/// a */ b\n");
  EXPECT_EQ(comment("a\x01"
                    "b\r\nc\xe2\x80\xae"
                    "d\xe2\x80\xa8"
                    "e",
                    ""),
            "/// a b c d e\n");
  EXPECT_EQ(comment(" \n\t ", ""), "");
}

TEST(CxxText, WrapsTheFirstParagraph) {
  const std::string words = std::string(60, 'a') + " " + std::string(60, 'b');
  EXPECT_EQ(comment(words + "\n\nSecond.", "  "),
            "  /// " + std::string(60, 'a') + "\n  /// " + std::string(60, 'b') + "\n");
  EXPECT_EQ(comment(std::string(200, 'a'), ""), "/// " + std::string(200, 'a') + "\n");
}

}  // namespace cxx_text_test
