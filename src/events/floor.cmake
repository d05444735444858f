#SPDX - License - Identifier : Apache - 2.0
set(events_headers event.hpp event_recorder.hpp)
    set(events_sources event_body.cpp event_core.cpp event_record.cpp event_recorder.cpp similar_events.cpp)
