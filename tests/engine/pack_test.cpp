#include "engine/pack.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/random.h"
#include "engine/smooth.h"
#include "engine/types.h"
#include "tests/support/close.h"

namespace abut {
namespace {

/// Whether the instruction set of this build multiplies and adds with one rounding.
constexpr bool k_fuses = ABUT_SIMD_REGISTER_BYTES >= 32;

constexpr double k_inf = std::numeric_limits<double>::infinity();
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// Distance of y from the exact value in units of the spacing of T's numbers there; infinite where y is a
/// wrong special.
template <typename T, typename Exact>
double ulps(T y, Exact exact) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(y)) return std::isnan(exact) && std::isnan(y) ? 0.0 : k_inf;
  if (std::isinf(static_cast<T>(exact)) || std::isinf(y)) return y == static_cast<T>(exact) ? 0.0 : k_inf;
  if (exact == 0 || y == Exact(0)) return y == static_cast<T>(exact) ? 0.0 : k_inf;
  const int exponent = std::max(std::ilogb(exact), Limits::min_exponent - 1) - (Limits::digits - 1);
  return static_cast<double>(std::abs(static_cast<Exact>(y) - exact) / std::ldexp(Exact(1), exponent));
}

struct Worst {
  double error = 0.0, at = 0.0;
  void see(double candidate, double x) {
    if (!(candidate <= error)) error = candidate, at = x;
  }
};

/// Worst error of a float function over every `stride`-th float with |x| <= limit, special values included.
template <typename F, typename Exact>
Worst worst_of_floats(const F& f, const Exact& exact, std::uint32_t stride, float limit) {
  Worst worst;
  std::array<float, 8> x{}, y{};
  std::size_t filled = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t(1) << 32); bits += stride) {
    const float candidate = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::abs(candidate) > limit) continue;
    x[filled++] = candidate;
    if (filled < x.size()) continue;
    f(Pack<float, 8>::load(x.data())).store(y.data());
    for (std::size_t i = 0; i < x.size(); ++i)
      worst.see(ulps<float>(y[i], exact(static_cast<double>(x[i]))), static_cast<double>(x[i]));
    filled = 0;
  }
  return worst;
}

/// Worst error of a double function at `count` arguments from a generator, against long double.
template <typename F, typename Exact, typename Generator>
Worst worst_of_doubles(const F& f, const Exact& exact, const Generator& next, int count = 200'000) {
  Worst worst;
  Random random(11);
  std::array<double, 4> x{}, y{};
  for (int k = 0; k < count / 4; ++k) {
    for (double& xi : x) xi = next(random);
    f(Pack<double, 4>::load(x.data())).store(y.data());
    for (std::size_t i = 0; i < x.size(); ++i)
      worst.see(ulps<double>(y[i], exact(static_cast<long double>(x[i]))), x[i]);
  }
  return worst;
}

auto floats_between(double lo, double hi) {
  return [=](Random& random) { return random.uniform(lo, hi); };
}
double any_magnitude(Random& random) {
  const double x = std::pow(10.0, random.uniform(-300.0, 2.0));
  return random.uniform() < 0.5 ? -x : x;
}
double any_positive(Random& random) {
  const double x = std::bit_cast<double>(random.bits() >> 1);
  return std::isnan(x) ? 1.0 : x;
}

}  // namespace

// Each function as one object on packs and one on the scalars of the standard library.
#define ABUT_BOTH(name) [](const auto& x) { return name(x); }, [](auto x) { return std::name(x); }

TEST_CASE("pack: float functions are within their stated ulps over all floats", "[engine][value]") {
  constexpr std::uint32_t k_stride = 4093;  // prime: every exponent, all sorts of mantissa
  struct Case {
    const char* name;
    Worst worst;
    double bound;
  };
  const float all = std::numeric_limits<float>::infinity();
  for (const Case& c : {Case{"exp", worst_of_floats(ABUT_BOTH(exp), k_stride, all), 1.1},
                        Case{"expm1", worst_of_floats(ABUT_BOTH(expm1), k_stride, all), 2.0},
                        Case{"log", worst_of_floats(ABUT_BOTH(log), k_stride, all), 1.0},
                        Case{"log1p", worst_of_floats(ABUT_BOTH(log1p), k_stride, all), 1.6},
                        Case{"tanh", worst_of_floats(ABUT_BOTH(tanh), k_stride, all), 2.8},
                        Case{"sin", worst_of_floats(ABUT_BOTH(sin), k_stride, 3e3f), 2.7},
                        Case{"cos", worst_of_floats(ABUT_BOTH(cos), k_stride, 3e3f), 2.7}}) {
    CAPTURE(c.name, c.worst.error, c.worst.at);
    CHECK(c.worst.error <= c.bound);
    CHECK(c.worst.error > 0.25);  // half an ulp is what rounding alone costs
  }
}

