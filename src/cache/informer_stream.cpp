// SPDX-License-Identifier: Apache-2.0
// The requests of an informer, and what their responses do.
#include <algorithm>
#include <exception>
#include <utility>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/client/errors.hpp>

#include "cache/informer_impl.hpp"
#include "cache/label_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::StreamInput;

/// Limit of the bytes read of an error response.
constexpr std::size_t max_error_bytes = 64u << 10;

/// Classifies a stream's exception for the reflector.
ReflectorFailure failure_of(std::exception_ptr error) {
  ReflectorFailure failure;
  try {
    std::rethrow_exception(std::move(error));
  } catch (const TransportError& caught) {
    failure.message = caught.what();
    const TransportErrorCode code = caught.code();
    if (code == TransportErrorCode::resolve || code == TransportErrorCode::connect ||
        code == TransportErrorCode::tls)
      failure.kind = ReflectorFailure::Kind::unreachable;
    if (code == TransportErrorCode::timeout) failure.kind = ReflectorFailure::Kind::silent;
  } catch (const ApiError& caught) {
    failure = {.kind = ReflectorFailure::Kind::refused, .message = caught.what(), .status = caught.status()};
  } catch (const std::exception& caught) {
    failure.message = caught.what();
  }
  return failure;
}

}  // namespace

void Informer::Impl::begin(const ReflectorStep& step) {
  if (const auto* pause = std::get_if<PauseRequest>(&step)) {
    activity_ = Activity::waiting;
    due_ = deadline_after(now(), pause->delay);
    log_failure(due_);
    wake_when_due();
    return;
  }
  if (std::holds_alternative<IdleRequest>(step)) {
    activity_ = Activity::resting;
    return;
  }
  const auto* watch = std::get_if<WatchRequest>(&step);
  activity_ = watch != nullptr ? Activity::watching : Activity::listing;
  list_splitter_ = ListSplitter({.max_item_bytes = options_.max_object_bytes});
  frame_splitter_ = FrameSplitter({.max_frame_bytes = options_.max_object_bytes});
  object_timer_.on_complete();
  due_ = reflector_.next_due().value_or(TimePoint::max());
  head_timeout_ =
      watch != nullptr ? options_.reflector.watch_head_timeout : options_.reflector.list_head_timeout;
  answer_due_ = deadline_after(now(), head_timeout_);
  if (const auto* list = std::get_if<ListRequest>(&step)) {
    if (list->continue_token.empty()) list_due_ = deadline_after(now(), options_.reflector.list_timeout);
    answer_due_ = std::min(answer_due_, list_due_);
  }
  wake_when_due();
  begin_stream(step);
}

void Informer::Impl::begin_stream(const ReflectorStep& step) {
  error_body_.clear();
  status_ = 0;
  try {
    inbox_->attach(parts_.source->stream(step, inbox_->open()));
  } catch (...) {
    failed(failure_of(std::current_exception()));
  }
}

void Informer::Impl::take(StreamInput& input) {
  if (activity_ != Activity::listing && activity_ != Activity::watching) return;
  try {
    if (input.kind == StreamInput::Kind::opened) {
      opened(input);
    } else if (input.kind == StreamInput::Kind::ended) {
      ended(input.error);
    } else if (status_ != 200) {
      error_body_.append(input.data, 0, max_error_bytes - error_body_.size());
      if (error_body_.size() == max_error_bytes) ended(nullptr);  // the rest would not be read
    } else if (activity_ == Activity::listing) {
      take_list(input.data);
    } else {
      take_frames(input.data);
    }
  } catch (const TransportError&) {  // an object that arrives too slowly
    failed(failure_of(std::current_exception()));
  } catch (const Error& error) {
    const bool should_log = unreadable_log_.failed(WatchProblem::other, error.what(), now());
    parts_.log.write(should_log ? LogLevel::error : LogLevel::debug, "cannot read what the server sent",
                     {{"kind", parts_.resource.kind}, {"error", std::string_view(error.what())}});
    failed({.kind = ReflectorFailure::Kind::undecodable, .message = error.what(), .status = {}});
  }
}

void Informer::Impl::begin_gap() {
  if (!parts_.tracer || gap_.is_recording()) return;
  gap_ = parts_.tracer->start("watch gap");
  gap_.set_attribute("k8s.resource", parts_.resource.plural);
  if (!parts_.resource.group.empty()) gap_.set_attribute("k8s.resource.group", parts_.resource.group);
  if (!options_.namespace_.empty()) gap_.set_attribute("k8s.namespace.name", options_.namespace_);
}

