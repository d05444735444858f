// SPDX-License-Identifier: Apache-2.0
// Everything that an operator's program needs, in one include.
#pragma once

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/retry.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/manager/log.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/manager/run.hpp>
#include <evenkeel/metrics/registry.hpp>
#include <evenkeel/ratelimit/backoff.hpp>
#include <evenkeel/ratelimit/default_limiter.hpp>
#include <evenkeel/ratelimit/fast_slow.hpp>
#include <evenkeel/ratelimit/parse.hpp>
#include <evenkeel/ratelimit/shared.hpp>
#include <evenkeel/ratelimit/throttle.hpp>
#include <evenkeel/ratelimit/with_jitter.hpp>
#include <evenkeel/ratelimit/with_max_delay.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
