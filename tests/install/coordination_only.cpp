// SPDX-License-Identifier: Apache-2.0
// A program that links the coordination of instances and no runtime.
#include <cstdio>
#include <string>

#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace coordination = evenkeel::coordination;

int main() {
  coordination::MemoryStore store;
  const auto count = [](coordination::StoreSnapshot& snapshot) {
    const auto entry = snapshot.get("/example/count");
    coordination::Commit commit;
    commit.reads.push_back({"/example/count", entry ? entry->version : 0});
    commit.puts.push_back({"/example/count", entry ? entry->value + "|" : "|"});
    return commit;
  };
  for (int i = 0; i < 3; ++i) {
    if (!coordination::transact(store, count, {.token_key = "/example/token"}).committed()) return 1;
  }
  std::puts(store.snapshot()->get("/example/count")->value.c_str());
}
