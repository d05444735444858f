// SPDX-License-Identifier: Apache-2.0
// The configuration file of an operator, given by --config.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/error.hpp>

#include "manager/settings.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thrown if the file is missing, is not YAML, or contains an invalid setting. The message contains file,
/// line, controller and field: `operator.yaml:7: controllers.demo.workers: ...`.
class SettingsError : public Error {
 public:
  using Error::Error;
};

/// Reads `defaults`, `controllers` and `endpoint`. Throws SettingsError.
SettingsSource read_settings(const std::string& path);
/// Parses the text of such a file; `path` is for messages.
SettingsSource parse_settings(const std::string& text, const std::string& path);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
