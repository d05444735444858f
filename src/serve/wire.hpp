// SPDX-License-Identifier: Apache-2.0
// Between Boost.Beast's messages and ours, and the heads of answers.
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

/// Nothing for methods that we do not know, HEAD among them.
EVENKEEL_API std::optional<Method> method_of(boost::beast::http::verb verb);
EVENKEEL_API Headers headers_of(const boost::beast::http::fields& fields);
/// Status line and header lines with the date, up to those that frame the body. Headers whose name cannot be
/// sent are left out, and control bytes in values become blanks, so that no value begins a header of its own.
EVENKEEL_API std::string head_of(const Response& response);
EVENKEEL_API Response plain_answer(int code, const std::string& text);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
