// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "store_suite.hpp"

namespace evenkeel::tests {
namespace {

using coordination::MemoryStore;
using coordination::MemoryStoreOptions;
using coordination::Store;

/// Keys of one scope share a shard, as do all keys below arbiter/.
std::string shard_of(const std::string& root, std::string_view key) {
  const auto elements = coordination::elements_of(root, key);
  if (elements.size() < 2 || elements[0] == "arbiter") return "arbiter";
  return elements[0] == "guard" && elements.size() > 2 ? elements[2] : elements[1];
}

/// All clients of a case get the same store.
StoreProfile profile(std::string name, const MemoryStoreOptions& options) {
  auto stores = std::make_shared<std::map<std::string, std::weak_ptr<Store>>>();
  const auto open = [stores, options](const std::string& root) {
    auto store = (*stores)[root].lock();
    if (store) return store;
    MemoryStoreOptions own = options;
    own.shard_of = [root](std::string_view key) { return shard_of(root, key); };
    store = std::make_shared<MemoryStore>(own);
    (*stores)[root] = store;
    return store;
  };
  const auto open_unreachable = [open](const std::string& root) {
    auto cut = std::make_shared<testing::FaultyStore>(open(root));
    cut->set_cut(true);
    return cut;
  };
  return {.name = std::move(name), .open = open, .open_unreachable = open_unreachable};
}

StoreProfile strong_profile() {
  StoreProfile strong = profile("Memory", {.page_entries = 10});
  strong.forget = [](Store& store) {
    auto& memory = dynamic_cast<MemoryStore&>(store);
    memory.compact(memory.version());
  };
  return strong;
}

/// A store of several objects, each of them atomic, with a limited commit size.
StoreProfile weak_profile() {
  return profile("Weak", {.capabilities = {.multi_key_atomic = false,
                                           .range_conflict = false,
                                           .snapshot_scan = false,
                                           .watch = false},
                          .limits = {.operations = 128,
                                     .conditions = 128,
                                     .commit_bytes = 1U << 20U,
                                     .key_bytes = 400,
                                     .value_bytes = 2000}});
}

/// The default limits of etcd.
StoreProfile limited_profile() {
  return profile("Limited",
                 {.limits = {.operations = 3072, .conditions = 96, .commit_bytes = 1344UL * 1024}});
}

const auto profiles = ::testing::Values(strong_profile(), weak_profile(), limited_profile());
INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite, profiles);
INSTANTIATE_TEST_SUITE_P(Memory, StoreSuiteConcurrency, profiles);

}  // namespace
}  // namespace evenkeel::tests
