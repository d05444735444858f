// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include <evenkeel/base/trace.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::size_t traceparent_size = 55;
constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15ULL;

template <std::size_t Size>
std::string hex_of(const std::array<std::uint8_t, Size>& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * Size);
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// Returns -1 for what is not a lower-case hexadecimal digit.
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

template <std::size_t Size>
bool read_hex(std::string_view text, std::array<std::uint8_t, Size>& bytes) {
  for (std::size_t at = 0; at < Size; ++at) {
    const int high = digit_of(text[2 * at]);
    const int low = digit_of(text[2 * at + 1]);
    if (high < 0 || low < 0) return false;
    bytes[at] = static_cast<std::uint8_t>(16 * high + low);
  }
  return true;
}

std::uint64_t seed_of(const std::optional<std::uint64_t>& chosen) {
  if (chosen) return *chosen;
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

template <std::size_t Size>
void put(std::uint64_t number, std::array<std::uint8_t, Size>& bytes, std::size_t first) {
  for (std::size_t i = 0; i < 8; ++i) bytes[first + i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
}

WallTime moved(WallTime from, Duration by) {
  return from + std::chrono::duration_cast<WallTime::duration>(by);
}

}  // namespace

std::string to_hex(const TraceId& id) {
  return hex_of(id);
}
std::string to_hex(const SpanId& id) {
  return hex_of(id);
}

std::string SpanContext::traceparent() const {
  if (!is_valid()) return {};
  return "00-" + to_hex(trace_id) + "-" + to_hex(span_id) + (sampled ? "-01" : "-00");
}

std::optional<SpanContext> SpanContext::parse(std::string_view text) {
  if (text.size() < traceparent_size || text[2] != '-' || text[35] != '-' || text[52] != '-')
    return std::nullopt;
  SpanContext context;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  if (!read_hex(text.substr(0, 2), version) || !read_hex(text.substr(3, 32), context.trace_id) ||
      !read_hex(text.substr(36, 16), context.span_id) || !read_hex(text.substr(53, 2), flags))
    return std::nullopt;
  const bool has_more = text.size() > traceparent_size;
  if (version[0] == 0xff || (has_more && (version[0] == 0 || text[traceparent_size] != '-')))
    return std::nullopt;
  if (!context.is_valid()) return std::nullopt;
  context.sampled = (flags[0] & 1) != 0;
  return context;
}

// ---- Span

Span& Span::operator=(Span&& other) noexcept {
  if (this == &other) return *this;
  end();
  context_ = other.context_;
  record_ = std::move(other.record_);
  return *this;
}

void Span::set_attribute(std::string_view name, SpanValue value) {
  if (!record_) return;
  auto& attributes = record_->span.attributes;
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [name](const SpanAttribute& one) { return one.name == name; });
  if (found != attributes.end()) {
    found->value = std::move(value);
  } else {
    attributes.push_back({std::string(name), std::move(value)});
  }
}

void Span::add_link(SpanLink link) {
  if (record_) record_->span.links.push_back(std::move(link));
}

void Span::set_status(SpanStatus status, std::string message) {
  if (!record_) return;
  record_->span.status = status;
  record_->span.status_message = status == SpanStatus::error ? std::move(message) : std::string();
}

void Span::end() noexcept {
  const std::unique_ptr<Recording> record = std::move(record_);
  if (!record) return;
  record->span.end = moved(record->span.start, record->clock->now() - record->begun);
  record->exporter->on_end(std::move(record->span));
}

// ---- Tracer

Tracer::Tracer(std::shared_ptr<SpanExporter> exporter, TracerOptions options)
    : exporter_(std::move(exporter)), options_(std::move(options)), state_(seed_of(options_.seed)) {
  if (!exporter_) throw std::invalid_argument("Tracer: an exporter is needed");
  if (!(options_.ratio >= 0 && options_.ratio <= 1))
    throw std::invalid_argument("TracerOptions: ratio must be a number from 0 to 1");
}

// SplitMix64; never 0, so that an id is valid.
std::uint64_t Tracer::random() noexcept {
  std::uint64_t z = state_.fetch_add(golden_gamma, std::memory_order_relaxed) + golden_gamma;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return z != 0 ? z : 1;
}

// The last 8 bytes decide, as with OpenTelemetry's TraceIdRatioBased, so that other programs choose alike.
bool Tracer::samples(const TraceId& id) const noexcept {
  if (options_.ratio >= 1) return true;
  std::uint64_t low = 0;
  for (std::size_t at = 8; at < id.size(); ++at) low = (low << 8) | id[at];
  return static_cast<double>(low >> 1) < options_.ratio * std::ldexp(1.0, 63);
}

Span Tracer::start(std::string_view name, SpanOptions options) {
  Span span;
  put(random(), span.context_.span_id, 0);
  if (options.parent.is_valid()) {
    span.context_.trace_id = options.parent.trace_id;
    span.context_.sampled = options.parent.sampled;
  } else {
    put(random(), span.context_.trace_id, 0);
    put(random(), span.context_.trace_id, 8);
    span.context_.sampled = samples(span.context_.trace_id);
  }
  if (!span.context_.sampled) return span;
  const TimePoint now = options_.clock->now();
  const TimePoint begun = options.start.value_or(now);
  span.record_ = std::make_unique<Span::Recording>(
      Span::Recording{.span = {.name = std::string(name),
                               .kind = options.kind,
                               .context = span.context_,
                               .parent = options.parent.is_valid() ? options.parent.span_id : SpanId{},
                               .start = moved(options_.clock->wall_now(), begun - now),
                               .links = std::move(options.links)},
                      .exporter = exporter_,
                      .clock = options_.clock,
                      .begun = begun});
  return span;
}

}  // namespace v0
}  // namespace evenkeel
