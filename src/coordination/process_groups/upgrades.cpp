// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/process_groups/upgrades.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

UpgradeRegistry::UpgradeRegistry(Store& store, Layout layout, std::string writer, TransactOptions transact)
    : store_(store), layout_(std::move(layout)), writer_(std::move(writer)), transact_(std::move(transact)) {}

void UpgradeRegistry::commit(const TransactBody& body, const std::stop_token& stop) {
  TransactOptions options = transact_;
  options.token_key = layout_.arbiter_token(writer_);
  options.token.clear();
  const Transacted done = transact(store_, body, options, stop);
  if (!done.committed()) throw StoreUnavailable("upgrades: " + describe(done.outcome));
}

void UpgradeRegistry::add(std::string_view version, const std::vector<std::string>& groups,
                          std::stop_token stop) {
  commit(
      [&](StoreSnapshot& snapshot) {
        Commit commit;
        for (const std::string& group : groups) {
          const std::string key = layout_.upgrade(version, group);
          if (!snapshot.get(key)) commit.puts.push_back({key, group});
        }
        return commit;
      },
      stop);
}

GroupIds UpgradeRegistry::registered(std::string_view version, std::stop_token stop) const {
  GroupIds groups;
  const auto snapshot = store_.snapshot(std::move(stop));
  for (const Entry& entry : snapshot->scan_all(prefix_range(layout_.upgrades_prefix(version)))) {
    groups.insert(elements_of(layout_.root(), entry.key).back());
  }
  return groups;
}

void UpgradeRegistry::withdraw(const GroupIds& groups, std::stop_token stop) {
  commit(
      [&](StoreSnapshot& snapshot) {
        Commit commit;
        for (const Entry& entry : snapshot.scan_all(prefix_range(layout_.upgrades_prefix()))) {
          if (groups.contains(elements_of(layout_.root(), entry.key).back()))
            commit.erases.push_back(entry.key);
        }
        return commit;
      },
      stop);
}

void UpgradeRegistry::clear(std::stop_token stop) {
  commit(
      [&](StoreSnapshot& snapshot) {
        const KeyRange all = prefix_range(layout_.upgrades_prefix());
        Commit commit;
        if (!snapshot.scan(all, 1).entries.empty()) commit.range_erases.push_back(all);
        return commit;
      },
      stop);
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
