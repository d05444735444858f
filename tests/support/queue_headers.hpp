// SPDX-License-Identifier: Apache-2.0
// Headers that nearly every test includes, precompiled in preset dev. A test includes what it uses all the
// same.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
