// SPDX-License-Identifier: Apache-2.0
#include "coordination/kubernetes_names.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <evenkeel/coordination/keys.hpp>

#include "base/fnv1a.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

constexpr std::size_t longest_name = 40;
constexpr std::size_t longest_scope = 100;
constexpr std::size_t digest_digits = 16;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_label(std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest && is_lower_or_digit(text.front()) &&
         is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

/// FNV-1a hash as 16 hexadecimal digits.
std::string digest(std::string_view text) {
  std::uint64_t hash = v0::detail::fnv1a(text);
  std::string digits;
  for (std::size_t i = 0; i < digest_digits; ++i, hash >>= 4U) digits += "0123456789abcdef"[hash & 15U];
  return digits;
}

/// Returns true if `text` could be mistaken for a name that label_of() made up.
bool looks_made_up(std::string_view text) {
  return text.size() > digest_digits + 2 && text.substr(text.size() - digest_digits - 2, 2) == "-x";
}

/// Converts a scope to a part of a name: unchanged if it is a valid one, otherwise similar, with a digest
/// that makes it unique.
std::string label_of(std::string_view scope) {
  if (is_label(scope, longest_scope) && !looks_made_up(scope)) return std::string(scope);
  std::string label;
  for (const char c : scope.substr(0, longest_scope)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    label += is_lower_or_digit(lower) ? lower : '-';
  }
  return label + "-x" + digest(scope);
}

}  // namespace

void check_options(const KubernetesStoreOptions& options) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("KubernetesStore: ") + what);
  };
  require(!options.namespace_.empty(), "namespace_ must not be empty");
  require(is_label(options.name, longest_name), "name must be a DNS label of at most 40 characters");
  require(options.root.empty() || options.root.back() != '/', "root must not end with '/'");
  require(options.max_object_bytes >= 1 && options.max_object_bytes <= 1048576,
          "max_object_bytes must be 1 to 1048576");
  require(options.timeout > Duration::zero(), "timeout must be > 0");
  require(options.watch_retry > Duration::zero(), "watch_retry must be > 0");
}

KubernetesNames::Home KubernetesNames::home_of(std::string_view key) const {
  const auto elements = elements_of(root_, key);
  if (elements.empty()) {
    throw std::invalid_argument("the key " + std::string(key) + " is not below " + root_);
  }
  if (objects_ == KubernetesObjects::one) return {root_ + "/", name_};
  const bool guard = elements[0] == "guard";
  const std::size_t scope = guard ? 2 : 1;
  if (elements[0] == "arbiter" || elements.size() <= scope) return {root_ + "/arbiter/", name_ + "-arbiter"};
  std::string prefix = prefix_of(root_, {elements[0], elements[1]});
  if (guard) prefix = prefix_of(root_, {elements[0], elements[1], elements[2]});
  return {std::move(prefix), name_ + "-scope-" + label_of(elements[scope])};
}

std::string KubernetesNames::object_of(std::string_view key) const {
  return home_of(key).object;
}

std::string KubernetesNames::object_of(const KeyRange& range) const {
  Home home = home_of(range.begin);
  const KeyRange around = prefix_range(home.prefix);
  if (range.begin < around.begin || range.end.empty() || range.end > around.end) {
    throw std::invalid_argument("the range from " + range.begin + " is not within one object");
  }
  return std::move(home.object);
}

std::string KubernetesNames::object_of(const Commit& commit) const {
  std::string object;
  const auto also = [&object](std::string other) {
    if (!object.empty() && object != other) {
      throw std::invalid_argument("a commit writes the objects " + object + " and " + other);
    }
    object = std::move(other);
  };
  for (const Commit::Put& put : commit.puts) also(object_of(std::string_view(put.key)));
  for (const std::string& key : commit.erases) also(object_of(std::string_view(key)));
  for (const KeyRange& range : commit.range_erases) also(object_of(range));
  return object;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
