// SPDX-License-Identifier: Apache-2.0
// The console's page, with the headers that confine it.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The text of src/manager/data/console.html.
extern const std::string_view console_html;

/// Returns the page. Its content security policy permits its own script and style, by their hashes, and
/// requests to the site that served it; nothing else.
http::Response console_page();

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
