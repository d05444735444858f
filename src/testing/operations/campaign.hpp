// SPDX-License-Identifier: Apache-2.0
// All changes of one call of operations(), each from the state that the accepted ones before it left.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/testing/operations.hpp>

#include "testing/operations/change_assessment.hpp"
#include "testing/operations/operation_runner.hpp"
#include "testing/operations/properties.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

class Campaign {
 public:
  Campaign(const OperationRunner::MakeControllers& make, const OperationSubject& subject,
           const OperationsOptions& options);

  Operations run();

 private:
  /// The object, and the settled world around it.
  struct Base {
    Json document = {};
    Seen seen = {};
    std::size_t resources = 0;  // that `seen` shows
  };
  struct Change {
    PropertyChange text = {};
    PropertyPath path = {};
    std::optional<Json> value = {};
    bool breaks_schema = false;
  };
  /// The outcome of an accepted change.
  struct Tried {
    ChangeAssessment assessment = {};
    Base next = {};
  };

  bool examine_reference();
  void change_all();
  void check_values() const;
  void look_for_silence();
  bool change_property(const Property& property);
  std::vector<Change> changes_of(const Property& property) const;
  std::optional<Tried> make_change(const Change& change);
  bool is_base(const Tried& tried) const;
  void advance(const Change& change, Tried tried);
  Base base_of(const Json& document, std::string* refusal);
  void refresh(Base& base) const;
  ObservedChange observe_change(Base& base, const Change& change, const Json& document,
                                std::string* timeline);
  void report(const Change& change, const ChangeAssessment& assessment);
  std::vector<PropertyChange> necessary_before(const Change& change, OperationProblemKind kind);
  bool repeats(const std::vector<Change>& before, const Change& change, OperationProblemKind kind);
  TouchedProperty& touched(const std::string& path);
  Change parsed(const PropertyChange& change) const;

  const OperationSubject& subject_;
  const OperationsOptions& options_;
  OperationRunner runner_;
  const Json schema_;
  const std::set<std::string> untouched_;
  ReportsError reports_error_;
  Base base_;
  std::vector<Change> advanced_;
  std::set<std::string> left_out_;
  std::map<std::string, std::size_t> property_numbers_;                        // by path
  std::map<std::pair<std::string, OperationProblemKind>, std::size_t> known_;  // findings
  Operations result_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
