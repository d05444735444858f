# SPDX-License-Identifier: Apache-2.0
set(manager_headers)
set(manager_sources)
