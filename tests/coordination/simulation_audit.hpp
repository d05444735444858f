// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of docs/coordination.md that commits show, on every commit that a store applies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::coordination::simulation {

/// The true state, and the rules that all instances follow.
struct Rules {
  ActionPolicy policy;
  Duration silence = {};
  std::function<TimePoint()> now;  ///< True time.
  /// When the shared system was last disturbed.
  std::function<std::optional<TimePoint>()> last_disruption;
};

/// The two names of an instance's scope, and the name that stands for both here.
inline std::string other_name_of(const std::string& scope) {
  return scope.ends_with("-new") ? scope.substr(0, scope.size() - 4) : scope + "-new";
}
inline std::string home_of(const std::string& scope) {
  return scope.ends_with("-new") ? other_name_of(scope) : scope;
}

/// A model of the store, built from its applied commits.
class Auditor {
 public:
  Auditor(Layout layout, Rules rules) : layout_(std::move(layout)), rules_(std::move(rules)) {}

  /// Records that `commit` of `writer`, in normal form, was applied as `version`. `writer` is an instance,
  /// named as by home_of(); empty: a person.
  void applied(const std::string& writer, const Commit& commit, Version version);
  void violated(const std::string& what) {
    if (!violation_) violation_ = what;
  }
  const std::optional<std::string>& violation() const { return violation_; }
  /// Returns the owner of claim `epoch` of the policy's action.
  std::optional<std::string> claimant(std::uint64_t epoch) const;
  std::size_t claims() const { return claims_; }
  std::size_t claims_without_denied() const { return claims_without_denied_; }
  std::size_t claims_amid_moves() const { return claims_amid_moves_; }
  std::size_t moves() const { return moves_; }
  std::size_t take_overs() const { return take_overs_; }

 private:
  struct Held {
    std::string value;
    Version version = 0;
    TimePoint since = {};
  };
  using Members = std::map<UnitRef, std::pair<Version, TimePoint>>;

  void check_owner(const std::string& writer, const Commit& commit);
  void check_tokens(const Commit& commit);
  void check_lock(const std::string& writer, const Commit& commit);
  void check_claim(const std::string& writer, const Commit& commit);
  void check_new_claim(const ClaimRecord& record, const Commit& commit);
  void check_take_over(const ClaimRecord& before, const ClaimRecord& after, TimePoint since);
  void check_phases();
  void apply(const Commit& commit, Version version);
  void note_changes(const Commit& commit, Version version);

  const Held* find(const std::string& key) const;
  bool denied(const std::string& scope) const;
  /// Source and destination of moves in progress.
  std::map<std::string, std::string> moves_now() const;
  bool amid_move(const std::string& scope) const;
  bool is_move(const Commit& commit) const;
  void check_moves(const std::string& epoch);
  std::vector<std::string> written_keys(const Commit& commit) const;
  std::optional<Entry> entry(const std::string& key) const;
  Members members(const std::string& set) const;
  std::set<std::pair<UnitRef, Version>> consumed() const;
  /// Returns true if members of `scope` must count for `claimant`.
  bool must_count(const std::string& scope, const std::string& claimant) const;

  Layout layout_;
  Rules rules_;
  std::map<std::string, Held> state_;
  std::map<std::string, std::vector<Version>> changes_;  // set -> versions at which it changed
  std::set<std::string> tokens_;
  std::map<std::uint64_t, std::string> claimants_;
  std::optional<std::string> violation_;
  std::size_t claims_ = 0;
  std::size_t claims_without_denied_ = 0;
  std::size_t claims_amid_moves_ = 0;
  std::size_t moves_ = 0;
  std::size_t take_overs_ = 0;
};

/// A store that reports its applied commits to an auditor.
class AuditedStore final : public Store {
 public:
  /// `before` runs before each commit and simulates other instances that commit first. `in_pieces` limits
  /// commits so that no scope can be moved in one.
  AuditedStore(std::shared_ptr<Store> inner, std::shared_ptr<Auditor> auditor, std::string writer,
               std::function<void()> before = {}, bool in_pieces = false)
      : inner_(std::move(inner)),
        auditor_(std::move(auditor)),
        writer_(std::move(writer)),
        before_(std::move(before)),
        in_pieces_(in_pieces) {}
  std::string name() const override { return inner_->name(); }
  Capabilities capabilities() const override { return inner_->capabilities(); }
  Limits limits() const override {
    Limits limits = inner_->limits();
    if (in_pieces_) limits.operations = 6;  // one unit
    return limits;
  }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override { return inner_->snapshot(stop); }
  CommitResult commit(const Commit& commit, std::stop_token stop) override {
    if (before_) before_();
    CommitResult result = inner_->commit(commit, stop);
    const auto* committed = std::get_if<Committed>(&result);
    if (committed != nullptr && commit.writes()) {
      auditor_->applied(writer_, normalise(commit), committed->version);
    }
    return result;
  }

 private:
  const std::shared_ptr<Store> inner_;
  const std::shared_ptr<Auditor> auditor_;
  const std::string writer_;
  const std::function<void()> before_;
  const bool in_pieces_;
};

}  // namespace evenkeel::coordination::simulation
