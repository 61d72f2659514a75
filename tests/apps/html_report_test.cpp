#include "apps/identification/html_report.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/identification/html_estimates.h"
#include "apps/identification/svg_plot.h"
#include "tests/apps/identification_report_case.h"

namespace abut::test {
namespace {

using Catch::Contains;

struct Tag {
  std::string name;
  bool closes = false, is_empty = false;
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// The tags of a page whose texts and attributes hold no `<` or `>`, as ours. Of what is wrong with them, the
/// first is said; "" if nothing is.
struct Page {
  std::vector<Tag> tags;
  std::string fault;

  explicit Page(const std::string& html) : fault(read(html)) {}

  /// The attributes that hold numbers, each as one text.
  [[nodiscard]] std::vector<std::string> numbers() const {
    static const std::set<std::string> k_numeric{"d",  "x",     "y",      "x1",      "x2",
                                                 "y1", "y2",    "cx",     "cy",      "r",
                                                 "rx", "width", "height", "viewBox", "fill-opacity"};
    std::vector<std::string> found;
    for (const Tag& tag : tags) {
      for (const auto& [name, value] : tag.attributes) {
        if (k_numeric.count(name) > 0 && tag.name != "meta") found.push_back(value);
      }
    }
    return found;
  }

  [[nodiscard]] std::size_t count(const std::string& name) const {
    return static_cast<std::size_t>(std::count_if(
        tags.begin(), tags.end(), [&](const Tag& tag) { return tag.name == name && !tag.closes; }));
  }

  /// Paths of a class.
  [[nodiscard]] std::vector<std::string> paths(const std::string& css_class) const {
    std::vector<std::string> found;
    for (const Tag& tag : tags) {
      const auto value = [&](const char* name) {
        for (const auto& [key, text] : tag.attributes) {
          if (key == name) return text;
        }
        return std::string();
      };
      if (tag.name == "path" && value("class") == css_class) found.push_back(value("d"));
    }
    return found;
  }

 private:
  std::string read(const std::string& html) {
    static const std::set<std::string> k_without_end{"meta", "br", "!DOCTYPE"};
    static const std::regex k_attribute("\\s+([A-Za-z0-9:-]+)(?:=\"([^\"]*)\")?");
    std::vector<std::string> open;
    for (std::size_t i = html.find('<'); i != std::string::npos; i = html.find('<', i)) {
      const std::size_t end = html.find('>', i);
      if (end == std::string::npos) return "a tag without an end";
      std::string inside = html.substr(i + 1, end - i - 1);
      i = end;
      Tag tag;
      tag.closes = inside.front() == '/';
      if (tag.closes) inside.erase(0, 1);
      tag.is_empty = inside.back() == '/';
      if (tag.is_empty) inside.pop_back();
      const std::size_t name_end = std::min(inside.find_first_of(" \n"), inside.size());
      tag.name = inside.substr(0, name_end);
      const std::string rest = inside.substr(name_end);
      std::size_t known = 0;
      for (std::sregex_iterator a(rest.begin(), rest.end(), k_attribute), none; a != none; ++a) {
        tag.attributes.emplace_back((*a)[1], (*a)[2]);
        known += static_cast<std::size_t>(a->length());
      }
      if (known != rest.size()) return "attributes of <" + inside + ">";
      if (tag.closes) {
        if (open.empty() || open.back() != tag.name) return "</" + tag.name + "> ends nothing";
        open.pop_back();
      } else if (!tag.is_empty && k_without_end.count(tag.name) == 0) {
        open.push_back(tag.name);
      }
      tags.push_back(std::move(tag));
    }
    return open.empty() ? "" : "<" + open.back() + "> does not end";
  }
};

/// A page of any report: whole, by itself, and drawn with numbers only.
Page checked_page(const IdentificationReport& report) {
  const std::string html = html_report(report);
  Page page(html);
  CHECK(page.fault == "");
  for (const std::string& value : page.numbers()) {
    CAPTURE(value);
    const bool is_finite = value.find("nan") == std::string::npos && value.find("inf") == std::string::npos;
    if (!is_finite) CHECK(is_finite);
  }
  for (const char* other : {"<script", "http:", "https:", "src=", "@import", "url("}) {
    CAPTURE(other);
    CHECK(html.find(other) == std::string::npos);
  }
  CHECK(page.count("title") >= 1);
  CHECK(page.count("h1") == 1);
  return page;
}

std::size_t letters(const std::string& path, char letter) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), letter));
}

