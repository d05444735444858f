// SPDX-License-Identifier: Apache-2.0
#include "cache/collection_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <zstd.h>

#include "base/files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::string_view format_line = "evenkeel collection 1\n";
constexpr std::size_t max_record_bytes = std::size_t{256} << 20;
constexpr std::size_t piece_bytes = std::size_t{1} << 17;
constexpr int compression_level = 1;

std::string text_of_errno(int error) {
  return std::generic_category().message(error);
}

std::array<char, 4> size_prefix(std::size_t size) {
  return {static_cast<char>(size & 0xffU), static_cast<char>(size >> 8U & 0xffU),
          static_cast<char>(size >> 16U & 0xffU), static_cast<char>(size >> 24U & 0xffU)};
}

std::size_t size_of(std::string_view prefix) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= static_cast<std::size_t>(static_cast<unsigned char>(prefix[i])) << (8 * i);
  return size;
}

/// Compresses records into a file.
class RecordWriter {
 public:
  RecordWriter(std::FILE* file, std::size_t max_bytes)
      : file_(file), max_bytes_(max_bytes), stream_(ZSTD_createCStream()) {
    if (!stream_) throw CollectionFileError("out of memory");
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }

  void put(std::string_view record) {
    const auto prefix = size_prefix(record.size());
    compress({prefix.data(), prefix.size()}, ZSTD_e_continue);
    compress(record, ZSTD_e_continue);
  }
  void finish() { compress({}, ZSTD_e_end); }
  bool is_full() const noexcept { return bytes_ > max_bytes_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Free {
    void operator()(ZSTD_CStream* stream) const noexcept { ZSTD_freeCStream(stream); }
  };

  void compress(std::string_view data, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{data.data(), data.size(), 0};
    std::size_t left = 1;
    while (in.pos < in.size || (end == ZSTD_e_end && left != 0)) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      left = ZSTD_compressStream2(stream_.get(), &out, &in, end);
      if (ZSTD_isError(left) != 0) throw CollectionFileError(ZSTD_getErrorName(left));
      bytes_ += out.pos;
      if (std::fwrite(buffer_.data(), 1, out.pos, file_) != out.pos)
        throw CollectionFileError(text_of_errno(errno));
    }
  }

  std::FILE* const file_;
  const std::size_t max_bytes_;
  const std::unique_ptr<ZSTD_CStream, Free> stream_;
  std::vector<char> buffer_ = std::vector<char>(piece_bytes);
  std::size_t bytes_ = 0;
};

/// Decompresses the records of a file.
class RecordReader {
 public:
  explicit RecordReader(std::FILE* file) : file_(file), stream_(ZSTD_createDStream()) {
    if (!stream_) throw CollectionFileError("out of memory");
  }

  /// Returns a view that is valid until the next call.
  std::string_view next() {
    const std::size_t size = size_of(take(4));
    if (size > max_record_bytes) throw CollectionFileError("it is damaged: a record is too long");
    return take(size);
  }
  /// Throws unless the file ends here, and has the checksum that it should have.
  void finish() {
    if (!over_) decompress();
    if (text_.size() > at_ || !over_ || in_.pos < in_.size || std::fgetc(file_) != EOF)
      throw CollectionFileError("it is damaged: it does not end where it should");
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
  };

  std::string_view take(std::size_t size) {
    while (text_.size() - at_ < size) {
      text_.erase(0, std::exchange(at_, 0));
      if (over_) throw CollectionFileError("it is damaged: it ends early");
      decompress();
    }
    at_ += size;
    return std::string_view(text_).substr(at_ - size, size);
  }

