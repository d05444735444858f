# SPDX-License-Identifier: Apache-2.0
set(client_headers)
set(client_sources)
