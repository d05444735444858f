// SPDX-License-Identifier: Apache-2.0
// Links evenkeel::testing: one reconcile on the harness, which needs neither a server nor a thread.
#include <cstdio>

#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/run.hpp>

namespace ek = evenkeel;

ek::Result reconcile(ek::Context& context, const ek::ConfigMap& map) {
  context.apply(ek::Secret{.metadata = {.name = map.metadata.name}});
  return ek::done();
}

int main() {
  const ek::ConfigMap map{.metadata = {.name = "web", .namespace_ = "default"}};
  const ek::testing::Harness harness = ek::testing::run_once(reconcile, {map});
  const bool made = static_cast<bool>(harness.find<ek::Secret>({"default", "web"}));
  if (!made) std::puts(harness.str().c_str());
  return made ? 0 : 1;
}
