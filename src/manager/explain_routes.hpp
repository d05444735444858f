// SPDX-License-Identifier: Apache-2.0
// What an operator answers at /debug/explain.
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

/// Whom the questions are about.
struct ExplainSubjects {
  std::vector<Controller*> controllers = {};
  std::string blocked_reason = {};  ///< Why no controller runs here; empty: they do.
};

/// The answer to "" (which controllers there are), "demo" (what is wrong with one), "demo/default/web" and
/// "demo/web" (why is it not reconciled). As JSON with "?format=json", else as text. 404, with what there is
/// instead, for what there is not.
http::Response answer_explain(std::string_view question, const http::Target& target,
                              const ExplainSubjects& subjects);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