  /// Appends the next piece of the text.
  void decompress() {
    if (in_.pos == in_.size) {
      in_ = {compressed_.data(), std::fread(compressed_.data(), 1, compressed_.size(), file_), 0};
      if (in_.size == 0) throw CollectionFileError("it is damaged: it ends early");
    }
    ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in_);
    if (ZSTD_isError(left) != 0)
      throw CollectionFileError(std::string("it is damaged: ") + ZSTD_getErrorName(left));
    over_ = left == 0;
    text_.append(piece_.data(), out.pos);
  }

  std::FILE* const file_;
  const std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::vector<char> compressed_ = std::vector<char>(piece_bytes);
  std::vector<char> piece_ = std::vector<char>(piece_bytes);
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::string text_;    // decompressed and not dropped yet
  std::size_t at_ = 0;  // bytes of it that were returned
  bool over_ = false;   // the frame has ended
};

std::string text_of(const CollectionIdentity& identity) {
  const std::string& plural = identity.resource.plural;
  std::string text(format_line);
  for (const std::string_view part :
       {std::string_view(identity.server), std::string_view(identity.resource.group),
        std::string_view(identity.resource.version), std::string_view(plural),
        std::string_view(identity.namespace_), std::string_view(identity.label_selector),
        std::string_view(identity.field_selector)}) {
    text.append(part) += '\n';
  }
  return text;
}

/// Returns the name of the file; different collections get different names, barring hash collisions.
std::string name_of(const CollectionIdentity& identity, const std::string& text) {
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016zx", std::hash<std::string>()(text));
  std::string name = identity.resource.plural;
  if (!identity.resource.group.empty()) name.append(".").append(identity.resource.group);
  return name.append("-").append(hash.data()).append(collection_file_suffix);
}

CollectionCopy read_records(RecordReader& reader, const CollectionIdentity& identity,
                            std::string_view identity_text, const CollectionFile::ReadOptions& options) {
  const std::string_view found = reader.next();
  if (!found.starts_with(format_line)) throw CollectionFileError("it has another format");
  if (found != identity_text) throw CollectionFileError("it is a copy of another collection");
  CollectionCopy copy{.version = std::string(reader.next())};
  const std::string count_text(reader.next());
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(count_text.data(), count_text.data() + count_text.size(), count);
  if (error != std::errc() || end != count_text.data() + count_text.size())
    throw CollectionFileError("it is damaged: it does not say how many objects it has");
  WireScanner scanner({.api_version = identity.resource.api_version(), .kind = identity.resource.kind});
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    WireObject object = scanner.object(reader.next());
    copy.objects.push_back(options.keep ? options.keep(std::move(object)) : std::move(object));
    bytes += copy.objects.back().bytes();
    if (bytes > options.max_bytes)
      throw CollectionFileError("its objects have more than " + std::to_string(options.max_bytes) + " bytes");
  }
  reader.finish();
  return copy;
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& problem) {
  throw CollectionFileError(path.string() + ": " + problem);
}

}  // namespace

CollectionFile::CollectionFile(const std::filesystem::path& directory, CollectionIdentity identity)
    : identity_(std::move(identity)),
      identity_text_(text_of(identity_)),
      path_(directory / name_of(identity_, identity_text_)) {}

std::optional<CollectionCopy> CollectionFile::read(const ReadOptions& options) const {
  std::string problem;
  const OpenFile file = open_file(path_, FileRule::own, problem);
  if (!file && is_missing(problem)) return std::nullopt;
  if (!file) fail(path_, problem);
  try {
    RecordReader reader(file.get());
    return read_records(reader, identity_, identity_text_, options);
  } catch (const Error& error) {
    fail(path_, error.what());
  }
}

std::optional<std::size_t> CollectionFile::write(std::string_view version, const StoreSnapshot& objects,
                                                 std::size_t max_bytes) const {
  try {
    FileReplacement draft(path_);
    RecordWriter writer(draft.file(), max_bytes);
    writer.put(identity_text_);
    writer.put(version);
    writer.put(std::to_string(objects.size()));
    for (const WireObject& object : objects) {
      if (writer.is_full()) break;
      writer.put(object.expanded().raw());
    }
    if (!writer.is_full()) writer.finish();
    if (writer.is_full()) {
      ::unlink(path_.c_str());
      return std::nullopt;
    }
    draft.commit();
    return writer.bytes();
  } catch (const Error& error) {
    fail(path_, error.what());
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
