#ifndef ABUT_ENABLE_ASSERTIONS
#define ABUT_ENABLE_ASSERTIONS  // here always, whatever the build
#endif
#include "engine/check.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "engine/log.h"

namespace abut {

TEST_CASE("check: require throws what it is told, and only if the condition fails", "[engine][value]") {
  CHECK_NOTHROW(require(true, "not this"));
  CHECK_THROWS_AS(require(false, "h = -1: must be > 0"), std::invalid_argument);
  CHECK_THROWS_WITH(require(false, "h = -1: must be > 0"), "h = -1: must be > 0");
}

TEST_CASE("check: a failed ABUT_ASSERT says where and aborts", "[engine][value]") {
  int evaluated = 0;
  ABUT_ASSERT(++evaluated == 1);
  CHECK(evaluated == 1);

  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // not Catch's own handler
    dup2(ends[1], STDERR_FILENO);
    ABUT_ASSERT(evaluated == 2);
    _exit(0);
  }
  close(ends[1]);
  std::string message(1000, '\0');
  const auto length = read(ends[0], message.data(), message.size());
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  REQUIRE(length > 0);
  message.resize(static_cast<std::size_t>(length));
  CHECK_THAT(message,
             Catch::Matchers::Contains("check_test.cpp:") && Catch::Matchers::Contains("evaluated == 2"));
}

TEST_CASE("log: there is one logger, named abut", "[engine][value]") {
  CHECK(log().name() == "abut");
  CHECK(&log() == &log());
  CHECK(&log() == spdlog::get("abut").get());
}

}  // namespace abut
