// SPDX-License-Identifier: Apache-2.0
#include "programs/evenkeel/explain.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/error.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/transport.hpp>

#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/shown_text.hpp"
#include "base/shown_url.hpp"
#include "http/plain_http.hpp"
#include "http/wire_check.hpp"

namespace evenkeel::program {
namespace {

std::string read_token(const std::string& path) {
  std::string token = evenkeel::detail::read_file(path);
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (const std::string problem = http::detail::header_value_problem(token); !problem.empty())
    throw Error(path + ": the token " + problem);
  return token;
}

void check_exposure(const ExplainFlags& flags) {
  if (flags.token_file.empty() || flags.credentials_in_clear) return;
  if (!http::detail::is_exposed(flags.url)) return;
  throw Error("--token-file: " + http::detail::exposed_text(flags.url, "the token") +
              "; use https (--ca-file names its authority), or pass --credentials-in-clear");
}

void check_url(const std::string& url) {
  if (url.starts_with("http://") || url.starts_with("https://")) return;
  throw std::invalid_argument("--url: \"" + evenkeel::detail::shown_url(url) +
                              "\" is not a URL such as http://127.0.0.1:8080");
}

http::Response ask(const ExplainFlags& flags) {
  check_url(flags.url);
  check_exposure(flags);
  http::Request request{.target = explain_target(flags)};
  if (!flags.token_file.empty()) {
    request.headers.add("Authorization", "Bearer " + read_token(flags.token_file));
  }
  const auto transport =
      http::make_curl_transport({.server = flags.url,
                                 .tls = {.ca_file = flags.ca_file, .server_name = flags.server_name},
                                 .proxy = "",
                                 .max_body_bytes = limits::explain_answer,
                                 .credentials_in_clear = flags.credentials_in_clear});
  try {
    return transport->fetch(std::move(request));
  } catch (const TransportError& error) {
    if (error.code() != TransportErrorCode::connect) throw;
    throw Error(std::string(error.what()) +
                "; does the operator run with --metrics-bind-address and --debug-endpoints?");
  }
}

// Returns a hint for the user about a status; the body has the details.
std::string_view hint_for(int status) {
  if (status == 401 || status == 403) {
    return "; only clients on the operator's machine (kubectl port-forward), or with the token of its "
           "metrics "
           "(--token-file), get explanations";
  }
  if (status == 404) return "; does the operator run with --debug-endpoints?";
  return {};
}

}  // namespace

std::string explain_target(const ExplainFlags& flags) {
  std::string target = "/debug/explain";
  if (!flags.controller.empty()) target += "/" + http::percent_encode(flags.controller);
  if (!flags.object.empty()) {
    const std::size_t slash = flags.object.find('/');
    if (slash != std::string::npos) target += "/" + http::percent_encode(flags.object.substr(0, slash));
    const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
    target += "/" + http::percent_encode(flags.object.substr(name));
  }
  return flags.json ? target + "?format=json" : target;
}

int explain(const ExplainFlags& flags) {
  const http::Response answer = ask(flags);
  if (answer.status == 200) {
    // Another version, or another server, may not have escaped it.
    const std::string shown =
        evenkeel::detail::shown_text(answer.body, answer.body.size(), evenkeel::detail::LineBreaks::kept);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    return EXIT_SUCCESS;
  }
  std::string_view body = answer.body;
  while (body.ends_with('\n')) body.remove_suffix(1);
  // Responses of evenkeel contain a sentence with the known names instead.
  const std::string_view hint =
      answer.headers.find("X-Evenkeel-Explain") != nullptr ? std::string_view() : hint_for(answer.status);
  std::fprintf(stderr, "evenkeel explain: %s answered %d: %s%.*s\n",
               evenkeel::detail::shown_url(flags.url).c_str(), answer.status,
               evenkeel::detail::shown_text(body, limits::status_bytes).c_str(),
               static_cast<int>(hint.size()), hint.data());
  return EXIT_FAILURE;
}

}  // namespace evenkeel::program