TEST_CASE("pack: double functions are within their stated ulps over their ranges", "[engine][value]") {
  struct Case {
    const char* name;
    Worst worst;
    double bound;
  };
  for (const Case& c :
       {Case{"exp", worst_of_doubles(ABUT_BOTH(exp), floats_between(-760, 720)), 1.2},
        Case{"exp near 0", worst_of_doubles(ABUT_BOTH(exp), floats_between(-1, 1)), 1.2},
        Case{"exp tiny", worst_of_doubles(ABUT_BOTH(exp), any_magnitude), 1.2},
        Case{"expm1", worst_of_doubles(ABUT_BOTH(expm1), floats_between(-50, 720)), 2.2},
        Case{"expm1 near 0", worst_of_doubles(ABUT_BOTH(expm1), floats_between(-2, 2)), 2.2},
        Case{"expm1 tiny", worst_of_doubles(ABUT_BOTH(expm1), any_magnitude), 2.2},
        Case{"log", worst_of_doubles(ABUT_BOTH(log), any_positive), 1.0},
        Case{"log near 1", worst_of_doubles(ABUT_BOTH(log), floats_between(0.4, 2.5)), 1.0},
        Case{"log at 1", worst_of_doubles(ABUT_BOTH(log), floats_between(0.999, 1.001)), 1.0},
        Case{"log1p", worst_of_doubles(ABUT_BOTH(log1p), floats_between(-1, 1)), 1.6},
        Case{"log1p large", worst_of_doubles(ABUT_BOTH(log1p), floats_between(0, 1e5)), 1.6},
        Case{"log1p tiny", worst_of_doubles(ABUT_BOTH(log1p), any_magnitude), 1.6},
        Case{"tanh", worst_of_doubles(ABUT_BOTH(tanh), floats_between(-20, 20)), 2.8},
        Case{"tanh tiny", worst_of_doubles(ABUT_BOTH(tanh), any_magnitude), 2.8},
        Case{"sin", worst_of_doubles(ABUT_BOTH(sin), floats_between(-10, 10)), 2.7},
        Case{"sin large", worst_of_doubles(ABUT_BOTH(sin), floats_between(-1e6, 1e6)), 2.7},
        Case{"cos", worst_of_doubles(ABUT_BOTH(cos), floats_between(-10, 10)), 2.7},
        Case{"cos large", worst_of_doubles(ABUT_BOTH(cos), floats_between(-1e6, 1e6)), 2.7}}) {
    CAPTURE(c.name, c.worst.error, c.worst.at);
    CHECK(c.worst.error <= c.bound);
    CHECK(c.worst.error > 0.25);
  }
}

