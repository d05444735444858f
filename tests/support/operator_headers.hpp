// SPDX-License-Identifier: Apache-2.0
// Headers that the tests of operators and of the API server include, precompiled in preset dev. A test
// includes what it uses all the same.
#pragma once

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/harness.hpp>

#include "queue_headers.hpp"
