# SPDX-License-Identifier: Apache-2.0
set(workqueue_headers)
set(workqueue_sources)
