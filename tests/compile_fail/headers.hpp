// SPDX-License-Identifier: Apache-2.0
// Headers that the cases of the builder include.
#pragma once

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/controller/pipeline.hpp>
