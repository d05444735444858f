// SPDX-License-Identifier: Apache-2.0
// The answers of the console's JSON interface. docs/console.md describes them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/serve/server.hpp>

#include "manager/console_history.hpp"
#include "manager/operations.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// State of the manager that the console shows.
struct ConsoleSubjects {
  std::string program = {};
  std::vector<Controller*> controllers = {};
  std::string blocked_reason = {};  ///< Reason why no controller runs here; empty: they do.
  std::vector<CollectionHealth> watches = {};
  std::vector<Operations::ConsoleSection> sections = {};
  Json section_contents = {};  ///< Result of read_sections(), for "sections" only.
  TimePoint now = {};
  WallTime wall_now = {};
};

/// Calls the functions of sections, which belong to the program: hold no lock.
Json read_sections(const std::vector<Operations::ConsoleSection>& sections);

/// Answers "overview", "controllers/demo", "keys/demo/default/web", "keys/demo/web", "watches" and
/// "sections". With "?after=17", the history begins with point 18. 404 with a JSON object with an `error` for
/// anything else.
http::Response answer_console(std::string_view question, const http::Target& target,
                              const ConsoleSubjects& subjects, const ConsoleHistory& history);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