TEMPLATE_TEST_CASE(
    "pack: exp and log treat 0, infinities, NaN and the ends of the range as the standard does",
    "[engine][value]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const auto exp1 = [](T x) { return exp(Pack<T, 4>(x))[3]; };
  const auto log1 = [](T x) { return log(Pack<T, 4>(x))[3]; };
  const auto inf = Limits::infinity(), tiny = Limits::denorm_min(), largest = Limits::max(),
             nan = Limits::quiet_NaN();

  CHECK(exp1(T(0)) == T(1));
  CHECK(exp1(T(-0.0)) == T(1));
  CHECK(exp1(inf) == inf);
  CHECK(exp1(-inf) == T(0));
  CHECK(exp1(T(-1000)) == T(0));
  CHECK(exp1(T(1000)) == inf);
  CHECK(exp1(largest) == inf);
  CHECK(exp1(-largest) == T(0));
  CHECK(exp1(tiny) == T(1));
  CHECK(std::isnan(exp1(nan)));
  CHECK(exp1(std::nextafter(std::log(largest), T(0))) < inf);
  CHECK(exp1(std::nextafter(std::log(largest), inf) + T(0.001)) == inf);
  const T near_bottom = std::log(Limits::min()) - T(2);  // a subnormal result
  CHECK(exp1(near_bottom) > T(0));
  CHECK(ulps<T>(exp1(near_bottom), std::exp(static_cast<long double>(near_bottom))) < 1.0);

  CHECK(log1(T(1)) == T(0));
  CHECK(!std::signbit(log1(T(1))));
  CHECK(log1(T(0)) == -inf);
  CHECK(log1(T(-0.0)) == -inf);
  CHECK(log1(inf) == inf);
  CHECK(std::isnan(log1(-inf)));
  CHECK(std::isnan(log1(T(-1))));
  CHECK(std::isnan(log1(-tiny)));
  CHECK(std::isnan(log1(nan)));
  CHECK(test::close(static_cast<double>(log1(tiny)), std::log(static_cast<double>(tiny)), 1e-6, 0));
  CHECK(test::close(static_cast<double>(log1(largest)), std::log(static_cast<double>(largest)), 1e-6, 0));

  using P = Pack<T, 4>;
  CHECK(log1p(P(T(-1)))[0] == -inf);
  CHECK(log1p(P(inf))[0] == inf);
  CHECK(std::isnan(log1p(P(T(-2)))[0]));
  CHECK(expm1(P(-inf))[0] == T(-1));
  CHECK(expm1(P(inf))[0] == inf);
  CHECK(expm1(P(T(0)))[0] == T(0));
  CHECK(tanh(P(inf))[0] == T(1));
  CHECK(tanh(P(-inf))[0] == T(-1));
  CHECK(std::signbit(tanh(P(T(-0.0)))[0]));
  CHECK(sin(P(T(0)))[0] == T(0));
  CHECK(cos(P(T(0)))[0] == T(1));
  for (const P& y : {exp(P(nan)), expm1(P(nan)), log(P(nan)), log1p(P(nan)), tanh(P(nan)), sin(P(nan)),
                     cos(P(nan)), sqrt(P(nan)), pow(P(nan), P(T(2))), abs(P(nan))}) {
    CHECK(all(isnan(y)));
  }
}

TEMPLATE_TEST_CASE("pack: pow has the stated error, and 0^p and x^0 are right", "[engine][value]", float,
                   double) {
  using T = TestType;
  using P = Pack<T, 8>;
  Random random(12);
  for (int k = 0; k < 20'000; ++k) {
    const T x = static_cast<T>(std::pow(10.0, random.uniform(-10.0, 10.0))),
            p = static_cast<T>(random.uniform(-30.0, 30.0));
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(p));
    if (exact > std::numeric_limits<T>::max() || exact < std::numeric_limits<T>::min()) continue;
    CAPTURE(x, p);
    REQUIRE(ulps<T>(pow(P(x), P(p))[0], exact) <= T(3) * std::abs(p * std::log(x)) + T(2));
  }
  CHECK(pow(P(0), P(T(0.5)))[0] == T(0));
  CHECK(pow(P(0), P(T(-0.5)))[0] == std::numeric_limits<T>::infinity());
  CHECK(pow(P(0), P(0))[0] == T(1));
  CHECK(pow(P(7), P(0))[0] == T(1));
  CHECK(std::isnan(pow(P(-1), P(T(0.5)))[0]));
}

namespace {

/// A kernel that uses everything.
template <typename S>
S kernel(const S& x, const S& y) {
  using std::abs, std::cos, std::exp, std::log, std::log1p, std::max, std::min, std::pow, std::sin, std::sqrt,
      std::tanh;
  const S a = select(x > y && !(x > S(3)), x * y - S(0.5), x / (y * y + S(1)));
  const S b = exp(-abs(a)) + log(S(1) + a * a) + log1p(abs(y)) + pow(abs(x), S(0.3)) + sqrt(abs(a));
  return softplus(b - a, S(0.3)) + sin(a) * cos(b) + tanh(min(a, b)) + max(x, a) +
         softclip(a, S(-1), S(1), S(0.1));
}

template <typename T, int W>
std::vector<T> kernel_of(const std::vector<T>& x, const std::vector<T>& y) {
  std::vector<T> result(x.size());
  for (std::size_t i = 0; i < x.size(); i += W)
    kernel(Pack<T, W>::load(&x[i]), Pack<T, W>::load(&y[i])).store(&result[i]);
  return result;
}

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](T x, T y) { return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y); });
}

}  // namespace

