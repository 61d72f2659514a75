#include "engine/npz.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include <zlib.h>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/check.h"
#include "engine/input_error.h"

namespace abut {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");
static_assert(sizeof(double) == 8 && std::numeric_limits<double>::is_iec559);

constexpr std::uint32_t k_local_header = 0x04034b50, k_directory_header = 0x02014b50,
                        k_directory_end = 0x06054b50;
constexpr std::uint16_t k_version = 20;  // 2.0: all that a stored entry asks of a reader
constexpr std::uint16_t k_date =
    (1980 - 1980) << 9 | 1 << 5 | 1;  // 1 January 1980: the same data, the same file
constexpr std::string_view k_magic("\x93NUMPY\x01\x00", 8);
constexpr std::string_view k_extension = ".npy";

template <typename T>
void put(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

/// Little-endian number at an offset that the caller has checked.
template <typename T>
T get(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// The fields that the local header and the directory share.
void put_common(std::string& bytes, const std::string& name, const std::string& data, std::uint32_t crc) {
  put<std::uint16_t>(bytes, k_version);
  put<std::uint16_t>(bytes, 0);  // flags
  put<std::uint16_t>(bytes, 0);  // method: stored
  put<std::uint16_t>(bytes, 0);  // time of day
  put<std::uint16_t>(bytes, k_date);
  put<std::uint32_t>(bytes, crc);
  put(bytes, static_cast<std::uint32_t>(data.size()));  // stored size
  put(bytes, static_cast<std::uint32_t>(data.size()));  // size
  put(bytes, static_cast<std::uint16_t>(name.size()));
  put<std::uint16_t>(bytes, 0);  // extra field
}

std::size_t product(std::span<const std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t n : shape) {
    if (n != 0 && count > std::numeric_limits<std::size_t>::max() / n)
      return std::numeric_limits<std::size_t>::max();
    count *= n;
  }
  return count;
}

/// The `size` bytes of which a deflate stream is made; nothing if it is damaged or holds another number.
std::optional<std::string> inflated(std::string_view stream, std::size_t size) {
  constexpr std::size_t k_largest_ratio = 1032;  // of deflate: no memory is taken for a size that is a lie
  if (size / k_largest_ratio > stream.size()) return std::nullopt;
  z_stream zlib{};
  if (inflateInit2(&zlib, -MAX_WBITS) != Z_OK) return std::nullopt;  // without a header of zlib's
  std::string bytes(size, '\0');
  char nothing = 0;  // zlib takes no null pointer
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = reinterpret_cast<Bytef*>(size == 0 ? &nothing : bytes.data());
  zlib.avail_out = static_cast<uInt>(size);
  const int status = inflate(&zlib, Z_FINISH);
  const bool is_whole = status == Z_STREAM_END && zlib.avail_in == 0 && zlib.avail_out == 0;
  (void)inflateEnd(&zlib);
  if (!is_whole) return std::nullopt;
  return bytes;
}

/// What stands after `'key':` in the dictionary of an .npy header, up to the comma or brace that ends it.
std::string_view header_value(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  std::size_t begin = header.find(quoted);
  if (begin == std::string_view::npos) return {};
  begin = header.find_first_not_of(' ', begin + quoted.size());
  if (begin == std::string_view::npos) return {};
  std::size_t end = header.find_first_of(",}", begin);
  if (header[begin] == '(') {
    end = header.find(')', begin);
    if (end != std::string_view::npos) ++end;
  }
  return end == std::string_view::npos ? std::string_view{} : header.substr(begin, end - begin);
}

/// "(3, 4)", "(3,)" or "()"; false if it is none of these.
bool parse_shape(std::string_view text, std::vector<std::size_t>& shape) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  text = text.substr(1, text.size() - 2);
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return true;
    text.remove_prefix(begin);
    std::size_t value = 0, digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
      if (value > (std::numeric_limits<std::size_t>::max() - 9) / 10) return false;
      value = 10 * value + static_cast<std::size_t>(text[digits] - '0');
    }
    if (digits == 0) return false;
    shape.push_back(value);
    text.remove_prefix(digits);
    if (text.empty()) return true;
    if (text.front() != ',') return false;
    text.remove_prefix(1);
  }
}

