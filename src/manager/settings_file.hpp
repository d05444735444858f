// SPDX-License-Identifier: Apache-2.0
// The configuration file of an operator: what --config names.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/error.hpp>

#include "manager/settings.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The file is missing, no YAML, or says something that nobody understands. The message names file, line,
/// controller and field: `operator.yaml:7: controllers.demo.workers: "none" is no number from 1 to 4096`.
class SettingsError : public Error {
 public:
  using Error::Error;
};

/// Reads `defaults`, `controllers` and `endpoint`. Throws SettingsError.
SettingsSource read_settings(const std::string& path);
/// The same of a text; `path` is for messages.
SettingsSource parse_settings(const std::string& text, const std::string& path);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
