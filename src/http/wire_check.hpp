// SPDX-License-Identifier: Apache-2.0
// Checks of what goes into the head of an HTTP message. libcurl sends what it is given, and a value with CR
// LF in it would become a header of its own: an impersonated name could carry a group along.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns why `value` cannot be the value of a header, or "": "holds control byte 0x0d at position 3".
/// Positions count from 0. The value itself is not shown: it may be a secret.
/// Source: golang.org/x/net/http/httpguts ValidHeaderFieldValue, which allows the tab.
EVENKEEL_API std::string header_value_problem(std::string_view value);

/// Returns why `name` cannot be the name of a header, or "": "holds byte 0x20 at position 3".
/// Source: golang.org/x/net/http/httpguts ValidHeaderFieldName (the tokens of RFC 9110).
EVENKEEL_API std::string header_name_problem(std::string_view name);

/// Throws std::invalid_argument that names the target or the header if `request` cannot be sent as it is:
/// `GET /api: header "X-A": the value holds control byte 0x0d at position 3`. The target must begin with a
/// slash and hold neither blanks, control bytes nor '#'.
EVENKEEL_API void check_request(const Request& request);

/// Escapes a part of a header's name as client-go does (transport/round_trippers.go, headerKeyEscape): bytes
/// that no token may hold, and '%', become "%XX".
EVENKEEL_API std::string escape_header_name(std::string_view text);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