template <typename T>
std::vector<T> to_vector(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Texts are arrays of UCS-4, each filled up with zeros to the longest. A byte that is no UTF-8 becomes the
// low surrogate U+DC00 + byte, and back: the "surrogateescape" of Python, which leaves every file name as it
// is.
constexpr char32_t k_escaped_byte = 0xDC00;

/// Takes one code point off the front of a text that is not empty.
char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto take = [&](std::size_t count, char32_t value) {
    text.remove_prefix(count);
    return value;
  };
  const unsigned char first = byte(0);
  if (first < 0x80) return take(1, first);
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return take(1, k_escaped_byte + first);
  char32_t value = first & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return take(1, k_escaped_byte + first);
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> k_least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value < 0xE000;
  if (value < k_least[size] || value > 0x10FFFF || is_surrogate) return take(1, k_escaped_byte + first);
  return take(size, value);
}

/// Appends a code point; false if it is none.
bool put_code_point(std::string& text, char32_t c) {
  const auto put_tail = [&](int count) {
    for (int i = count - 1; i >= 0; --i) text += static_cast<char>(0x80u | ((c >> (6 * i)) & 0x3Fu));
  };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0u | (c >> 6));
    put_tail(1);
  } else if (c >= k_escaped_byte + 0x80 && c <= k_escaped_byte + 0xFF) {
    text += static_cast<char>(c - k_escaped_byte);
  } else if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
    return false;
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0u | (c >> 12));
    put_tail(2);
  } else {
    text += static_cast<char>(0xF0u | (c >> 18));
    put_tail(3);
  }
  return true;
}

/// The texts in UCS-4, `width` code points each.
template <typename Fail>
std::vector<std::string> to_texts(std::string_view bytes, std::size_t count, std::size_t width,
                                  const Fail& fail) {
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::u32string code_points;
    for (std::size_t k = 0; k < width; ++k)
      code_points += get<char32_t>(bytes, sizeof(char32_t) * (i * width + k));
    code_points.resize(code_points.find_last_not_of(U'\0') + 1);
    for (const char32_t c : code_points) {
      if (!put_code_point(texts[i], c))
        fail(fmt::format("has a text with {:#x}, no code point", static_cast<std::uint32_t>(c)));
    }
  }
  return texts;
}

/// The width of the type '<U7', in quotes as it stands in the header; nothing if it is another type.
std::optional<std::size_t> text_width(std::string_view type) {
  if (!type.starts_with("'<U") || !type.ends_with('\'') || type.size() < 5) return std::nullopt;
  std::size_t width = 0;
  const char* const end = type.data() + type.size() - 1;
  const auto [stopped, error] = std::from_chars(type.data() + 3, end, width);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return width;
}

/// Parses the bytes of one .npy file; `fail` throws about it.
template <typename Fail>
NpzArray parse_npy(std::string_view bytes, const Fail& fail) {
  if (!bytes.starts_with(k_magic)) fail("is not an .npy array of version 1.0");
  if (bytes.size() < k_magic.size() + 2) fail("ends within the header");
  const std::size_t header_size = get<std::uint16_t>(bytes, k_magic.size());
  const std::size_t data_offset = k_magic.size() + 2 + header_size;
  if (bytes.size() < data_offset) fail("ends within the header");
  const std::string_view header = bytes.substr(k_magic.size() + 2, header_size),
                         data = bytes.substr(data_offset);

  NpzArray array;
  const std::string_view type = header_value(header, "descr");
  const std::optional<std::size_t> width = text_width(type);
  if (type != "'<f8'" && type != "'<i8'" && !width)
    fail(fmt::format("has type {}, allowed: '<f8', '<i8', '<U...'", type));
  if (!parse_shape(header_value(header, "shape"), array.shape)) fail("has no valid shape");
  const std::size_t count = product(array.shape);
  if (header_value(header, "fortran_order") != "False" && array.shape.size() > 1) fail("is not in C order");
  const std::size_t value_size = width ? product(std::array{sizeof(char32_t), *width}) : 8;
  if (product(std::array{count, value_size}) != data.size()) {
    fail(fmt::format("has {} bytes of data, its shape needs {} values of {} bytes", data.size(), count,
                     value_size));
  }
  if (width) {
    // A text of no width takes no bytes: nothing but the file's word for how many there are.
    if (*width == 0 && count > 0) fail("holds texts of width 0");
    array.values = to_texts(data, count, *width, fail);
  } else if (type == "'<f8'") {
    array.values = to_vector<double>(data);
  } else {
    array.values = to_vector<std::int64_t>(data);
  }
  return array;
}

}  // namespace

std::uint32_t zip_checksum(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1u) != 0 ? (value >> 1) ^ 0xEDB88320u : value >> 1;
      values[i] = value;
    }
    return values;
  }();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFFu] ^ (crc >> 8);
  return crc ^ 0xFFFFFFFFu;
}

