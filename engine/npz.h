/// Arrays in files that NumPy opens with `numpy.load`: a zip archive of arrays in the .npy format
/// (version 1.0, little endian, C order), written without compression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace abut {

struct NpzArray {
  std::vector<std::size_t> shape;  ///< empty for a single number; the last index runs fastest
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;

  /// The values of an array known to be of doubles, of integers or of texts; std::invalid_argument if it is
  /// of another kind.
  [[nodiscard]] const std::vector<double>& doubles() const;
  [[nodiscard]] const std::vector<std::int64_t>& integers() const;
  [[nodiscard]] const std::vector<std::string>& texts() const;
};

/// No archive is larger [bytes].
inline constexpr double k_largest_npz = 4294967295.0;

/// Collects arrays and writes them. The names are what NumPy shows; each may be used once.
class NpzWriter {
 public:
  /// Throws std::invalid_argument if the name is empty or used, or if the shape does not fit the number of
  /// values.
  void add(std::string_view name, std::span<const double> values, std::span<const std::size_t> shape);
  void add(std::string_view name, std::span<const std::int64_t> values, std::span<const std::size_t> shape);
  /// Texts in UTF-8. Bytes that are none are kept, as the surrogates that Python's os.fsdecode makes of them.
  void add(std::string_view name, std::span<const std::string> texts, std::span<const std::size_t> shape);
  void add(std::string_view name, double value);
  void add(std::string_view name, std::int64_t value);
  void add(std::string_view name, const std::string& text);

  /// Writes the archive atomically. Throws InputError if that is impossible, or if it would need more than 4
  /// GiB.
  void write(const std::filesystem::path& path) const;

 private:
  void add_entry(std::string_view name, std::string_view type, std::span<const std::byte> bytes,
                 std::span<const std::size_t> shape, std::size_t value_count);

  std::map<std::string, std::string, std::less<>> entries_;  // file name in the archive -> its bytes
};

/// The checksum of zip archives: CRC-32 with the reflected polynomial 0xEDB88320.
[[nodiscard]] std::uint32_t zip_checksum(std::string_view bytes);

/// Reads an archive of arrays of type <f8, <i8 and <U in C order, stored or deflated: what NpzWriter,
/// numpy.savez and numpy.savez_compressed write. Checks lengths and checksums; throws InputError naming the
/// file, the array and the cause.
[[nodiscard]] std::map<std::string, NpzArray> read_npz(const std::filesystem::path& path);

}  // namespace abut
