// SPDX-License-Identifier: Apache-2.0
// The responses to /debug/explain.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/controller/controller.hpp>
#include <evenkeel/serve/server.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The controllers that can be asked about.
struct ExplainSubjects {
  std::vector<Controller*> controllers = {};
  std::string blocked_reason = {};  ///< Reason why no controller runs here; empty: they do.
};

/// Answers "" (list of controllers), "demo" (problems of a controller), "demo/default/web" and "demo/web"
/// (reason why an object is not reconciled). JSON with "?format=json", else text. 404, with the available
/// names, for unknown ones.
http::Response answer_explain(std::string_view question, const http::Target& target,
                              const ExplainSubjects& subjects);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
