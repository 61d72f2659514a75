#include "apps/abut/heartbeat.h"

#include <catch2/catch.hpp>

#include <future>
#include <string>

namespace abut::test {

using Catch::Contains;

TEST_CASE("Heartbeat: says what is going on where nothing else does", "[apps][value]") {
  std::promise<std::string> first;
  std::atomic<int> lines{0};
  {
    Heartbeat heartbeat("reading", std::chrono::milliseconds(1), [&](const std::string& line) {
      if (lines++ == 0) first.set_value(line);
    });
    CHECK_THAT(first.get_future().get(),
               Contains("reading") && Contains("so far") && !Contains("time steps"));
  }
  const int at_end = lines;
  CHECK(at_end >= 1);

  std::promise<std::string> second;
  bool is_set = false;
  Heartbeat heartbeat("searching", std::chrono::milliseconds(1), [&](const std::string& line) {
    if (!is_set && line.find("time steps") != std::string::npos) {
      is_set = true;
      second.set_value(line);
    }
  });
  heartbeat.count() += 1200;
  CHECK_THAT(second.get_future().get(), Contains("searching") && Contains("1200 time steps simulated"));
}

TEST_CASE("Heartbeat: is silent where something else was said", "[apps][value]") {
  std::atomic<int> lines{0};
  {
    Heartbeat heartbeat("reading", std::chrono::hours(1), [&](const std::string&) { ++lines; });
    heartbeat.said_something();
    heartbeat.set_phase("searching");
  }
  CHECK(lines == 0);
}

}  // namespace abut::test
