// SPDX-License-Identifier: Apache-2.0
// One pass over the dependents of an object: does what the core decides, by reads and writes of a reconcile.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <evenkeel/controller/dependents.hpp>

#include "controller/dependents/dependents_core.hpp"
#include "controller/dependents/late_kinds.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// One pass. `owner` is the object of which `metadata` is a member.
/// Thread safety: one thread at a time.
/// Lifetime: keeps all references that it is constructed with.
class DependentsPass {
 public:
  DependentsPass(const DependentGraph& graph, Context& context, const void* owner,
                 const ObjectMeta& metadata);

  DependentsReport run(DependentPurpose purpose);
  /// Returns the report of a pass that does nothing, because the owner is being deleted.
  DependentsReport stand_still() const;

 private:
  // The objects of one kind that the owner controls, or the reason why that is not known.
  struct Found {
    std::vector<OwnedDependent> objects = {};
    std::exception_ptr error = {};
    LateState state = {};  // without objects unless it is served
  };
  // A dependent of the pass: one of the graph, or one that only objects of an earlier version are left of.
  struct Entry {
    const DependentNode* node = nullptr;  // null: not declared
    std::string mark = {};
    std::size_t written = 0;
    std::size_t deleted = 0;
    std::exception_ptr error = {};
  };

  std::vector<DependentInput> look();
  Found look_for(const DependentKind& kind) const;
  void add_undeclared(std::vector<DependentInput>& inputs);
  void perform(DependentsCore& core, const DependentStep& step);
  void decide(DependentsCore& core, const Entry& entry);
  void apply(DependentsCore& core, Entry& entry);
  // Deletes objects that were not applied; `all` says if that has to be all of them.
  void remove(DependentsCore& core, Entry& entry, bool all);
  // Returns a text about an object that is left; empty if there is none. Throws the first error at the end.
  std::string remove_objects(Entry& entry);
  // Deletes one object; returns false if it is still there.
  bool remove_object(Entry& entry, const DependentKind& kind, const OwnedDependent& object);
  void fail(DependentsCore& core, Entry& entry, std::exception_ptr error);
  // Returns the state of the kind of a dependent; null: it is not declared.
  const LateState* kind_of(const Entry& entry) const;
  DependentStatus status_of(const DependentsCore& core, std::size_t at) const;
  bool is_claimed(const DependentKind& kind, const ObjectKey& key) const;
  std::string owner_text() const;

  const DependentGraph& graph_;
  Context& context_;
  const void* const owner_;
  const ObjectMeta& metadata_;
  const std::string annotation_;
  std::vector<Found> found_;  // a Found for each kind of the graph
  std::vector<Entry> entries_;
  std::map<std::string, std::string> claimed_;
};

/// Returns "Deployment.apps default/web", by which a pass knows an object.
std::string dependent_id(const ResourceId& resource, const ObjectKey& key);
/// Returns the annotation value of a dependent: its name, after that of its graph if that has one.
std::string dependent_mark(const std::string& graph, const std::string& dependent);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
