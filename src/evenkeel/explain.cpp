// SPDX-License-Identifier: Apache-2.0
#include "evenkeel/explain.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include <evenkeel/base/error.hpp>
#include <evenkeel/http/curl_transport.hpp>

namespace evenkeel::program {
namespace {

std::string read_token(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string token{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file && token.empty()) throw Error(path + ": cannot read");
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  return token;
}

http::Response ask(const ExplainFlags& flags) {
  http::Request request{.target = explain_target(flags)};
  if (!flags.token_file.empty()) {
    request.headers.add("Authorization", "Bearer " + read_token(flags.token_file));
  }
  return http::make_curl_transport({.server = flags.url, .proxy = ""})->fetch(std::move(request));
}

// What a status means for who asked; the body says more.
std::string_view hint_for(int status) {
  if (status == 401 || status == 403) {
    return "; explanations are given on the operator's own machine (kubectl port-forward) or to who has the "
           "token of its metrics (--token-file)";
  }
  if (status == 404) return "; is the operator run with --debug-endpoints?";
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
    std::fwrite(answer.body.data(), 1, answer.body.size(), stdout);
    return EXIT_SUCCESS;
  }
  std::string_view body = answer.body;
  while (body.ends_with('\n')) body.remove_suffix(1);
  // An answer of ours is a sentence that says what is known instead.
  const std::string_view hint =
      answer.headers.find("X-Evenkeel-Explain") != nullptr ? std::string_view() : hint_for(answer.status);
  std::fprintf(stderr, "evenkeel explain: %s answered %d: %.*s%.*s\n", flags.url.c_str(), answer.status,
               static_cast<int>(body.size()), body.data(), static_cast<int>(hint.size()), hint.data());
  return EXIT_FAILURE;
}

}  // namespace evenkeel::program
