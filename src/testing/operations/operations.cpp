// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/testing/operations.hpp>

#include "testing/operations/campaign.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

constexpr std::size_t problems_shown = 6;
constexpr std::size_t fields_shown = 4;
constexpr std::size_t value_shown = 120;

void check(const OperationsOptions& options) {
  if (options.limit <= Duration::zero())
    throw std::invalid_argument("operations: OperationsOptions::limit must be > 0");
  if (options.values_per_property < 1)
    throw std::invalid_argument("operations: OperationsOptions::values_per_property must be > 0");
}

void append_problems(const std::vector<OperationProblem>& problems, std::string& text) {
  for (std::size_t at = 0; at < std::min(problems.size(), problems_shown); ++at)
    text += "   " + problems[at].text + "\n";
  if (problems.size() > problems_shown)
    text += "   and " + std::to_string(problems.size() - problems_shown) + " more\n";
}

std::string indented(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += "   " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return result;
}

std::string shown(const std::string& value) {
  if (value.empty()) return "nothing";
  return value.size() <= value_shown ? value : value.substr(0, value_shown) + "...";
}

std::string text_of(const OperationFinding& finding, const std::string& type, std::size_t number) {
  const PropertyChange& change = finding.change;
  std::string text = "\n" + std::to_string(number) + ". " + change.path + ": " + shown(finding.from) +
                     " -> " + shown(change.value) + (change.kind == ValueKind::wrong ? " (wrong)" : "") +
                     "\n";
  append_problems(finding.problems, text);
  if (finding.alike > 0)
    text += "   Other changes of this property with such a problem: " + std::to_string(finding.alike) + "\n";
  text += "\n   To reproduce it:\n     const auto result = ek::testing::operations<" + type +
          ">(make, object, {.changes = {\n";
  for (const PropertyChange& before : finding.before) text += "         " + before.code() + ",\n";
  text += "         " + change.code() + ",\n     }});\n     EXPECT_TRUE(result.ok()) << result.describe();\n";
  return text + "\n   Timeline of the server, and of what the controllers saw:\n" +
         indented(finding.timeline);
}

std::string text_of(const TouchedProperty& property) {
  std::string text = "   " + property.path + ": ";
  if (property.effective == 0) return text + "every value was refused at admission, or changed nothing\n";
  if (property.dependents.empty()) return text + "nothing\n";
  const std::size_t count = property.dependents.size();
  for (std::size_t at = 0; at < std::min(count, fields_shown); ++at)
    text += (at == 0 ? "" : "; ") + property.dependents[at];
  if (count > fields_shown) text += "; and " + std::to_string(count - fields_shown) + " more";
  return text + "\n";
}

}  // namespace

std::string Operations::describe() const {
  std::string text = "operations: ";
  if (!reference.empty()) {
    text += "the given object has problems, so nothing was changed:\n";
    append_problems(reference, text);
    return text;
  }
  text += std::to_string(changes_failed) + " of " + std::to_string(changes) + " changes of " + type +
          " have problems; " + std::to_string(refused) + " were refused at admission, " +
          std::to_string(reported) + " by the operator.\n";
  if (left_out > 0) text += "Changes left out: " + std::to_string(left_out) + ".\n";
  if (!silent_since.empty())
    text += "Since the change of " + silent_since + " none had an effect, and " + std::to_string(silent) +
            " properties were changed: if it stops the operator, give it as OperationsOptions::untouched.\n";
  for (std::size_t at = 0; at < findings.size(); ++at) text += text_of(findings[at], type, at + 1);
  text += "\nProperties, and the fields that depended on them:\n";
  for (const TouchedProperty& property : properties) text += text_of(property);
  if (properties_left_out > 0)
    text +=
        "   Properties of known types that were not changed: " + std::to_string(properties_left_out) + "\n";
  return text;
}

namespace detail {

Operations operations(const std::function<std::vector<ControllerSpec>()>& make,
                      const OperationSubject& subject, const OperationsOptions& options) {
  check(options);
  const TimePoint start = real_clock()->now();
  Operations result = Campaign(make, subject, options).run();
  result.took = real_clock()->now() - start;
  return result;
}

}  // namespace detail
}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
