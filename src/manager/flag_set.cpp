// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/manager/flag_set.hpp>

#include "base/ascii.hpp"
#include "base/in_quotes.hpp"
#include "manager/settings.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

void check_name(const std::string& name) {
  const auto valid = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  };
  if (name.size() < 4 || !name.starts_with("--") || name[2] == '-' ||
      !std::all_of(name.begin(), name.end(), valid)) {
    throw std::invalid_argument("FlagSet: " + detail::in_quotes(name) +
                                " is not a flag name such as --default-image, in lower case");
  }
}

}  // namespace

namespace detail {

std::int64_t parse_signed(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  if (!parse_whole(text, number) || number < least || number > most) {
    throw std::invalid_argument(detail::in_quotes(text) + " is not a number from " + std::to_string(least) +
                                " to " + std::to_string(most));
  }
  return number;
}

std::uint64_t parse_unsigned(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  if (!parse_whole(text, number) || number > most)
    throw std::invalid_argument(detail::in_quotes(text) + " is not a number from 0 to " +
                                std::to_string(most));
  return number;
}

void refuse_word(std::string_view text, const std::vector<std::string>& words) {
  throw std::invalid_argument(detail::in_quotes(text) + " is none of " + detail::ascii::join(words));
}

}  // namespace detail

FlagSet& FlagSet::push(detail::ProgramFlag flag) {
  check_name(flag.name);
  for (const detail::ProgramFlag& other : all()) {
    if (other.name == flag.name) throw std::invalid_argument("FlagSet: two flags are called " + flag.name);
  }
  auto more = std::make_shared<std::vector<detail::ProgramFlag>>(all());
  more->push_back(std::move(flag));
  flags_ = std::move(more);
  return *this;
}

const std::vector<detail::ProgramFlag>& FlagSet::all() const noexcept {
  static const std::vector<detail::ProgramFlag> none;
  return flags_ == nullptr ? none : *flags_;
}

FlagSet& FlagSet::add(std::string name, std::function<void(std::string_view)> take, std::string help,
                      FlagText text) {
  if (!take) throw std::invalid_argument("FlagSet: " + name + " needs a function");
  return push(
      {.name = std::move(name), .help = std::move(help), .text = std::move(text), .take = std::move(take)});
}

FlagSet& FlagSet::add(std::string name, std::string& target, std::string help, std::string value) {
  return add(std::move(name), [&target](std::string_view text) { target = text; }, std::move(help),
             {.value = std::move(value), .default_text = target});
}

FlagSet& FlagSet::add(std::string name, bool& target, std::string help) {
  return push({.name = std::move(name),
               .help = std::move(help),
               .text = {.value = {}, .default_text = target ? "true" : "false"},
               .on_or_off = &target});
}

FlagSet& FlagSet::add(std::string name, double& target, std::string help) {
  const auto take = [&target](std::string_view text) {
    double number = 0;
    if (!parse_whole(text, number) || !std::isfinite(number))
      throw std::invalid_argument(detail::in_quotes(text) + " is not a number");
    target = number;
  };
  char now[32];
  const auto end = std::to_chars(now, now + sizeof now, target).ptr;
  return add(std::move(name), take, std::move(help),
             {.value = "NUMBER", .default_text = std::string(now, end)});
}

FlagSet& FlagSet::add(std::string name, Duration& target, std::string help) {
  return add(std::move(name), [&target](std::string_view text) { target = detail::parse_timeout(text); },
             std::move(help), {.value = "DURATION", .default_text = format_duration(target)});
}

FlagSet& FlagSet::add(std::string name, std::vector<std::string>& target, std::string help,
                      std::string value) {
  const auto take = [&target, given = std::make_shared<bool>(false)](std::string_view text) {
    if (!std::exchange(*given, true)) target.clear();
    target.emplace_back(text);
  };
  return push({.name = std::move(name),
               .help = std::move(help),
               .text = {.value = std::move(value), .default_text = detail::ascii::join(target)},
               .repeated = true,
               .take = take});
}

}  // namespace v0
}  // namespace evenkeel
