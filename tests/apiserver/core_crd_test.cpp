// SPDX-License-Identifier: Apache-2.0
// Definitions made of types, as the server takes them.
#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>

#include "../api/rich.hpp"
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {

class CrdOfATypeTest : public CoreFixture {};

// Regression: ek::embedded_object on ek::Json had no type, and on a map did not keep fields: 422.
TEST_F(CrdOfATypeTest, IsTakenWithAllAttributes) {
  const CoreReply reply = post(crds, crd_for<crd_types::Rich>());
  EXPECT_EQ(reply.status, 201) << reply.text;
}

}  // namespace evenkeel::apiserver::tests
