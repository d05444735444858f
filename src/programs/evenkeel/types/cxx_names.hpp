// SPDX-License-Identifier: Apache-2.0
// C++ names made from names on the wire.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::program {

/// Returns the lower-case words of a name on the wire: "podIPs" is {"pod", "ips"}, "tls.crt" is {"tls",
/// "crt"}.
std::vector<std::string> words_of(std::string_view wire);

/// Returns a snake_case identifier for a name on the wire: never a word of C++ or a common macro, at most 100
/// characters. "class" is "class_", "5xx" is "n5xx", "" is "field".
std::string snake_name(std::string_view wire);

/// Returns the PascalCase of a name on the wire: "secret-ref" is "SecretRef".
std::string pascal_name(std::string_view wire);

/// Returns the name that EVENKEEL_FIELDS puts on the wire for a member of this name.
std::string wire_of_member(std::string_view member);

/// Returns the word that EVENKEEL_ENUM puts on the wire for an enumerator of this name.
std::string word_of_enumerator(std::string_view enumerator);

/// Returns `name`, or `name` with the first number from 2 that makes it differ from those in `taken`; adds
/// it.
std::string take_name(const std::string& name, std::set<std::string>& taken);

/// Returns the singular of a plural in PascalCase, by the rules of regular nouns: "Policies" is "Policy".
std::string singular_of(std::string_view pascal);

}  // namespace evenkeel::program