TEMPLATE_TEST_CASE("pack: a lane is the same bit for bit in every lane and width", "[engine][batch]", float,
                   double) {
  using T = TestType;
  Random random(13);
  std::vector<T> x(960), y(960);
  for (T& xi : x) xi = static_cast<T>(random.normal() * std::pow(10.0, random.uniform(-3.0, 1.5)));
  for (T& yi : y) yi = static_cast<T>(random.normal());
  const std::vector<T> result = kernel_of<T, 4>(x, y);
  CHECK(same_bits(result, kernel_of<T, 8>(x, y)));
  CHECK(same_bits(result, kernel_of<T, 16>(x, y)));

  std::vector<T> rotated_x = x, rotated_y = y,
                 rotated = result;  // every number in another lane, beside other neighbours
  std::rotate(rotated_x.begin(), rotated_x.begin() + 3, rotated_x.end());
  std::rotate(rotated_y.begin(), rotated_y.begin() + 3, rotated_y.end());
  std::rotate(rotated.begin(), rotated.begin() + 3, rotated.end());
  CHECK(same_bits(rotated, kernel_of<T, 8>(rotated_x, rotated_y)));

  for (std::size_t i = 0; i < x.size(); ++i) {
    REQUIRE(fast_exp(x[i]) == exp(Pack<T, 8>(x[i]))[5]);
    REQUIRE(fast_log(std::abs(x[i])) == log(Pack<T, 16>(std::abs(x[i])))[9]);
  }
}

TEMPLATE_TEST_CASE("pack: arithmetic, comparison and choice are those of the lanes", "[engine][batch]",
                   (Pack<float, 4>), (Pack<float, 8>), (Pack<float, 16>), (Pack<double, 2>),
                   (Pack<double, 4>), (Pack<double, 8>), (Pack<double, 16>)) {
  using P = TestType;
  using T = typename P::Scalar;
  constexpr int W = P::k_lanes;
  Random random(14);
  for (int k = 0; k < 50; ++k) {
    std::array<T, W> x{}, y{};
    for (int i = 0; i < W; ++i) {
      x[static_cast<std::size_t>(i)] = static_cast<T>(random.uniform(-2.0, 2.0));
      y[static_cast<std::size_t>(i)] =
          random.uniform() < 0.3 ? x[static_cast<std::size_t>(i)] : static_cast<T>(random.uniform(-2.0, 2.0));
    }
    if (k == 0) x[1] = static_cast<T>(k_nan);
    if (k == 1) y[0] = static_cast<T>(k_nan);
    const P a = P::load(x.data()), b = P::load(y.data());
    std::uint32_t less_bits = 0;
    T sum = x[0];
    for (int i = 0; i < W; ++i) {
      const T s = x[static_cast<std::size_t>(i)], t = y[static_cast<std::size_t>(i)];
      const auto same = [](T u, T v) { return u == v || (std::isnan(u) && std::isnan(v)); };
      REQUIRE(same(a[i], s));
      REQUIRE(same((a + b)[i], s + t));
      REQUIRE(same((a - b)[i], s - t));
      REQUIRE(same((a * b)[i], s * t));
      REQUIRE(same((a / b)[i], s / t));
      REQUIRE(same((-a)[i], -s));
      REQUIRE(same((2 * a + 0.5)[i], 2 * s + T(0.5)));
      REQUIRE(same(abs(a)[i], std::abs(s)));
      REQUIRE(same(copysign(a, b)[i], std::copysign(s, t)));
      REQUIRE(same(sqrt(abs(a))[i], std::sqrt(std::abs(s))));
      REQUIRE(same(fma(a, b, b)[i], k_fuses ? std::fma(s, t, t) : s * t + t));
      REQUIRE(same(min(a, b)[i], std::min(s, t)));
      REQUIRE(same(max(a, b)[i], std::max(s, t)));
      REQUIRE((a < b)[i] == (s < t));
      REQUIRE((a > b)[i] == (s > t));
      REQUIRE((a <= b)[i] == (s <= t));
      REQUIRE((a >= b)[i] == (s >= t));
      REQUIRE((a == b)[i] == (s == t));
      REQUIRE((a != b)[i] == (s != t));
      REQUIRE((a < b && a > P(0))[i] == (s < t && s > 0));
      REQUIRE((a < b || a > P(0))[i] == (s < t || s > 0));
      REQUIRE((!(a < b))[i] == !(s < t));
      REQUIRE(isfinite(a)[i] == std::isfinite(s));
      REQUIRE(same(select(a < b, a, b * 2)[i], s < t ? s : t * 2));
      less_bits |= static_cast<std::uint32_t>(s < t) << i;
      if (i > 0) sum += s;
    }
    CHECK(bits(a < b) == less_bits);
    CHECK(any(a < b) == (less_bits != 0));
    CHECK(all(a < b) == (less_bits == (1u << W) - 1));
    if (k > 0) {
      CHECK(reduce_sum(a) == sum);
      CHECK(reduce_min(a) == *std::min_element(x.begin(), x.end()));
      CHECK(reduce_max(a) == *std::max_element(x.begin(), x.end()));
    }
  }
  CHECK(all(typename P::Mask(true)));
  CHECK(!any(typename P::Mask(false)));
}

