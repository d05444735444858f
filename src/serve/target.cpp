// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/serve/server.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http {

Target parse_target(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  Target parsed{.path = percent_decode(target.substr(0, mark))};
  std::string_view query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (!pair.empty()) {
      parsed.query.emplace_back(
          percent_decode(pair.substr(0, equals), true),
          equals == std::string_view::npos ? std::string() : percent_decode(pair.substr(equals + 1), true));
    }
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
  }
  return parsed;
}

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
