// SPDX-License-Identifier: Apache-2.0
// Optional texts of built-in types that are pointers in Go, so that "" is a value: it is stored, it replaces
// no default, and it is checked.
#pragma once

#include <string_view>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

bool is_pointer_to_text(const Schema& type, std::string_view field);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
