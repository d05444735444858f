// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/timeline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

#include <evenkeel/testing/differences.hpp>

#include "api/server_metadata.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr std::size_t longest_change = 60;
constexpr std::size_t world_width = 74;

std::string time_text(Duration at) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%9.3fs", std::chrono::duration<double>(at).count());
  return text.data();
}

std::string shortened(std::string text) {
  if (text.size() > longest_change) text = text.substr(0, longest_change - 3) + "...";
  return text;
}

// Returns the first changes of a write, and the number of further ones.
std::string changes_of(const TracedWrite& write) {
  if (write.creates()) return "";
  if (write.before.is_null()) return write.ok ? "" : ": refused";
  if (write.after.is_null()) return ": gone";
  const auto lines = differences(v0::detail::without_server_metadata(write.before),
                                 v0::detail::without_server_metadata(write.after));
  if (lines.empty()) return write.ok ? ": nothing changed" : ": refused";
  const std::string more = lines.size() > 1 ? "; and " + std::to_string(lines.size() - 1) + " more" : "";
  return ": " + shortened(lines.front()) + more;
}

std::string key_text(const Json& object) {
  const Json& metadata = object["metadata"];
  return ObjectKey{metadata["namespace"].string_or(""), metadata["name"].string_or("")}.str();
}

std::optional<Json> parsed(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const DecodeError&) {
    return std::nullopt;  // a part of a document
  }
}

std::string seen_text(const std::string& resource, const Json& event) {
  const std::string type = event["type"].string_or("");
  if (type == "BOOKMARK") return {};
  if (type == "ERROR")
    return "the watch of " + resource + " ends: " + event["object"]["reason"].string_or("");
  if (!type.empty()) return type + " " + resource + " " + key_text(event["object"]);
  if (!event["items"].is_array()) return {};
  std::string names;
  for (const Json& item : event["items"].as_array()) names += (names.empty() ? "" : ", ") + key_text(item);
  return "list of " + resource + ": " + (names.empty() ? "none" : names);
}

}  // namespace

void Timeline::add_write(const TracedWrite& write) {
  add(write.at, write.moment.str() + changes_of(write), "");
}

void Timeline::add_step(Duration at, const PlanStep& step) {
  add(at, ">>> " + step.str(), "");
}

void Timeline::add_run(const ReconcileRun& run) {
  add(run.at, "", "run " + run.controller + " " + run.key.str());
}

void Timeline::add_seen(Duration at, const std::string& resource, std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = std::min(piece.find('\n'), piece.size());
    if (const auto event = parsed(piece.substr(0, end))) {
      const std::string text = seen_text(resource, *event);
      if (!text.empty()) add(at, "", text);
    }
    piece.remove_prefix(std::min(end + 1, piece.size()));
  }
}

std::string Timeline::str() const {
  std::string text;
  for (const Entry& entry : entries_) {
    std::string line = time_text(entry.at) + "  " + entry.world;
    if (!entry.seen.empty()) {
      const std::size_t column = time_text(entry.at).size() + 2 + world_width;
      line.resize(std::max(line.size() + 2, column), ' ');
      line += "| " + entry.seen;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
