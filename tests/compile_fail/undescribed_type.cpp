// SPDX-License-Identifier: Apache-2.0
// A struct without EVENKEEL_FIELDS cannot be encoded, and the compiler says what to do.
// expect: describe it with EVENKEEL_FIELDS
#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/fields.hpp>

struct Spec {
  int replicas = 1;
};
#ifndef REJECTED
EVENKEEL_FIELDS(Spec, replicas)
#endif

int main() {
  return evenkeel::to_json(Spec()).empty() ? 1 : 0;
}
