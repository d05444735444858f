// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/keys.hpp>

#include "coordination/record_text.hpp"
#include "coordination/transactions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string encode(const Denied& denied) {
  Json json = Json::object({{"by", denied.by}, {"at", detail::text_of_time(denied.at)}});
  if (!denied.reason.empty()) json["reason"] = denied.reason;
  return json.dump();
}

Denied decode(std::string scope, std::string_view value) {
  Denied denied{.scope = std::move(scope)};
  try {
    const Json json = Json::parse(value);
    denied.by = json["by"].string_or("");
    denied.reason = json["reason"].string_or("");
    denied.at = detail::time_of(json, "at");
  } catch (const DecodeError&) {
    // The key is what denies; the value was written by hand.
    denied.reason = value;
  }
  return denied;
}

std::vector<Entry> entries_of(StoreSnapshot& snapshot, const Layout& layout) {
  return snapshot.scan_all(prefix_range(layout.denied_prefix()));
}

}  // namespace

std::vector<Denied> denied_of(const Layout& layout, const std::vector<Entry>& entries) {
  const std::string prefix = layout.denied_prefix();
  std::vector<Denied> all;
  for (const Entry& entry : entries) {
    if (!entry.key.starts_with(prefix)) continue;
    all.push_back(decode(key_text(std::string_view(entry.key).substr(prefix.size())), entry.value));
  }
  std::ranges::sort(all, {}, &Denied::scope);
  return all;
}

std::vector<DenyListEntry> changes_of(const std::vector<Denied>& present,
                                      const std::vector<DenyListEntry>& wanted) {
  std::map<std::string, bool> last;
  for (const DenyListEntry& entry : wanted) last[entry.scope] = entry.allow;
  std::vector<DenyListEntry> changes;
  for (const auto& [scope, allow] : last) {
    const bool listed = std::ranges::find(present, scope, &Denied::scope) != present.end();
    if (listed == allow) changes.push_back({scope, allow});
  }
  return changes;
}

DenyList::DenyList(Store& store, Layout layout, std::string writer, TransactOptions transact)
    : store_(store),
      layout_(std::move(layout)),
      writer_(std::move(writer)),
      transact_(detail::with_token(std::move(transact), layout_.arbiter_token(writer_))) {}

std::vector<Denied> DenyList::list(std::stop_token stop) const {
  return denied_of(layout_, entries_of(*store_.snapshot(std::move(stop)), layout_));
}

bool DenyList::is_denied(std::string_view scope, std::stop_token stop) const {
  return store_.snapshot(std::move(stop))->get(layout_.denied(scope)).has_value();
}

std::vector<Denied> DenyList::apply(const std::vector<DenyListEntry>& wanted, std::string_view reason,
                                    std::stop_token stop) {
  MutexLock transacting(transacting_);
  std::vector<Denied> present;
  const auto body = [&](StoreSnapshot& snapshot) {
    present = denied_of(layout_, entries_of(snapshot, layout_));
    Commit commit;
    for (const DenyListEntry& change : changes_of(present, wanted)) {
      const std::string key = layout_.denied(change.scope);
      commit.reads.push_back(detail::read_of(key, snapshot.get(key)));
      if (change.allow) {
        commit.erases.push_back(key);
        std::erase_if(present, [&](const Denied& one) { return one.scope == change.scope; });
        continue;
      }
      present.push_back({change.scope, writer_, std::string(reason), transact_.clock->wall_now()});
      commit.puts.push_back({key, encode(present.back())});
    }
    return commit;
  };
  detail::require_committed(transact(store_, body, transact_, stop), "changing the deny list");
  std::ranges::sort(present, {}, &Denied::scope);
  return present;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
