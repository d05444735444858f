// SPDX-License-Identifier: Apache-2.0
// Languages inside CRDs: CEL, regular expressions, JSONPath.
#include <stdexcept>

#include "apiserver/schema/cel.hpp"
#include "apiserver/text/json_path.hpp"
#include "apiserver/text/regular_expression.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

const Json document = Json::parse(
    R"({"s":"a,b äö","n":5,"d":1.5,"t":"2025-01-01T00:00:00Z","l":[1,2,{"x":"y"}],"m":{"a":"b","c":[]},"b":true,"z":null})");

}  // namespace

/// An expression, evaluated twice on one document: evaluation has no side effects and stays within its
/// budget.
void cel(std::string_view input) {
  try {
    const apiserver::CelExpression expression(input);
    const apiserver::CelExpression::Variables variables{{"self", apiserver::CelValue::of(document)},
                                                        {"oldSelf", apiserver::CelValue::of(Json(3))}};
    static_cast<void>(expression.uses("oldSelf"));
    std::string results[2];
    std::int64_t left[2] = {50'000, 50'000};
    for (int i = 0; i < 2; ++i) {
      try {
        results[i] = expression.evaluate(variables, left[i]).to_json().dump();
        check(left[i] >= 0, "a result is within its budget");
        check(results[i].size() < 10'000'000, "a result is bounded by its budget");
      } catch (const apiserver::CelError& error) {
        results[i] = error.what();
      }
    }
    check(results[0] == results[1] && left[0] == left[1], "evaluating again gives the same");
  } catch (const apiserver::CelError&) {
    // Invalid input.
  }
}

/// An expression up to the first line break, and the text after it.
void regular_expression(std::string_view input) {
  Reader reader(input);
  try {
    const apiserver::RegularExpression expression(reader.until('\n'));
    const std::string text(reader.take(300));
    std::size_t count = 0;
    std::size_t behind = 0;
    expression.each_match(text, [&](const apiserver::RegularExpression::Match& match) {
      check(match.place >= behind && match.place + match.size <= text.size(), "matches are in order");
      behind = match.place + match.size;
      return ++count < 1000;
    });
    check((count > 0) == expression.found_in(text), "a text has a match if and only if one is found");
  } catch (const std::invalid_argument&) {
    // Invalid input.
  }
}

void json_path(std::string_view input) {
  for (const Json* found : apiserver::find_path(document, input)) static_cast<void>(found->dump());
}

}  // namespace evenkeel::fuzz