/// Places of marks that are drawn as dots.
std::vector<std::pair<double, double>> dots(const std::string& path) {
  static const std::regex k_dot("M(-?[0-9.]+) (-?[0-9.]+)h0");
  std::vector<std::pair<double, double>> found;
  for (std::sregex_iterator m(path.begin(), path.end(), k_dot), none; m != none; ++m)
    found.emplace_back(std::stod((*m)[1]), std::stod((*m)[2]));
  return found;
}

/// What the axis says about a place: number and pixel of two of its ticks, on which a straight line stands.
struct ReadAxis {
  std::vector<std::pair<double, double>> ticks;  // value, pixel
  bool logarithmic = false;

  ReadAxis(const std::string& svg, const std::string& css_class, bool is_x, bool is_logarithmic = false)
      : logarithmic(is_logarithmic) {
    const std::regex tick("<text class=\"" + css_class +
                          "\" x=\"([0-9.]+)\" y=\"([0-9.]+)\">([0-9.−]+)</text>");
    for (std::sregex_iterator m(svg.begin(), svg.end(), tick), none; m != none; ++m) {
      std::string text = (*m)[3];
      if (text.rfind("−", 0) == 0) text = "-" + text.substr(std::string("−").size());
      const double value = std::stod(text), pixel = std::stod((*m)[is_x ? 1 : 2]) - (is_x ? 0.0 : 4.0);
      ticks.emplace_back(logarithmic ? std::log10(value) : value, pixel);
    }
  }
  [[nodiscard]] double value(double pixel) const {
    const auto& [a, at_a] = ticks.front();
    const auto& [b, at_b] = ticks.back();
    const double read = a + (b - a) * (pixel - at_a) / (at_b - at_a);
    return logarithmic ? std::pow(10.0, read) : read;
  }
};

}  // namespace

TEST_CASE("html_report: the checker of its tests sees what is wrong with a page", "[apps][value]") {
  CHECK(Page("<p class=\"a\">one<br>two</p><rect x=\"1\"/>").fault == "");
  for (const char* broken : {"<p><b></p></b>", "<p>", "</p>", "<p class=\"a\"b\"></p>", "<p"}) {
    CAPTURE(broken);
    CHECK(Page(broken).fault != "");
  }
}

TEST_CASE("html_report: a whole page with every number, sentence and series", "[apps][value]") {
  const IdentificationReport report = sample_report();
  const std::string html = html_report(report);
  const Page page = checked_page(report);
  CHECK_THAT(html, Contains("<title>A box and a ball</title>"));
  CHECK_THAT(html, Contains("prefers-color-scheme:dark") && Contains("@media print"));
  for (const EstimateRow& row : report.estimates) CHECK_THAT(html, Contains(row.name));
  for (const EstimateRow& row : report.derived) CHECK_THAT(html, Contains(row.name));
  for (const std::string& sentence : report.open_directions) CHECK_THAT(html, Contains(sentence));
  for (const std::string& sentence : report.warnings) CHECK_THAT(html, Contains(sentence));
  for (const ComparedSeries& series : report.series) CHECK_THAT(html, Contains(series.motion));
  CHECK(page.paths("curve simulated").size() == report.series.size() + 1);  // the key is one, too
  CHECK_THAT(html, Contains("start 1, the best") && Contains("stage 1, smoothing × 1"));
  CHECK_THAT(html, Contains("step not taken"));
  CHECK_THAT(html, Contains("−0.70"));
}

TEST_CASE("html_report: its headline says whether to trust the numbers", "[apps][value]") {
  IdentificationReport report = sample_report();
  CHECK_THAT(html_report(report), Contains("2 of 4 numbers found; 1 direction is open"));
  report.open_directions.clear();
  report.warnings.clear();
  report.estimates = {report.estimates[0], report.estimates[3]};
  report.correlation = Eigen::MatrixXd::Identity(2, 2);
  CHECK_THAT(html_report(report), Contains("as good as the noise allows") && Contains("verdict good"));
  CHECK_THAT(html_report(report), Contains("0.4123 <span class=\"half\">± 0.0061</span>"));
  report.reduced_chi_square = 4.0;
  CHECK_THAT(html_report(report), Contains("Residuals are 2 times as large") && Contains("verdict bad"));
  report.reduced_chi_square = 1.6;
  CHECK_THAT(html_report(report), Contains("the fit is worse than the noise") && Contains("verdict caution"));
  report.reduced_chi_square = 0.1;
  CHECK_THAT(html_report(report), Contains("noise is stated too large"));
  report.reduced_chi_square = 1.1;
  report.estimates[0].truth = 0.5;
  report.estimates[1].truth = -9.0;
  CHECK_THAT(html_report(report), Contains("intervals miss the truth") && Contains("0 of them lie"));
  report.status = "max_iterations";
  CHECK_THAT(html_report(report), Contains("before it had converged") && Contains(report.message));
  report.status = "failed";
  CHECK_THAT(html_report(report), Contains("The search failed") && Contains("verdict bad"));
  report.status = "converged";
  report.question = "optimize";
  CHECK_THAT(html_report(report), Contains("numbers optimized") && !Contains("chi square is"));
}

