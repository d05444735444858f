# SPDX-License-Identifier: Apache-2.0
set(controller_headers)
set(controller_sources)
