// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/types/cxx_names.hpp"

#include <algorithm>
#include <array>

#include <evenkeel/api/fields.hpp>

#include "base/ascii.hpp"

namespace evenkeel::program {

using detail::ascii::is_digit;
using detail::ascii::is_lower;
using detail::ascii::is_upper;
using detail::ascii::lower;
using detail::ascii::upper;
namespace {

constexpr std::size_t max_member = 100;  // EVENKEEL_FIELDS takes members of up to 128 characters

// Words of C++20, their alternative spellings, and lower-case macros of compilers and the C library.
constexpr std::string_view reserved[] = {"alignas",
                                         "alignof",
                                         "and",
                                         "and_eq",
                                         "asm",
                                         "assert",
                                         "auto",
                                         "bitand",
                                         "bitor",
                                         "bool",
                                         "break",
                                         "case",
                                         "catch",
                                         "char",
                                         "char16_t",
                                         "char32_t",
                                         "char8_t",
                                         "class",
                                         "co_await",
                                         "co_return",
                                         "co_yield",
                                         "compl",
                                         "concept",
                                         "const",
                                         "const_cast",
                                         "consteval",
                                         "constexpr",
                                         "constinit",
                                         "continue",
                                         "decltype",
                                         "default",
                                         "delete",
                                         "do",
                                         "double",
                                         "dynamic_cast",
                                         "else",
                                         "enum",
                                         "errno",
                                         "explicit",
                                         "export",
                                         "extern",
                                         "false",
                                         "float",
                                         "for",
                                         "friend",
                                         "goto",
                                         "if",
                                         "inline",
                                         "int",
                                         "linux",
                                         "long",
                                         "major",
                                         "minor",
                                         "mutable",
                                         "namespace",
                                         "new",
                                         "noexcept",
                                         "not",
                                         "not_eq",
                                         "nullptr",
                                         "operator",
                                         "or",
                                         "or_eq",
                                         "private",
                                         "protected",
                                         "public",
                                         "register",
                                         "reinterpret_cast",
                                         "requires",
                                         "return",
                                         "short",
                                         "signed",
                                         "sizeof",
                                         "static",
                                         "static_assert",
                                         "static_cast",
                                         "stderr",
                                         "stdin",
                                         "stdout",
                                         "struct",
                                         "switch",
                                         "template",
                                         "this",
                                         "thread_local",
                                         "throw",
                                         "true",
                                         "try",
                                         "typedef",
                                         "typeid",
                                         "typename",
                                         "union",
                                         "unix",
                                         "unsigned",
                                         "using",
                                         "virtual",
                                         "void",
                                         "volatile",
                                         "wchar_t",
                                         "while",
                                         "xor",
                                         "xor_eq"};

/// Returns true if a word begins at `text[i]`. The s of a plural such as "IPs" belongs to the capitals.
bool begins_word(std::string_view text, std::size_t i) {
  if (i == 0 || !is_upper(text[i])) return false;
  if (!is_upper(text[i - 1])) return true;
  if (i + 1 == text.size() || !is_lower(text[i + 1])) return false;
  return text[i + 1] != 's' || (i + 2 < text.size() && !is_upper(text[i + 2]));
}

}  // namespace

std::vector<std::string> words_of(std::string_view wire) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < wire.size(); ++i) {
    const char c = wire[i];
    if (!is_lower(c) && !is_upper(c) && !is_digit(c)) {
      end_word();
      continue;
    }
    if (begins_word(wire, i)) end_word();
    word += lower(c);
  }
  end_word();
  return words;
}

std::string snake_name(std::string_view wire) {
  std::string name;
  for (const std::string& word : words_of(wire)) name += (name.empty() ? "" : "_") + word;
  if (name.empty()) name = "field";
  if (is_digit(name[0])) name.insert(0, 1, 'n');
  if (name.size() > max_member) name.resize(max_member);
  while (name.back() == '_') name.pop_back();
  if (std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved)) name += '_';
  return name;
}

std::string pascal_name(std::string_view wire) {
  std::string name;
  for (std::string& word : words_of(wire)) {
    word[0] = upper(word[0]);
    name += word;
  }
  if (name.empty()) return "Field";
  return is_digit(name[0]) ? "N" + name : name;
}

std::string wire_of_member(std::string_view member) {
  std::string wire(member.size(), '\0');
  wire.resize(detail::write_camel(member, wire.data()));
  return wire;
}

std::string word_of_enumerator(std::string_view enumerator) {
  std::string word = wire_of_member(enumerator);
  if (!word.empty()) word[0] = upper(word[0]);
  return word;
}

std::string take_name(const std::string& name, std::set<std::string>& taken) {
  std::string free = name;
  for (int number = 2; !taken.insert(free).second; ++number) free = name + std::to_string(number);
  return free;
}

std::string singular_of(std::string_view pascal) {
  const auto without = [&](std::size_t count) {
    return std::string(pascal.substr(0, pascal.size() - count));
  };
  if (pascal.size() < 4 || pascal.ends_with("ss") || pascal.ends_with("us") || pascal.ends_with("is"))
    return std::string(pascal);
  if (pascal.ends_with("ies")) return without(3) + "y";
  for (const std::string_view end : {"sses", "ches", "shes", "xes"}) {
    if (pascal.ends_with(end)) return without(2);
  }
  return pascal.ends_with('s') ? without(1) : std::string(pascal);
}

}  // namespace evenkeel::program
