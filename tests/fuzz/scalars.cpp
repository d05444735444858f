// SPDX-License-Identifier: Apache-2.0
// Texts with a syntax: quantities, times, durations, base64, selectors. A value that was parsed, printed and
// parsed again is unchanged.
#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/base/duration_text.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {

void scalars(std::string_view input) {
  if (const auto quantity = Quantity::parse(input)) {
    check(Quantity::parse(quantity->str()) == *quantity, "a written quantity reads as the same");
    const Quantity sum = *quantity + *quantity;
    check((sum <=> *quantity) == (*quantity <=> Quantity()) || sum == *quantity, "a sum is on the same side");
    static_cast<void>(quantity->value() + (quantity->milli_value() > 0 ? -1 : 0));
  }
  if (const auto time = Time::parse(input))
    check(Time::parse(time->str()).value().str() == time->str(), "a written time reads as the same");
  if (const auto time = MicroTime::parse(input))
    check(MicroTime::parse(time->str()).value().str() == time->str(), "a written time reads as the same");
  if (const auto duration = parse_duration(input))
    check(parse_duration(format_duration(*duration)) == *duration, "a written duration reads as the same");
  if (const auto bytes = Bytes::from_base64(input))
    check(Bytes::from_base64(bytes->base64()) == *bytes, "written base64 reads as the same");
  const std::string raw(input);
  check(Bytes::from_base64(Bytes(raw).base64()) == Bytes(raw), "written base64 reads as the same");
}

void selectors(std::string_view input) {
  const std::map<std::string, std::string> labels = {{"a", "b"}, {"app", "web"}, {"e/f", ""}};
  try {
    const LabelSelector selector = LabelSelector::parse(input);
    const LabelSelector again = LabelSelector::parse(selector.str());
    check(again.str() == selector.str(), "a written selector reads as the same");
    check(again.matches(labels) == selector.matches(labels), "a written selector matches the same");
  } catch (const DecodeError&) {
    // Invalid input.
  }
  try {
    const FieldSelector selector = FieldSelector::parse(input);
    check(FieldSelector::parse(selector.str()) == selector, "a written selector reads as the same");
    static_cast<void>(selector.matches(Json::parse(R"({"metadata":{"name":"a"},"spec":{"b":1}})")));
  } catch (const DecodeError&) {
    // Invalid input.
  }
}

}  // namespace evenkeel::fuzz