namespace {

template <typename T, typename Values>
const std::vector<T>& values_of_type(const Values& values, std::string_view expected) {
  constexpr std::array k_kind_names{"doubles", "integers", "texts"};
  const auto* found = std::get_if<std::vector<T>>(&values);
  require(found != nullptr,
          fmt::format("the array is one of {}, not of {}", k_kind_names[values.index()], expected));
  return *found;
}

}  // namespace

const std::vector<double>& NpzArray::doubles() const { return values_of_type<double>(values, "doubles"); }

const std::vector<std::int64_t>& NpzArray::integers() const {
  return values_of_type<std::int64_t>(values, "integers");
}

const std::vector<std::string>& NpzArray::texts() const {
  return values_of_type<std::string>(values, "texts");
}

void NpzWriter::add(std::string_view name, std::span<const double> values,
                    std::span<const std::size_t> shape) {
  add_entry(name, "<f8", std::as_bytes(values), shape, values.size());
}

void NpzWriter::add(std::string_view name, std::span<const std::int64_t> values,
                    std::span<const std::size_t> shape) {
  add_entry(name, "<i8", std::as_bytes(values), shape, values.size());
}

void NpzWriter::add(std::string_view name, std::span<const std::string> texts,
                    std::span<const std::size_t> shape) {
  std::vector<std::u32string> rows(texts.size());
  std::size_t width = 1;  // NumPy has no texts of width 0
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::string_view rest = texts[i]; !rest.empty();) rows[i] += take_code_point(rest);
    width = std::max(width, rows[i].size());
  }
  std::u32string values;
  for (std::u32string& row : rows) {
    row.resize(width, U'\0');
    values += row;
  }
  add_entry(name, fmt::format("<U{}", width), std::as_bytes(std::span(values)), shape, texts.size());
}

void NpzWriter::add(std::string_view name, const std::string& text) { add(name, std::span(&text, 1), {}); }

void NpzWriter::add(std::string_view name, double value) { add(name, std::span(&value, 1), {}); }

void NpzWriter::add(std::string_view name, std::int64_t value) { add(name, std::span(&value, 1), {}); }

void NpzWriter::add_entry(std::string_view name, std::string_view type, std::span<const std::byte> bytes,
                          std::span<const std::size_t> shape, std::size_t value_count) {
  require(!name.empty() && name.size() < 1000, "an array needs a name of less than 1000 characters");
  require(product(shape) == value_count, fmt::format("array '{}': {} values do not fill the shape ({})", name,
                                                     value_count, fmt::join(shape, ", ")));
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                       fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // The format wants the data to start at a multiple of 64, and the header to end in a new line.
  const std::size_t unpadded = k_magic.size() + 2 + dictionary.size() + 1;
  dictionary.append((64 - unpadded % 64) % 64, ' ');
  dictionary += '\n';

  std::string data(k_magic);
  put(data, static_cast<std::uint16_t>(dictionary.size()));
  data += dictionary;
  data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool is_new = entries_.emplace(std::string(name) + std::string(k_extension), std::move(data)).second;
  require(is_new, fmt::format("array '{}' has been added before", name));
}

void NpzWriter::write(const std::filesystem::path& path) const {
  constexpr auto k_limit = static_cast<std::size_t>(k_largest_npz);
  AtomicFile file(path);
  std::string directory;
  std::size_t offset = 0;
  for (const auto& [name, data] : entries_) {
    const std::uint32_t crc = zip_checksum(data);
    std::string header;
    put(header, k_local_header);
    put_common(header, name, data, crc);
    header += name;

    put(directory, k_directory_header);
    put<std::uint16_t>(directory, k_version);  // made by
    put_common(directory, name, data, crc);
    put<std::uint16_t>(directory, 0);  // comment
    put<std::uint16_t>(directory, 0);  // disk
    put<std::uint16_t>(directory, 0);  // internal attributes
    put<std::uint32_t>(directory, 0);  // external attributes
    put(directory, static_cast<std::uint32_t>(offset));
    directory += name;

    offset += header.size() + data.size();
    if (offset > k_limit - directory.size() - 1000) {
      throw InputError(path.string(), 0, "cannot be written: the arrays need more than 4 GiB");
    }
    file.write(header);
    file.write(data);
  }
  if (entries_.size() >= 0xFFFF)
    throw InputError(path.string(), 0, "cannot be written: more than 65534 arrays");
  const std::size_t directory_size = directory.size();
  put(directory, k_directory_end);
  put<std::uint16_t>(directory, 0);  // this disk
  put<std::uint16_t>(directory, 0);  // disk of the directory
  put(directory, static_cast<std::uint16_t>(entries_.size()));
  put(directory, static_cast<std::uint16_t>(entries_.size()));
  put(directory, static_cast<std::uint32_t>(directory_size));
  put(directory, static_cast<std::uint32_t>(offset));
  put<std::uint16_t>(directory, 0);  // comment
  file.write(directory);
  file.commit();
}

