// SPDX-License-Identifier: Apache-2.0
// Flags that a program adds to those of ek::run().
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

/// Words of --help about a flag whose value the program reads itself.
struct FlagText {
  std::string value = "VALUE";    ///< Kind of the value, in capitals.
  std::string default_text = {};  ///< Printed in parentheses behind the help text; empty: nothing.
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

// Throw std::invalid_argument with the range in words.
EVENKEEL_API std::int64_t parse_signed(std::string_view text, std::int64_t least, std::int64_t most);
EVENKEEL_API std::uint64_t parse_unsigned(std::string_view text, std::uint64_t most);
EVENKEEL_API void refuse_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace detail

/// The program's own flags: each has a name, the variable that it sets and a help text, to which --help
/// appends the variable's value at the time of add() as the default. Flags are read before ek::run() calls
/// `setup`; a value that cannot be read ends the program with code 2 and a message that names the flag.
///
///     std::string image = "nginx:1.27";
///     ek::FlagSet flags;
///     flags.add("--default-image", image, "Image of objects that name none");
///     return ek::run(argc, argv, {.name = "demo-operator", .flags = flags}, setup);
///
/// Each add() throws std::invalid_argument if the name is not of the form "--default-image", or taken. Names
/// of ek::run() itself are refused when it starts. Thread safety: as for standard containers. Lifetime: the
/// variables outlive ek::run().
class EVENKEEL_API FlagSet {
 public:
  FlagSet& add(std::string name, std::string& target, std::string help, std::string value = "TEXT");
  /// `--name` sets it, `--name=false` resets it.
  FlagSet& add(std::string name, bool& target, std::string help);
  /// Refuses numbers that the type cannot hold.
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
  /// A finite number.
  FlagSet& add(std::string name, double& target, std::string help);
  /// "500ms", "30s", "1h30m"; not negative.
  FlagSet& add(std::string name, Duration& target, std::string help);
  /// May be given several times. The first value given replaces the default ones.
  FlagSet& add(std::string name, std::vector<std::string>& target, std::string help,
               std::string value = "TEXT");
  /// One of these words.
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
  /// Calls `take` with the value; what it throws as std::invalid_argument is printed behind the flag's name.
  FlagSet& add(std::string name, std::function<void(std::string_view)> take, std::string help,
               FlagText text = {});

  /// In the order of adding. For ek::run().
  const std::vector<detail::ProgramFlag>& all() const noexcept;

 private:
  FlagSet& push(detail::ProgramFlag flag);

  // Shared between copies, and replaced by add(): copying cannot throw. With a member that can, g++ 12 warns
  // at -O3 about `{.endpoint = {...}, .flags = flags}`, that members of the former may be used uninitialized.
  std::shared_ptr<const std::vector<detail::ProgramFlag>> flags_ = {};
};

}  // namespace v0
}  // namespace evenkeel
