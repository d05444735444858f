// SPDX-License-Identifier: Apache-2.0
// A program that links leader election and nothing above it.
#include <cstdio>
#include <stdexcept>

#include <evenkeel/election/elector.hpp>

int main() {
  try {
    const evenkeel::Elector elector(evenkeel::Client(evenkeel::Config{.server = "http://127.0.0.1:1"}), {});
  } catch (const std::invalid_argument& refused) {
    std::puts(refused.what());
    return 0;
  }
  return 1;
}
