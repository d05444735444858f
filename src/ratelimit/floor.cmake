# SPDX-License-Identifier: Apache-2.0
set(ratelimit_headers)
set(ratelimit_sources)
