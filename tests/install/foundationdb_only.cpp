// SPDX-License-Identifier: Apache-2.0
// A program that links the store on FoundationDB: puts a key into the cluster whose file is its argument, and
// prints what it reads.
#include <cstdio>

#include <evenkeel/coordination/foundationdb_store.hpp>

namespace coordination = evenkeel::coordination;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const coordination::FoundationDbNetwork network;
  coordination::FoundationDbStore store(network, {.cluster_file = argv[1]});
  const auto result = store.commit({.puts = {{"/example/greeting", "hello"}}});
  std::puts(store.snapshot()->get("/example/greeting")->value.c_str());
  return std::holds_alternative<coordination::Committed>(result) ? 0 : 1;
}
