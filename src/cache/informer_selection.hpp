// SPDX-License-Identifier: Apache-2.0
// The selection of an informer, applied to objects by this program.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/cache/write_effect.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The selectors of an informer, as far as they can be applied to an object here.
class InformerSelection {
 public:
  explicit InformerSelection(const InformerOptions& options) {
    try {
      if (!options.label_selector.empty()) labels_ = LabelSelector::parse(options.label_selector);
      if (!options.field_selector.empty()) fields_ = FieldSelector::parse(options.field_selector);
    } catch (const DecodeError&) {  // the server refuses it, too
      undecided_ = true;
    }
  }

  WriteEffect::Selection of(const WireObject& object) const {
    if (undecided_) return WriteEffect::Selection::undecided;
    if (!labels_.empty() && !labels_.matches(labels_of(object))) return WriteEffect::Selection::outside;
    WriteEffect::Selection result = WriteEffect::Selection::inside;
    for (const FieldSelector::Term& term : fields_.terms) {
      if (term.field != "metadata.name" && term.field != "metadata.namespace") {
        result = WriteEffect::Selection::undecided;
        continue;
      }
      const std::string_view value = term.field == "metadata.name" ? object.name() : object.namespace_();
      if ((value == term.value) == term.negated) return WriteEffect::Selection::outside;
    }
    return result;
  }

 private:
  static std::map<std::string, std::string> labels_of(const WireObject& object) {
    std::map<std::string, std::string> labels;
    for (const auto& [name, value] : object.labels()) labels.emplace(name, value);
    return labels;
  }

  LabelSelector labels_;
  FieldSelector fields_;
  bool undecided_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
