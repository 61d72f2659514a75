#include "engine/atomic_file.h"

#include <filesystem>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

using namespace abut;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t file_count(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_CASE("AtomicFile: the file appears at commit, whole, and nothing else stays", "[engine][value]") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "out.txt";
  {
    AtomicFile file(path);
    file.write("one ");
    file.write("two");
    CHECK_FALSE(fs::exists(path));
    file.commit();
  }
  CHECK(read_file(path) == "one two");
  CHECK(file_count(folder.path()) == 1);
}

TEST_CASE("AtomicFile: without a commit the old file stays as it was", "[engine][value]") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.write("out.txt", "old");
  {
    AtomicFile file(path);
    file.write("half of the new");
    CHECK(read_file(path) == "old");
  }
  CHECK(read_file(path) == "old");
  CHECK(file_count(folder.path()) == 1);
  write_file(path, "new");
  CHECK(read_file(path) == "new");
}

TEST_CASE("AtomicFile: a symbolic link stays one, a device is written to as it is", "[engine][value]") {
  const test::TemporaryFolder folder;
  const fs::path target = folder.write("target.txt", "old"), link = folder.path() / "link.txt";
  fs::create_symlink(target, link);
  write_file(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(read_file(target) == "new");
  CHECK_NOTHROW(write_file("/dev/null", "gone"));
  CHECK_FALSE(fs::is_regular_file("/dev/null"));
}

TEST_CASE("AtomicFile: says which path cannot be written, and why", "[engine][value]") {
  const test::TemporaryFolder folder;
  const auto message_of = [](const fs::path& path) {
    return test::rejection([&] {
      write_file(path, "x");
      return 0;
    });
  };
  CHECK(test::missing_part(message_of(folder.path() / "no" / "out.txt"),
                           {"out.txt", "there is no folder", "/no'"}) == "");
  CHECK(test::missing_part(message_of(folder.path()), {folder.path().string(), "it is a folder"}) == "");
  CHECK(test::missing_part(message_of(""), {"not the name of a file"}) == "");
  CHECK(test::missing_part(message_of(folder.path() / ""), {"not the name of a file"}) == "");
  const fs::path in_the_way = folder.write("file", "");
  CHECK(test::missing_part(message_of(in_the_way / "out.txt"), {"out.txt", "there is no folder"}) == "");
  if (::geteuid() != 0) {  // root may write anywhere
    const fs::path locked = folder.path() / "locked";
    fs::create_directory(locked);
    ::chmod(locked.c_str(), 0555);
    CHECK(test::missing_part(message_of(locked / "out.txt"), {"out.txt", "Permission denied"}) == "");
    ::chmod(locked.c_str(), 0755);
  }
  CHECK(test::missing_part(message_of("/dev/full"), {"/dev/full", "No space left"}) == "");
}

TEST_CASE("read_file: says what cannot be read, and why", "[engine][value]") {
  const test::TemporaryFolder folder;
  const auto message_of = [](const fs::path& path) {
    return test::rejection([&] { return read_file(path); });
  };
  CHECK(test::missing_part(message_of(folder.path() / "no.txt"), {"no.txt", "no such file"}) == "");
  CHECK(test::missing_part(message_of(folder.path()), {folder.path().string(), "is a folder"}) == "");
  CHECK(test::missing_part(message_of("/dev/zero"), {"/dev/zero", "not a regular file"}) == "");
  CHECK(read_file(folder.write("empty", "")).empty());
}
