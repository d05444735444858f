// SPDX-License-Identifier: Apache-2.0
#include "serve/wire.hpp"

#include <ctime>

#include <boost/beast/http/status.hpp>

#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

namespace wire = boost::beast::http;

std::string date_line() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
  return std::string(text, size);
}

/// Replaces control bytes, which would end the header, by blanks, as Go's net/http does
/// (headerNewlineToSpace).
std::string one_line(std::string value) {
  for (char& c : value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return value;
}

}  // namespace

std::optional<Method> method_of(wire::verb verb) {
  switch (verb) {
    case wire::verb::get:
      return Method::get;
    case wire::verb::post:
      return Method::post;
    case wire::verb::put:
      return Method::put;
    case wire::verb::patch:
      return Method::patch;
    case wire::verb::delete_:
      return Method::delete_;
    default:
      return std::nullopt;
  }
}

Headers headers_of(const wire::fields& fields) {
  Headers headers;
  for (const auto& field : fields) headers.add(text_of(field.name_string()), text_of(field.value()));
  return headers;
}

std::string head_of(const Response& response) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " ";
  head += text_of(wire::obsolete_reason(wire::int_to_status(static_cast<unsigned>(response.status))));
  head += "\r\n";
  for (const auto& [name, value] : response.headers) {
    if (header_name_problem(name).empty()) head += name + ": " + one_line(value) + "\r\n";
  }
  return head + date_line();
}

Response plain_answer(int code, const std::string& text) {
  return {.status = code, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = text};
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
