// SPDX-License-Identifier: Apache-2.0
// All built-in kinds.
#pragma once

#include <evenkeel/api/kinds/apiextensions.hpp>
#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/autoscaling.hpp>
#include <evenkeel/api/kinds/batch.hpp>
#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/events.hpp>
#include <evenkeel/api/kinds/networking.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/kinds/policy.hpp>
#include <evenkeel/api/kinds/rbac.hpp>
