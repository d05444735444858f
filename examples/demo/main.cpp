// SPDX-License-Identifier: Apache-2.0
// The operator behind `make demo`: the README's first program and a little more.
#include <evenkeel/evenkeel.hpp>

#include "demo.hpp"

int main(int argc, char** argv) {
  return ek::run(argc, argv, {.name = "demo-operator"},
                 [](ek::Manager& manager) { manager.add(demo_controller()); });
}
