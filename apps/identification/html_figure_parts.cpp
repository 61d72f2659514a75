#include "apps/identification/html_figure_parts.h"

#include <spdlog/fmt/fmt.h>

namespace abut {

std::string nothing_html(std::string_view sentence) {
  return fmt::format("<p class=\"nothing\">{}</p>", sentence);
}

std::string key_html(std::string_view drawing, std::string_view text) {
  return fmt::format(
      "<span class=\"key\"><svg class=\"sample\" width=\"26\" height=\"12\" "
      "aria-hidden=\"true\">{}</svg>{}</span>",
      drawing, text);
}

std::string mark_sample(PlotMark mark, std::string_view css_class) {
  return fmt::format("<path class=\"{} {}\" d=\"{}\"/>", to_string(mark), css_class,
                     mark_path(mark, 13.0, 6.0));
}

std::string figure_html(std::string_view title, const std::string& drawing, const std::string& keys,
                        std::string_view css_class) {
  std::string html =
      fmt::format("<figure class=\"{}\"><figcaption>{}</figcaption>{}", css_class, title, drawing);
  if (!keys.empty()) html += fmt::format("<p class=\"keys\">{}</p>", keys);
  return html + "</figure>\n";
}

}  // namespace abut