void Informer::Impl::opened(const StreamInput& input) {
  status_ = input.status;
  answer_due_ = activity_ == Activity::listing ? list_due_ : TimePoint::max();
  if (status_ != 200) answer_due_ = std::min(answer_due_, deadline_after(now(), head_timeout_));
  wake_when_due();
  error_headers_ = input.headers;
  if (status_ == 200 && activity_ == Activity::watching) {
    gap_.end();
    reflector_.on_watch_opened(now());
    due_ = reflector_.next_due().value_or(TimePoint::max());
  }
}

void Informer::Impl::take_list(std::string_view piece) {
  list_splitter_.feed(piece);
  while (const auto text = list_splitter_.next()) {
    object_timer_.on_complete();
    WireObject object = scanner_->object(*text);
    check_label(object);
    reflector_.on_item(packed(stored_or(std::move(object))));
  }
  object_timer_.on_partial(now(), list_splitter_.place());
  if (const auto excess = reflector_.list_excess()) failed(*excess);
}

void Informer::Impl::check_label(const WireObject& object) const {
  if (checks_labels_ && detail::must_label(object, options_.reflector.cell_label, reflector_.wanted()))
    parts_.on_mislabelled(object);
}

/// Returns the stored object if it equals `object`, as most do on a relist; the copy is freed at once.
WireObject Informer::Impl::stored_or(WireObject object) const {
  WireObject stored = store_.stored(object.namespace_(), object.name());
  const bool same = stored && stored.uid() == object.uid() && !object.resource_version().empty() &&
                    stored.resource_version() == object.resource_version();
  return same ? stored : object;
}

/// Returns the object in the form in which it is kept.
WireObject Informer::Impl::packed(WireObject object) {
  return packer_ ? packer_->pack(std::move(object)) : object;
}

void Informer::Impl::take_frames(std::string_view piece) {
  frame_splitter_.feed(piece);
  while (const auto frame = frame_splitter_.next()) {
    object_timer_.on_complete();
    take_event(*frame);
    if (activity_ != Activity::watching) return;  // an ERROR event ended it
  }
  if (frame_splitter_.in_frame()) object_timer_.on_partial(now());
}

void Informer::Impl::take_event(std::string_view frame) {
  WireEvent event = scanner_->event(frame);
  const bool streaming = reflector_.collects_events();
  if (event.type == WatchType::added || event.type == WatchType::modified) check_label(event.object);
  if (streaming && event.type == WatchType::added) event.object = stored_or(std::move(event.object));
  if (event.type == WatchType::added || event.type == WatchType::modified)
    event.object = packed(std::move(event.object));
  WatchVerdict verdict = reflector_.on_event(event, now());
  last_event_ = now();
  if (streaming) {
    if (const auto excess = reflector_.list_excess()) return failed(*excess);
  }
  carry_out(std::move(verdict));
}

/// Carries out what the reflector made of an event of the running watch, or of a time.
void Informer::Impl::carry_out(WatchVerdict verdict) {
  due_ = reflector_.next_due().value_or(TimePoint::max());
  if (verdict.change) store(std::move(*verdict.change));
  if (verdict.ends_watch) finish_stream();
}

void Informer::Impl::ended(const std::exception_ptr& error) {
  if (error) return failed(failure_of(error));
  if (status_ != 200) {
    const Status status = Status::decode({status_, std::move(error_headers_), std::move(error_body_)});
    const std::string call = activity_ == Activity::listing ? "list " : "watch ";
    const ApiError refusal(call + parts_.resource.kind, status);
    return failed({.kind = ReflectorFailure::Kind::refused, .message = refusal.what(), .status = status});
  }
  if (activity_ == Activity::watching) {
    // An incomplete frame was cut off; the server will send it again.
    reflector_.on_watch_ended(std::nullopt, now());
    return finish_stream();
  }
  const ListMetadata metadata = list_splitter_.finish();
  if (const auto excess = reflector_.list_excess()) return failed(*excess);
  last_event_ = now();
  auto change = reflector_.on_list_ended(metadata);
  finish_stream();
  if (change) store(std::move(*change));
}

void Informer::Impl::failed(const ReflectorFailure& failure) {
  const bool listing = activity_ == Activity::listing;
  finish_stream();
  gap_.set_status(SpanStatus::error, failure.message);
  if (listing) {
    reflector_.on_list_failed(failure, now());
    if (const auto again = reflector_.next_growth_attempt())
      log_failure(*again);  // a watch goes on in between
    return;
  }
  if (failure.kind == ReflectorFailure::Kind::undecodable)
    return reflector_.on_undecodable(failure.message, now());
  reflector_.on_watch_ended(failure, now());
}

}  // namespace v0
}  // namespace evenkeel
