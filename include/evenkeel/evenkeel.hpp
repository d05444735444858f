// SPDX-License-Identifier: Apache-2.0
// Umbrella header of an operator's program: described types, CRDs and the small kinds of the core group
// (api/), typed and dynamic clients and watches (client/), controller_for, Context and Controller
// (controller/), Manager, run and the log (manager/), Elector (election/), Cache (cache/), a registry of
// metrics, the limiters and the stores.
//
// Not in it, for the sake of compile time:
//   api/kinds/*.hpp             pods, and the kinds of other groups: apps.hpp, batch.hpp, networking.hpp, ...
//                               api/kinds.hpp has all
//   controller/helpers.hpp      create_or_update, set_condition of a Context (that of a list of
//                               conditions is in api/metadata.hpp)
//   controller/pipeline.hpp     Pipeline: sub-reconcilers
//   controller/dependents.hpp   owned objects declared as a graph; conditions for it in readiness.hpp
//   controller/explanation.hpp  answers to why an object is not reconciled
//   client/wait.hpp             wait_until: blocks until an object fulfils a condition
//   workqueue/work_queue.hpp    the queue alone
//   serve/server.hpp            HTTP routes of one's own
//   metrics/text.hpp            metrics as text
//   http/curl_transport.hpp     a transport with options of one's own
//   http/event_loop.hpp         the library in a program's own event loop
//   coordination/, testing/     all of both, which are libraries of their own
#pragma once

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds/core.hpp>
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
#include <evenkeel/webhook/conversion.hpp>
#include <evenkeel/webhook/webhook.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
