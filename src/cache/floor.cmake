# SPDX-License-Identifier: Apache-2.0
set(cache_headers)
set(cache_sources)
