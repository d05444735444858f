// SPDX-License-Identifier: Apache-2.0
// Merged kubeconfig files: for each name the first file wins.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <yaml-cpp/yaml.h>

#include <evenkeel/client/config.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Treatment of the files that a kubeconfig names.
enum class NamedFiles : std::uint8_t {
  read,       ///< Each must be readable.
  untouched,  ///< Their names are taken as they are.
};

class Kubeconfig {
 public:
  /// Adds a file with lower precedence than the earlier ones. Returns false if it is empty. Throws
  /// ConfigError.
  bool add(const std::string& file, std::string_view text);
  /// Returns the configuration for `context`, or for the current one if that is empty. Throws ConfigError.
  Config resolve(const std::string& context, NamedFiles files = NamedFiles::read) const;

 private:
  struct Entry {
    std::string file;
    YAML::Node node;
  };
  using Section = std::map<std::string, Entry>;

  void add_section(const std::string& file, const YAML::Node& root, const std::string& list,
                   const std::string& item, Section& section);
  const Entry& find(const Section& section, const char* what, const std::string& name, const Entry& asking,
                    const std::string& context) const;

  std::string files_;  // for errors
  std::string current_context_;
  Section clusters_, users_, contexts_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
