// SPDX-License-Identifier: Apache-2.0
// Compressed bodies of answers, whole and in pieces, and texts that are compressed and expanded.
#include <cstddef>
#include <string>
#include <string_view>

#include "apiserver/shell/gzip_answer.hpp"
#include "fuzz.hpp"
#include "http/gzip_decoder.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

using http::detail::GzipDecoder;

constexpr std::size_t limit = 100'000;

struct Expanded {
  bool complete = false;
  std::string text = {};
};

Expanded expand(std::string_view body, std::size_t piece) {
  GzipDecoder decoder;
  Expanded result;
  while (!body.empty()) {
    const std::string copy(body.substr(0, piece));
    body.remove_prefix(copy.size());
    const GzipDecoder::Result outcome = decoder.decode(copy, result.text, limit);
    check(result.text.size() <= limit, "the expanded body is bounded");
    if (outcome == GzipDecoder::Result::ok) continue;
    check(!decoder.problem().empty(), "a corruption has a description");
    return result;
  }
  result.complete = decoder.complete();
  return result;
}

}  // namespace

void gzip(std::string_view input) {
  Reader reader(input);
  const std::size_t piece = reader.byte() + std::size_t{1};
  const std::string_view body = reader.rest();
  const Expanded whole = expand(body, body.size());
  const Expanded cut = expand(body, piece);
  check(whole.complete == cut.complete, "the result does not depend on pieces");
  if (whole.complete) check(whole.text == cut.text, "the text does not depend on pieces");
  const Expanded again = expand(apiserver::detail::gzipped(body), piece);
  if (body.size() <= limit)
    check(again.complete && again.text == body, "a text that is compressed expands to itself");
}

}  // namespace evenkeel::fuzz