TEST_CASE("html_report: what users call things stays text", "[apps][property]") {
  const std::string evil = "<script>alert(\"1\")</script> & 'x' \x01 </title>";
  IdentificationReport report = sample_report();
  report.title = report.experiment = report.scene = report.message = report.loss = report.method = evil;
  report.jacobian = report.jacobian_reason = report.status = evil;
  report.open_directions = report.warnings = {evil};
  for (EstimateRow& row : report.estimates) row.name = row.unit = evil;
  for (EstimateRow& row : report.derived) row.name = row.unit = evil;
  for (StartRow& row : report.starts) row.status = evil;
  for (ComparedSeries& series : report.series)
    series.motion = series.body = series.quantity = series.unit = evil;
  checked_page(report);
  CHECK_THAT(html_report(report),
             Contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"));
  CHECK(html_report(report).find('\x01') == std::string::npos);
  CHECK(unit_html("kg m^2/s^-1<^") == "kg m<sup>2</sup>/s<sup>−1</sup>&lt;^");
}

TEST_CASE("html_report: nothing, one of each, equal numbers, and numbers that are none", "[apps][property]") {
  checked_page({});
  IdentificationReport one = sample_report();
  one.estimates.resize(1);
  one.correlation = Eigen::MatrixXd::Identity(1, 1);
  one.iterations.resize(1);
  one.starts.clear();
  one.series.resize(1);
  ComparedSeries& series = one.series[0];
  for (auto* values : {&series.time, &series.measured, &series.deviation, &series.residual,
                       &series.simulated_time, &series.simulated})
    values->resize(1);
  checked_page(one);

  IdentificationReport flat = sample_report();
  for (ComparedSeries& s : flat.series) {
    for (auto* values : {&s.measured, &s.residual, &s.simulated, &s.time, &s.deviation})
      std::fill(values->begin(), values->end(), 0.0);
  }
  for (IterationRow& row : flat.iterations) row.cost = 0.0;
  checked_page(flat);

  for (const double odd : {k_nan, k_infinity, -k_infinity, 1.7e308, -1.7e308, 5e-324}) {
    CAPTURE(odd);
    IdentificationReport report = sample_report();
    report.cost = report.initial_cost = report.reduced_chi_square = report.condition = odd;
    for (IterationRow& row : report.iterations) row.cost = odd;
    report.correlation.setConstant(odd);
    for (ComparedSeries& s : report.series) {
      for (auto* values : {&s.measured, &s.residual, &s.simulated, &s.time, &s.deviation})
        std::fill(values->begin() + 3, values->end(), odd);
    }
    for (EstimateRow& row : report.estimates) row.initial = odd;
    report.estimates[0].truth = report.estimates[0].prior_mean = odd;
    report.estimates[0].lower_bound = report.estimates[0].upper_bound = odd;
    report.estimates[3].deviation = odd;
    checked_page(report);
    for (EstimateRow& row : report.estimates) row.value = row.lower_95 = row.upper_95 = odd;
    checked_page(report);
  }

  IdentificationReport uneven = sample_report();
  uneven.series[0].time.clear();
  uneven.series[1].measured.clear();
  uneven.series[2].deviation.resize(2);
  uneven.series[3].simulated.clear();
  uneven.series[4].residual.resize(1);
  uneven.series[5] = {};
  uneven.correlation.resize(0, 0);
  checked_page(uneven);
}

TEST_CASE("html_report: two hundred unknowns and hundreds of series stay readable", "[apps][property]") {
  IdentificationReport report = sample_report();
  report.estimates.clear();
  for (int i = 0; i < 200; ++i)
    report.estimates.push_back(told_row("control.force." + std::to_string(i), 0.1 * i, 0.1, 0.0));
  report.correlation = Eigen::MatrixXd::Identity(200, 200);
  Random random(2);
  report.series.clear();
  for (int m = 0; m < 40; ++m)
    for (const char* quantity : {"position.x", "rotation.x"})
      report.series.push_back(sample_series("motion " + std::to_string(m), quantity, 10, random));
  for (double& r : report.series[70].residual) r *= 5.0;
  const Page page = checked_page(report);
  const std::string html = html_report(report);
  for (const EstimateRow& row : report.estimates) CHECK_THAT(html, Contains(row.name));
  CHECK_THAT(html, Contains("The 24 of 80 that fit worst"));
  CHECK(page.paths("curve simulated").size() == 81);
  // The worst is shown first.
  CHECK(html.find("motion 35") < html.find("motion 34"));
}

TEST_CASE("html_report: curves of thousands of points are thinned, their peaks are not", "[apps][property]") {
  IdentificationReport report = sample_report();
  Random random(3);
  report.series = {sample_series("long", "position.x", 20000, random)};
  const Page page = checked_page(report);
  const std::vector<std::string> curves = page.paths("curve simulated");
  const auto longest = std::max_element(curves.begin(), curves.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  CHECK(letters(*longest, 'L') > 100);
  CHECK(letters(*longest, 'L') <= 400);
  for (const std::string& path : page.paths("dot data")) CHECK(dots(path).size() <= 400);
  CHECK(html_report(report).size() < 150000);
}

TEST_CASE("SvgPlot: data lie where the ticks say", "[apps][property]") {
  const std::vector<double> x{0.13, 0.5, 1.77}, y{-3.2, 0.4, 7.7};
  PlotRange x_range, y_range;
  x_range.add(x);
  y_range.add(y);
  SvgPlot plot(400, 260, x_range.axis("time [s]"), y_range.axis("height [m]"));
  plot.marks(x, y, PlotMark::dot, "data");
  const std::string svg = plot.svg("heights");
  const ReadAxis across(svg, "middle", true), up(svg, "end", false);
  REQUIRE(across.ticks.size() >= 3);
  REQUIRE(up.ticks.size() >= 3);
  const auto places = dots(Page(svg).paths("dot data").at(0));
  REQUIRE(places.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(across.value(places[i].first) == Approx(x[i]).margin(0.005 * 1.8));
    CHECK(up.value(places[i].second) == Approx(y[i]).margin(0.005 * 11.0));
    CHECK(places[i].first == Approx(plot.x_of(x[i])).margin(0.051));
    CHECK(places[i].second == Approx(plot.y_of(y[i])).margin(0.051));
  }
}

TEST_CASE("SvgPlot: data lie where the ticks of a logarithmic axis say", "[apps][property]") {
  const std::vector<double> x{0.0, 1.0, 2.0, 3.0}, y{0.2, 3.0, 70.0, -1.0};
  PlotRange x_range, y_range(true);
  x_range.add(x);
  y_range.add(y);
  SvgPlot plot(400, 260, x_range.axis(""), y_range.axis(""));
  plot.marks(x, y, PlotMark::dot, "data");
  const std::string svg = plot.svg("losses");
  const ReadAxis up(svg, "end", false, true);
  REQUIRE(up.ticks.size() == 4);  // 0.1 to 100
  const auto places = dots(Page(svg).paths("dot data").at(0));
  REQUIRE(places.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(up.value(places[i].second) == Approx(y[i]).epsilon(0.02));
  CHECK(places[3].second > 260.0);  // what has no logarithm is out of sight
}

TEST_CASE("SvgPlot: a curve is broken where a value is not finite", "[apps][value]") {
  SvgPlot plot(300, 200, {0.0, 4.0, false, ""}, {0.0, 1.0, false, ""});
  const std::vector<double> x{0.0, 1.0, 2.0, 3.0, 4.0}, y{0.1, 0.2, k_nan, 0.4, 0.5};
  plot.curve(x, y, "curve");
  plot.error_bars(x, y, std::vector<double>{0.1, k_infinity, 0.1, 0.1}, "error");
  const Page page(plot.svg("a gap"));
  CHECK(letters(page.paths("curve").at(0), 'M') == 2);
  CHECK(letters(page.paths("curve").at(0), 'L') == 2);
  CHECK(letters(page.paths("error").at(0), 'M') == 2);
}

}  // namespace abut::test
