// SPDX-License-Identifier: Apache-2.0
// Traces made by hand, for the tests of the cores of explore().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <evenkeel/testing/explore.hpp>

#include "testing/explore/plan_core.hpp"
#include "testing/explore/run_comparison.hpp"
#include "testing/explore/trace.hpp"

namespace evenkeel::testing::detail {

inline const std::string creation = "create pods default/web";
inline const std::string edit = "workload: patch pods default/web";
inline const std::string resize = "point resize volume default/web";

inline std::vector<std::string> texts(const std::vector<Plan>& plans) {
  std::vector<std::string> lines;
  for (const Plan& plan : plans) lines.push_back(plan.str());
  return lines;
}

inline std::vector<std::string> texts(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(problem.text);
  return lines;
}

inline Json pod(const std::string& uid, const std::string& image) {
  return Json::object({{"metadata", Json::object({{"name", "web"}, {"uid", uid}})}, {"image", image}});
}

inline TracedWrite write_of(const std::string& text, Json before, Json after, std::size_t nth = 1) {
  return {.moment = {text, nth},
          .of_workload = text.starts_with(workload_prefix),
          .resource = "pods",
          .object = "pods default/web",
          .before = std::move(before),
          .after = std::move(after),
          .ok = true,
          .effective = true};
}

inline RunRecord record_of(std::vector<TracedWrite> writes) {
  RunRecord record{.trace = {std::move(writes)}, .runs = 3, .settled = true};
  record.end["pods default/web"] = Json::object({{"image", "a"}});
  return record;
}

}  // namespace evenkeel::testing::detail
