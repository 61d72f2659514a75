#include "apps/abut/batch_journal.h"

#include <bit>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/hash.h"
#include "engine/input_error.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view k_magic = "abut batch journal 4\n";
constexpr std::size_t k_header = k_magic.size() + sizeof(std::uint64_t);
constexpr std::size_t k_record_header = sizeof(std::uint32_t) + sizeof(std::uint64_t);

/// Appends what it is called with.
class Writer {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(T)); }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes += text;
  }
  template <typename T>
  void operator()(const std::vector<T>& values);

  std::string bytes;
};

/// Reads the same back, into what it is called with. `ok` turns false where the bytes end too soon.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) {
    if (!has(sizeof(T))) return;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
  }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    if (!has(size)) return;
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <typename T>
  void operator()(std::vector<T>& values);

  [[nodiscard]] bool whole() const { return ok_ && bytes_.empty(); }

 private:
  bool has(std::size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    return ok_;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

/// The numbers of each, in one place for both ways. `T` is const when they are written.
template <typename Archive, typename T>
void each_number(Archive& archive, T& value) {
  using Type = std::remove_const_t<T>;
  if constexpr (std::is_arithmetic_v<Type>) {
    archive(value);
  } else if constexpr (std::same_as<Type, Pose<double>>) {
    for (int i = 0; i < 4; ++i) archive(value.q.coeffs()[i]);
    for (int i = 0; i < 3; ++i) archive(value.p[i]);
  } else if constexpr (std::same_as<Type, Vec6<double>>) {
    for (int i = 0; i < 6; ++i) archive(value[i]);
  } else if constexpr (std::same_as<Type, State>) {
    archive(value.X_WB);
    archive(value.V_WB);
    archive(value.time);
    archive(value.hinge_angles);
  } else if constexpr (std::same_as<Type, ContactFeature>) {
    archive(value.kind);
    archive(value.body_A);
    archive(value.body_B);
    archive(value.feature_A);
    archive(value.feature_B);
  } else if constexpr (std::same_as<Type, StepReport>) {
    archive(value.status);
    archive(value.contacts);
    archive(value.max_penetration);
    archive(value.iterations);
    archive(value.residual);
    archive(value.path);
    archive(value.has_negative_determinant);
    archive(value.max_speed);
    archive(value.step);
    archive(value.law);
    archive(value.body);
    each_number(archive, value.contact);
    each_number(archive, value.warnings);
  } else if constexpr (std::same_as<Type, StepWarnings>) {
    for (auto& warning : value) {
      archive(warning.body);
      archive(warning.other);
      archive(warning.value);
    }
  } else if constexpr (std::same_as<Type, SolutionCounts>) {
    for (auto& steps : value.steps) archive(steps);
    archive(value.negative_determinants);
  } else if constexpr (std::same_as<Type, Overlap>) {
    archive(value.body_A);
    archive(value.body_B);
    archive(value.depth);
    for (int i = 0; i < 3; ++i) archive(value.point_W[i]);
  } else {
    static_assert(std::same_as<Type, BatchResult>);
    archive(value.steps);
    each_number(archive, value.report);
    archive(value.error);
    each_number(archive, value.final_state);
    archive(value.energy_initial);
    archive(value.energy_final);
    archive(value.max_penetration);
    archive(value.contacts_peak);
    each_number(archive, value.initial_overlap);
    each_number(archive, value.warnings);
    each_number(archive, value.solutions);
    archive(value.states);
  }
}

template <typename T>
void Writer::operator()(const std::vector<T>& values) {
  (*this)(values.size());
  for (const T& value : values) each_number(*this, value);
}

template <typename T>
void Reader::operator()(std::vector<T>& values) {
  std::size_t size = 0;
  (*this)(size);
  if (!has(size)) return;  // each has at least a byte
  values.resize(size);
  for (T& value : values) each_number(*this, value);
}

}  // namespace

BatchJournal::BatchJournal(fs::path path, std::uint64_t key, bool resume) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail(fmt::format("cannot be written: {}", std::strerror(errno)));
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) fail("is in use: another program runs this batch");
    const std::string bytes = read_file(path_);
    const std::size_t end = read(bytes, key, resume);
    if (end < bytes.size() && ::ftruncate(file_, static_cast<off_t>(end)) != 0)
      fail(fmt::format("cannot be written: {}", std::strerror(errno)));
    if (end == 0) {
      Writer header;
      header.bytes = k_magic;
      header(key);
      write(header.bytes);
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

BatchJournal::~BatchJournal() { ::close(file_); }

std::size_t BatchJournal::read(std::string_view bytes, std::uint64_t key, bool resume) {
  if (bytes.size() < k_header && k_magic.starts_with(bytes.substr(0, k_magic.size()))) return 0;
  std::uint64_t found = 0;
  if (bytes.starts_with(k_magic)) {
    std::memcpy(&found, bytes.data() + k_magic.size(), sizeof found);
  } else {
    fail("is there already, and no record of a batch: it is not touched");
  }
  if (!resume) {
    fail("holds rollouts of a batch that was stopped: go on with --resume, or delete it to start anew");
  }
  if (found != key) {
    fail(
        "holds rollouts of another batch: the table, the scene or a file of it, the options or the version "
        "of "
        "abut differ; delete it, or choose another --out");
  }
  std::size_t end = k_header;
  while (bytes.size() - end >= k_record_header) {
    std::uint32_t size = 0;
    std::uint64_t checksum = 0;
    std::memcpy(&size, bytes.data() + end, sizeof size);
    std::memcpy(&checksum, bytes.data() + end + sizeof size, sizeof checksum);
    if (bytes.size() - end - k_record_header < size) break;
    const std::string_view contents = bytes.substr(end + k_record_header, size);
    if (hash_of(contents) != checksum) break;
    Reader reader(contents);
    int rollout = -1;
    BatchResult result;
    reader(rollout);
    each_number(reader, result);
    if (!reader.whole()) break;
    finished_.insert_or_assign(rollout, std::move(result));
    end += k_record_header + size;
  }
  return end;
}

void BatchJournal::add(int rollout, const BatchResult& result) {
  Writer contents;
  contents(rollout);
  each_number(contents, result);
  Writer record;
  record(static_cast<std::uint32_t>(contents.bytes.size()));
  record(hash_of(contents.bytes));
  record.bytes += contents.bytes;
  write(record.bytes);
}

void BatchJournal::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(fmt::format("cannot be written: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void BatchJournal::remove() {
  if (::unlink(path_.c_str()) != 0) fail(fmt::format("cannot be deleted: {}", std::strerror(errno)));
}

void BatchJournal::fail(std::string_view what) const { throw InputError(path_.string(), 0, what); }

}  // namespace abut
