// SPDX-License-Identifier: Apache-2.0
// The operator of `make demo`: the README's first program with a few additions.
#include <evenkeel/evenkeel.hpp>

#include "demo.hpp"

int main(int argc, char** argv) {
  return ek::run(argc, argv, {.name = "demo-operator", .manifests = {.rules = demo_rules()}},
                 [](ek::Manager& manager) { manager.add(demo_controller()); });
}
