# SPDX-License-Identifier: Apache-2.0
set(ratelimit_headers
  any_limiter.hpp backoff.hpp default_limiter.hpp detail/failure_counts.hpp detail/limiter_parser.hpp detail/spread.hpp exponential.hpp fast_slow.hpp limiter.hpp
  max_of.hpp parse.hpp shared.hpp throttle.hpp token_bucket.hpp with_jitter.hpp with_max_delay.hpp)
set(ratelimit_sources)