TEST_CASE("pack: load, store and gather keep to their elements at any alignment", "[engine][value]") {
  using P = Pack<float, 8>;
  std::array<float, 20> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  for (int offset = 0; offset < 8; ++offset) {
    const P x = P::load(memory.data() + offset);
    std::array<float, 20> out{};
    x.store(out.data() + offset);
    for (int i = 0; i < 20; ++i) {
      const bool inside = i >= offset && i < offset + 8;
      REQUIRE(out[static_cast<std::size_t>(i)] == (inside ? static_cast<float>(i) : 0.0f));
    }
  }
  const P tail = P::load(memory.data() + 5, 3);  // 5 6 7 7 7 7 7 7
  CHECK((tail[0] == 5.0f && tail[2] == 7.0f && tail[3] == 7.0f && tail[7] == 7.0f));
  std::array<float, 8> out{};
  tail.store(out.data(), 2);
  CHECK(out == std::array<float, 8>{5.0f, 6.0f});
  const std::array<int, 8> index{3, 3, 0, 19, 7, 1, 2, 18};
  const P gathered = P::gather(memory.data(), index.data());
  for (int i = 0; i < 8; ++i) CHECK(gathered[i] == static_cast<float>(index[static_cast<std::size_t>(i)]));
  const Pack<double, 8> wide = gathered.cast<double>();
  CHECK(wide[3] == 19.0);
}

TEST_CASE("pack: Eigen's small matrices of packs compute what they do of numbers", "[engine][batch]") {
  using P = Pack<double, 4>;
  Random random(15);
  Mat3<double> R[4];
  Vec3<double> a[4], b[4];
  Mat3<P> R_pack;
  Vec3<P> a_pack, b_pack;
  for (int lane = 0; lane < 4; ++lane) {
    R[lane] = random.quaternion().toRotationMatrix();
    a[lane] = random.unit_vector();
    b[lane] = random.unit_vector();
    for (int i = 0; i < 3; ++i) {
      a_pack[i].set_lane(lane, a[lane][i]);
      b_pack[i].set_lane(lane, b[lane][i]);
      for (int j = 0; j < 3; ++j) R_pack(i, j).set_lane(lane, R[lane](i, j));
    }
  }
  const Vec3<P> c =
      R_pack * a_pack.cross(b_pack) * 2.0 - 0.5 * b_pack + R_pack.transpose() * (a_pack + b_pack) / P(3);
  const P d =
      a_pack.dot(b_pack) + a_pack.squaredNorm() + b_pack.norm() + R_pack.trace() + (R_pack * R_pack).sum();
  const Vec3<P> chosen = select(d > P(5), c, a_pack + b_pack);
  for (int lane = 0; lane < 4; ++lane) {
    const Vec3<double> c1 = R[lane] * a[lane].cross(b[lane]) * 2.0 - 0.5 * b[lane] +
                            R[lane].transpose() * (a[lane] + b[lane]) / 3.0;
    const double d1 = a[lane].dot(b[lane]) + a[lane].squaredNorm() + b[lane].norm() + R[lane].trace() +
                      (R[lane] * R[lane]).sum();
    const Vec3<double> chosen1 = d1 > 5 ? c1 : Vec3<double>(a[lane] + b[lane]);
    CHECK(test::close(d[lane], d1, 1e-14, 0));
    for (int i = 0; i < 3; ++i) {
      CHECK(test::close(c[i][lane], c1[i], 1e-14, 1e-15));
      CHECK(test::close(chosen[i][lane], chosen1[i], 1e-14, 1e-15));
    }
  }
}

}  // namespace abut