std::map<std::string, NpzArray> read_npz(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  const std::string_view bytes = content;
  const auto fail = [&](const std::string& message) { throw InputError(path.string(), 0, message); };

  // The directory is found from its end record, the last thing in the file but for a comment.
  constexpr std::size_t k_end_size = 22, k_directory_entry_size = 46, k_local_size = 30;
  if (bytes.size() < k_end_size) fail("is too short for a zip archive");
  std::size_t end = bytes.size() - k_end_size;
  const std::size_t lowest = end > 0xFFFF ? end - 0xFFFF : 0;
  while (get<std::uint32_t>(bytes, end) != k_directory_end) {
    if (end == lowest) fail("is not a zip archive, or its end is missing");
    --end;
  }
  const std::size_t entry_count = get<std::uint16_t>(bytes, end + 10);
  std::size_t cursor = get<std::uint32_t>(bytes, end + 16);

  std::map<std::string, NpzArray> arrays;
  for (std::size_t i = 0; i < entry_count; ++i) {
    const std::string entry = fmt::format("entry {}", i);
    if (cursor > end || end - cursor < k_directory_entry_size ||
        get<std::uint32_t>(bytes, cursor) != k_directory_header) {
      fail(entry + " of the archive's directory is damaged");
    }
    const std::size_t name_size = get<std::uint16_t>(bytes, cursor + 28);
    const std::size_t entry_size = k_directory_entry_size + name_size +
                                   get<std::uint16_t>(bytes, cursor + 30) +
                                   get<std::uint16_t>(bytes, cursor + 32);
    if (end - cursor < entry_size) fail(entry + " of the archive's directory is damaged");
    const std::string file_name(bytes.substr(cursor + k_directory_entry_size, name_size));
    const auto fail_array = [&](const std::string& message) {
      fail(fmt::format("array '{}' {}", file_name, message));
    };

    constexpr std::uint16_t k_stored = 0, k_deflated = 8;
    constexpr std::size_t k_in_zip64 = 0xFFFFFFFF;  // the number stands in an extra field
    const std::size_t size = get<std::uint32_t>(bytes, cursor + 24),
                      packed_size = get<std::uint32_t>(bytes, cursor + 20),
                      local = get<std::uint32_t>(bytes, cursor + 42);
    const std::uint16_t method = get<std::uint16_t>(bytes, cursor + 10);
    if ((get<std::uint16_t>(bytes, cursor + 8) & 1u) != 0) fail_array("is encrypted");
    if (method != k_stored && method != k_deflated) {
      fail_array(fmt::format("is compressed by method {}; stored and deflated arrays can be read", method));
    }
    if (size == k_in_zip64 || packed_size == k_in_zip64 || local == k_in_zip64)
      fail_array("needs more than the 4 GiB that can be read");
    if (method == k_stored && packed_size != size) fail_array("has two lengths");
    if (bytes.size() < k_local_size || local > bytes.size() - k_local_size ||
        get<std::uint32_t>(bytes, local) != k_local_header) {
      fail_array("has no header");
    }
    // NumPy gives the local header an extra field that the directory has not.
    const std::size_t data =
        local + k_local_size + get<std::uint16_t>(bytes, local + 26) + get<std::uint16_t>(bytes, local + 28);
    if (data > bytes.size() || bytes.size() - data < packed_size)
      fail_array("goes beyond the end of the file");
    std::string_view array_bytes = bytes.substr(data, packed_size);
    std::optional<std::string> unpacked;
    if (method == k_deflated) {
      unpacked = inflated(array_bytes, size);
      if (!unpacked) fail_array("is damaged: its compressed data end early, or are none");
      array_bytes = *unpacked;
    }
    if (zip_checksum(array_bytes) != get<std::uint32_t>(bytes, cursor + 16))
      fail_array("is damaged: its checksum differs");

    if (!file_name.ends_with(k_extension)) fail_array("is no .npy file");
    const std::string name = file_name.substr(0, file_name.size() - k_extension.size());
    if (!arrays.emplace(name, parse_npy(array_bytes, fail_array)).second) fail_array("occurs twice");
    cursor += entry_size;
  }
  return arrays;
}

}  // namespace abut
