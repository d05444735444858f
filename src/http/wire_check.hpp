// SPDX-License-Identifier: Apache-2.0
// Validation of the head of an HTTP message. libcurl sends its input unchanged, so a value that contains CR
// LF would start another header: an impersonated user name could add a group. Shared with floors above.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns why `value` cannot be a header value, or "" if it can: "holds control byte 0x0d at position 3".
/// Positions count from 0. The value itself is not shown, because it may be a secret.
/// Source: golang.org/x/net/http/httpguts ValidHeaderFieldValue, which allows the tab.
EVENKEEL_API std::string header_value_problem(std::string_view value);

/// Returns why `name` cannot be a header name, or "" if it can: "holds byte 0x20 at position 3".
/// Source: golang.org/x/net/http/httpguts ValidHeaderFieldName (the tokens of RFC 9110).
EVENKEEL_API std::string header_name_problem(std::string_view name);

/// Throws std::invalid_argument that names the target or the header if `request` cannot be sent unchanged:
/// `GET /api: header "X-A": the value holds control byte 0x0d at position 3`. The target must begin with a
/// slash and contain no blanks, control bytes or '#'.
EVENKEEL_API void check_request(const Request& request);

/// Escapes a part of a header name like client-go (transport/round_trippers.go, headerKeyEscape): bytes that
/// are not allowed in a token, and '%', become "%XX".
EVENKEEL_API std::string escape_header_name(std::string_view text);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
