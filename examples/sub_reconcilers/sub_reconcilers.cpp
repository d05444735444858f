// SPDX-License-Identifier: Apache-2.0
// A rollout of the database of database.hpp, run by run. The cluster is the embedded API server in virtual
// time; one process starts every ten seconds.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

#include <evenkeel/testing/harness.hpp>

#include "database.hpp"

using namespace std::chrono_literals;

void tell(const ek::testing::Harness& harness, std::size_t& told) {
  for (; told < harness.runs().size(); ++told) {
    const ek::testing::ReconcileRun& run = harness.runs()[told];
    std::printf("  %3lld s: %s%s%s\n", static_cast<long long>(run.at / 1s),
                std::string(ek::outcome_name(run.outcome.kind)).c_str(),
                run.outcome.message.empty() ? "" : ", ", run.outcome.message.c_str());
    for (const ek::testing::Write& write : run.writes)
      std::printf("         %s %s\n", write.verb.c_str(), write.resource.c_str());
  }
}

int main() {
  const ek::ObjectKey orders{"default", "orders"};
  ek::testing::Harness harness({.expect_failures = true});  // of the missing version
  std::size_t told = 0;
  harness.add(database_controller());

  std::printf("Three processes:\n");
  harness.create({Database{.metadata = {.name = orders.name, .namespace_ = orders.namespace_},
                           .spec = {.processes = 3, .version = "7.3", .paused = false},
                           .status = {}}});
  harness.settle();
  tell(harness, told);

  std::printf("Two more, but paused:\n");
  harness.edit<Database>(orders, [](Database& database) {
    database.spec.processes = 5;
    database.spec.paused = true;
  });
  harness.settle();
  tell(harness, told);

  std::printf("Not paused any more:\n");
  harness.edit<Database>(orders, [](Database& database) { database.spec.paused = false; });
  harness.settle();
  tell(harness, told);

  std::printf("A version that is none:\n");
  harness.edit<Database>(orders, [](Database& database) { database.spec.version.clear(); });
  harness.settle();
  tell(harness, told);

  const bool as_it_should = harness.get<Database>(orders)->status.running == 5;
  return as_it_should ? 0 : 1;
}
