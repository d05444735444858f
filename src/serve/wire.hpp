// SPDX-License-Identifier: Apache-2.0
// Conversion between Boost.Beast's messages and ours, and formatting of response heads.
// Shared with floors above.
#pragma once

#include <optional>
#include <string>

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/verb.hpp>

#include <evenkeel/base/export.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

inline std::string text_of(boost::beast::string_view view) {
  return std::string(view.data(), view.size());
}

/// Returns nullopt for unsupported methods, HEAD among them.
EVENKEEL_API std::optional<Method> method_of(boost::beast::http::verb verb);
EVENKEEL_API Headers headers_of(const boost::beast::http::fields& fields);
/// Returns status line and headers including the date, except those that frame the body. Headers with invalid
/// names are omitted, and control bytes in values become blanks, so that no value can start another header.
EVENKEEL_API std::string head_of(const Response& response);
EVENKEEL_API Response plain_answer(int code, const std::string& text);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
