// SPDX-License-Identifier: Apache-2.0
// The program's own flags, in addition to those of ek::run().
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Text of --help for a flag whose value the program parses itself.
struct FlagText {
  std::string value = "VALUE";    ///< Kind of the value, in capitals.
  std::string default_text = {};  ///< Printed in parentheses after the help text; empty: nothing.
};

namespace detail {

struct ProgramFlag {
  std::string name = {};
  std::string help = {};
  FlagText text = {};
  bool repeated = false;      // may be given several times
  bool* on_or_off = nullptr;  // a flag without a value
  std::function<void(std::string_view)> take = {};
};

// Throw std::invalid_argument with a message that contains the range.
EVENKEEL_API std::int64_t parse_signed(std::string_view text, std::int64_t least, std::int64_t most);
EVENKEEL_API std::uint64_t parse_unsigned(std::string_view text, std::uint64_t most);
EVENKEEL_API void refuse_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace detail

/// The program's own flags. Each has a name, the variable that it sets and a help text, to which --help
/// appends the variable's value at the time of add() as the default. Flags are parsed before ek::run() calls
/// `setup`; an invalid value ends the program with exit code 2 and a message that names the flag.
///
///     std::string image = "nginx:1.27";
///     ek::FlagSet flags;
///     flags.add("--default-image", image, "Image of objects that name none");
///     return ek::run(argc, argv, {.name = "demo-operator", .flags = flags}, setup);
///
/// Each add() throws std::invalid_argument if the name is not of the form "--default-image", or is taken.
/// Names used by ek::run() itself are rejected when it starts.
/// Thread safety: that of standard containers.
/// Lifetime: the variables must outlive ek::run().
class EVENKEEL_API FlagSet {
 public:
  FlagSet& add(std::string name, std::string& target, std::string help, std::string value = "TEXT");
  /// Adds a switch: `--name` sets it to true, `--name=false` to false.
  FlagSet& add(std::string name, bool& target, std::string help);
  /// Adds an integer; numbers out of the range of the type are rejected.
  template <std::integral T>
  requires(!std::same_as<T, bool>) FlagSet& add(std::string name, T& target, std::string help) {
    const auto take = [&target](std::string_view text) {
      if constexpr (std::is_signed_v<T>)
        target = static_cast<T>(
            detail::parse_signed(text, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
      else
        target = static_cast<T>(detail::parse_unsigned(text, std::numeric_limits<T>::max()));
    };
    return add(std::move(name), take, std::move(help),
               {.value = "NUMBER", .default_text = std::to_string(target)});
  }
  /// Adds a finite number.
  FlagSet& add(std::string name, double& target, std::string help);
  /// Adds a duration: "500ms", "30s", "1h30m"; not negative.
  FlagSet& add(std::string name, Duration& target, std::string help);
  /// Adds a list; the flag may be repeated. The first value given replaces the defaults.
  FlagSet& add(std::string name, std::vector<std::string>& target, std::string help,
               std::string value = "TEXT");
  /// Adds a choice between these words.
  template <class E>
  requires std::is_enum_v<E> FlagSet& add(std::string name, E& target,
                                          std::initializer_list<std::pair<std::string_view, E>> words,
                                          std::string help) {
    std::string now;
    std::vector<std::string> names;
    for (const auto& [word, value] : words) {
      names.emplace_back(word);
      if (value == target) now = word;
    }
    const auto take = [&target, names,
                       values = std::vector<std::pair<std::string_view, E>>(words)](std::string_view text) {
      for (std::size_t at = 0; at < values.size(); ++at) {
        if (names[at] != text) continue;
        target = values[at].second;
        return;
      }
      detail::refuse_word(text, names);
    };
    return add(std::move(name), take, std::move(help), {.value = "WORD", .default_text = now});
  }
  /// Adds a flag whose value is passed to `take`; the message of a std::invalid_argument that it throws is
  /// printed after the flag's name.
  FlagSet& add(std::string name, std::function<void(std::string_view)> take, std::string help,
               FlagText text = {});

  /// Returns the flags in the order in which they were added. For ek::run().
  const std::vector<detail::ProgramFlag>& all() const noexcept;

 private:
  FlagSet& push(detail::ProgramFlag flag);

  // Shared between copies and replaced by add(), so that copying cannot throw. If it can, g++ 12 warns at -O3
  // that members of `{.endpoint = {...}, .flags = flags}` may be used uninitialized.
  std::shared_ptr<const std::vector<detail::ProgramFlag>> flags_ = {};
};

}  // namespace v0
}  // namespace evenkeel
