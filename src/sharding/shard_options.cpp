// SPDX-License-Identifier: Apache-2.0
#include "sharding/shard_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

#include <evenkeel/api/selector.hpp>

#include "base/ascii.hpp"
#include "base/cells.hpp"

namespace evenkeel {
inline namespace v0 {

ShardOptions detail::completed(ShardOptions options, const Config& config) {
  const auto refuse = [](const std::string& problem) {
    throw std::invalid_argument("ShardOptions: " + problem);
  };
  if (!detail::ascii::is_dns_label(options.name, 40))
    refuse("name must be up to 40 lower-case letters, digits and '-', not \"" + options.name + "\"");
  if (options.slots == 0 || options.slots > 4096)
    refuse("slots must be 1 to 4096, not " + std::to_string(options.slots));
  if (!options.label.empty()) {
    const std::string problem = label_name_problem(options.label);
    if (!problem.empty()) refuse("label \"" + options.label + "\" is not the key of a label: " + problem);
    if (options.by != ShardBy::namespace_range) refuse("a label needs ShardBy::namespace_range");
    if (options.slots > detail::cell_count)
      refuse("with a label, slots must be 1 to 256, the number of its values, not " +
             std::to_string(options.slots));
  }
  if (options.hand_over_timeout < Duration::zero()) refuse("hand_over_timeout must not be negative");
  if (options.identity.empty()) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) options.identity = host.data();
    std::transform(options.identity.begin(), options.identity.end(), options.identity.begin(), [](char c) {
      const auto low = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') ? low : '-';
    });
    options.identity = options.identity.substr(0, 63);
    while (!options.identity.empty() && options.identity.back() == '-') options.identity.pop_back();
    options.identity.erase(0, options.identity.find_first_not_of('-'));
    if (options.identity.empty()) options.identity = "replica";
  }
  if (!detail::ascii::is_dns_label(options.identity, 63))
    refuse("identity must be up to 63 lower-case letters, digits and '-', not \"" + options.identity + "\"");
  if (options.namespace_.empty()) options.namespace_ = config.namespace_;
  return options;
}

}  // namespace v0
}  // namespace evenkeel
