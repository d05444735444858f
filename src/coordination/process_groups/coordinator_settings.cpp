// SPDX-License-Identifier: Apache-2.0
// Follows the settings of the resource that may change while a coordinator lives: its mode and its scope.
#include <stdexcept>
#include <utility>

#include <evenkeel/coordination/process_groups/steps.hpp>

#include "coordinator_impl.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {

void ProcessGroupCoordinator::Impl::make_parts() {
  auto lock = std::make_shared<LeaseLock>(*store_, Layout(options_.root), options_.identity, options_.lock,
                                          options_.transact);
  {
    MutexLock guard(lock_mutex_);
    lock_ = std::move(lock);
  }
  registry_ = std::make_unique<LivenessRegistry>(*store_, Layout(options_.root), options_.identity,
                                                 options_.liveness, options_.transact);
  claims_.reset();
  ledger_.reset();
  if (options_.mode != Mode::local) make_ledger();
}

void ProcessGroupCoordinator::Impl::make_ledger() {
  const Domain domain{
      .root = options_.root, .actions = {"exclusion", "inclusion", "restart"}, .marks = {"removal"}};
  ledger_ = std::make_unique<Ledger>(*store_, LedgerOptions{.domain = domain,
                                                            .identity = options_.identity,
                                                            .mode = options_.mode,
                                                            .liveness = options_.liveness,
                                                            .transact = options_.transact,
                                                            .meter = options_.meter,
                                                            .clock = options_.clock});
  claims_ = std::make_unique<ActionClaims>(*ledger_, ActionClaimsOptions{options_.transact});
}

void ProcessGroupCoordinator::Impl::set_mode(Mode mode) {
  if (mode == options_.mode) return;
  if (store_ == nullptr) throw std::invalid_argument("ProcessGroupCoordinator: this mode needs a store");
  options_.mode = mode;
  has_left_ = false;
  renewed_.reset();  // so that the next pass writes the mode
  may_be_registered_ = true;
  if (mode == Mode::local) return;
  if (!ledger_) make_ledger();
  ledger_->set_mode(mode);
}

void ProcessGroupCoordinator::Impl::set_scope(const std::string& scope) {
  if (scope == options_.identity.scope) return;
  if (scope.empty()) throw std::invalid_argument("ProcessGroupCoordinator: the scope must not be empty");
  if (announced_ && is_moved_) former_scope_ = options_.identity.scope;
  options_.identity.scope = scope;
  if (store_ == nullptr) return;
  is_moved_ = false;
  former_lock_ = true;
  renewed_.reset();
  make_parts();
}

/// Throws ScopeTaken if a later run of this instance has the former scope, or has moved it: this run must not
/// undo that.
void ProcessGroupCoordinator::Impl::check_former_scope(const std::stop_token& stop) {
  if (!former_scope_) return;
  Identity former = options_.identity;
  former.scope = *former_scope_;
  const auto entry = store_->snapshot(stop)->get(Layout(options_.root).instance(former.scope));
  if (entry) {
    static_cast<void>(next_record(decode_instance(entry->value, former.scope), Presence::live, former,
                                  options_.mode, true, wall_now()));
  }
  former_scope_.reset();  // from here on this run itself may have changed the record
}

bool ProcessGroupCoordinator::Impl::move_scope(const std::stop_token& stop) {
  if (is_moved_) return true;
  no_agreement_ = failure_of([&] {
    check_former_scope(stop);
    ScopeMigrator migrator(*store_, Layout(options_.root), options_.identity, {}, options_.transact);
    const Migration done = migrator.migrate_if_renamed(stop);
    if (done.outcome == MigrationOutcome::refused || done.outcome == MigrationOutcome::unavailable) {
      throw StoreUnavailable("cannot move to the scope " + options_.identity.scope + ": " + done.why);
    }
    is_moved_ = true;
    if (done.outcome == MigrationOutcome::moved) migration_ = done;
  });
  return is_moved_;
}

bool ProcessGroupCoordinator::Impl::leave(const std::stop_token& stop) {
  if (has_left_ || store_ == nullptr) return true;
  if (may_have_entries_) {
    if (!move_scope(stop)) return false;
    if (!ledger_) make_ledger();
  }
  no_agreement_ = failure_of([&] {
    if (may_have_entries_) {
      const Published published = ledger_->publish([](const OwnState&) { return DesiredState(); }, stop);
      if (!published.done()) throw StoreUnavailable(describe(published.transacted.outcome));
      may_have_entries_ = false;
      // The meter has seen what is gone now.
      for (const char* action : {"removal", "exclusion", "inclusion", "restart"}) ledger_->view(action, stop);
    }
    registry_->retire(stop);
    announced_.reset();
    has_left_ = true;
  });
  return has_left_;
}

void ProcessGroupCoordinator::Impl::end_pass(bool is_done, const std::stop_token& stop) {
  if (former_lock_ && is_done) {
    former_lock_ = !lock_->release(stop);
  } else {
    lock_->end_pass(is_done, stop);
  }
}

namespace detail {

void log_migration(const Log& log, const ProcessGroupCoordinator& coordinator) {
  const Migration* const moved = coordinator.migration();
  if (moved == nullptr) return;
  log.info("moved to another scope", {{"scope", coordinator.options().identity.scope},
                                      {"members", static_cast<std::int64_t>(moved->members)},
                                      {"transactions", static_cast<std::int64_t>(moved->transactions)}});
}

}  // namespace detail
}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
