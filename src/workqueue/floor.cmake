# SPDX-License-Identifier: Apache-2.0
set(workqueue_headers
  any_store.hpp debounce.hpp detail/fair_groups.hpp detail/hash_index.hpp detail/interned_index.hpp
  detail/item_heap.hpp detail/key_entry.hpp detail/node_extras.hpp detail/pacing.hpp detail/parking.hpp
  detail/queue_meter.hpp detail/schedule.hpp detail/timer_heap.hpp fair_store.hpp fifo_store.hpp key_info.hpp
  key_order.hpp key_table.hpp parallelize.hpp priority_store.hpp queue_claim.hpp queue_core.hpp queue_item.hpp
  queue_metrics.hpp readd.hpp request_key.hpp request_queue.hpp store.hpp two_lane_store.hpp work_queue.hpp
  work_queue_options.hpp)
set(workqueue_sources)
