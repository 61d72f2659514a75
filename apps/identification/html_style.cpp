#include "apps/identification/html_style.h"

#include <array>

#include <spdlog/fmt/fmt.h>

#include "apps/picture/palette.h"

namespace abut {
namespace {

/// Variables --c0 to --c6. The darker colours of the palette come first on white, the lighter ones on black.
std::string palette_text(const std::array<std::size_t, k_body_palette.size()>& order) {
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& [red, green, blue] = k_body_palette[order[i]];
    text += fmt::format("--c{}:#{:02x}{:02x}{:02x};", i, red, green, blue);
  }
  return text;
}

/// Classes .c0 to .c6, that stroke and fill, and .dash1 to .dash6.
std::string colour_classes() {
  static constexpr const char* k_dashes[] = {"7 3", "2 3", "9 3 2 3", "4 2", "12 4", "5 2 1 2"};
  std::string text;
  for (std::size_t i = 0; i < k_body_palette.size(); ++i)
    text += fmt::format(".c{0}{{stroke:var(--c{0})}}.diamond.c{0},.triangle.c{0}{{fill:var(--c{0})}}\n", i);
  for (std::size_t i = 0; i < std::size(k_dashes); ++i)
    text += fmt::format(".curve.dash{}{{stroke-dasharray:{}}}\n", i + 1, k_dashes[i]);
  return text;
}

constexpr const char* k_light =
    "--page:#fff;--card:#f5f7f9;--ink:#171b20;--soft:#59636e;--line:#dde2e7;--good:#007a59;--caution:#a34b00;"
    "--bad:#b23c00;--plus:#d55e00;--minus:#0072b2;";
constexpr const char* k_dark =
    "--page:#13161a;--card:#1c2126;--ink:#e8ebee;--soft:#9da7b1;--line:#30373e;--good:#2fc598;--caution:#"
    "f0a830;"
    "--bad:#ff8345;--plus:#e8771f;--minus:#56b4e9;";
constexpr std::array<std::size_t, 7> k_on_light{6, 3, 2, 4, 0, 1, 5}, k_on_dark{1, 0, 2, 4, 3, 5, 6};

constexpr const char* k_rules = R"(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Liberation Sans",sans-serif}
main{max-width:1160px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:28px;line-height:1.2;margin:2px 0 14px;overflow-wrap:anywhere}
h2{font-size:19px;line-height:1.3;margin:44px 0 12px;padding-bottom:6px;border-bottom:1px solid var(--line)}
p{margin:0 0 12px}
small{font-size:12.5px;color:var(--soft);font-weight:400}
.soft,.nothing{color:var(--soft)}
.files{color:var(--soft);margin:-10px 0 20px;overflow-wrap:anywhere}
.verdict{border-left:5px solid var(--tone);background:var(--card);border-radius:0 8px 8px 0;padding:16px 20px;margin:0 0 14px}
.verdict h2{border:0;margin:0;padding:0;font-size:20px;color:var(--ink)}
.verdict h2 b{color:var(--tone);margin-right:6px}
.answers{display:flex;flex-wrap:wrap;gap:8px 28px;margin:10px 0 12px}
.answers div{min-width:0}
.answers dt{font-size:12.5px;color:var(--soft);overflow-wrap:anywhere}
.answers dd{margin:0;font-size:17px;font-weight:600;font-variant-numeric:tabular-nums}
.answers .half,.answers .unit{font-weight:400}
.verdict p{margin:6px 0 0}
.verdict h3{font-size:15px;margin:14px 0 2px}
.verdict ul{margin:2px 0 0;padding-left:20px;overflow-wrap:anywhere}
.good{--tone:var(--good)}.caution{--tone:var(--caution)}.bad{--tone:var(--bad)}
.facts{display:flex;flex-wrap:wrap;gap:1px;background:var(--line);border:1px solid var(--line);border-radius:8px;overflow:hidden;margin:0}
.facts div{flex:1 1 150px;background:var(--page);padding:10px 14px}
.facts dt{font-size:12.5px;color:var(--soft)}
.facts dd{margin:0;font-size:18px;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.facts dd small{display:block;line-height:1.35}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{text-align:left;font-weight:600}
thead th{font-size:12.5px;color:var(--soft);font-weight:400;vertical-align:bottom}
.estimates th,.estimates td{border-bottom:1px solid var(--line);padding:7px 12px 7px 0;vertical-align:middle}
.estimates thead th{padding:0 12px 2px 0}
.estimates tbody th{overflow-wrap:anywhere;width:34%}
.estimates tbody th small{display:block;line-height:1.4}
.estimates small span{display:inline-block;margin-right:10px}
.found{white-space:nowrap;font-size:16px}
thead .found{font-size:12.5px;white-space:normal}
.half,.unit{color:var(--soft)}
.estimates td.drawing,.estimates th.drawing{padding-top:0;padding-bottom:0;width:36%}
.share{white-space:nowrap;text-align:right;padding-right:0!important;font-size:13px;color:var(--soft)}
.badge{color:var(--tone);border:1px solid currentColor;border-radius:9px;padding:1px 8px;font-size:12px;font-weight:600}
.wide{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:28px 36px}
.small{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr));gap:20px 24px}
figure{margin:0;min-width:0;break-inside:avoid}
figcaption{font-weight:600;overflow-wrap:anywhere;line-height:1.35;margin-bottom:4px}
.small figcaption{font-size:14px}
.small figcaption small{display:block}
.rms{float:right;font-weight:400;color:var(--soft);font-size:12.5px;margin-left:8px}
.keys{font-size:13px;color:var(--soft);margin:6px 0 12px}
.key{display:inline-block;margin-right:16px}
.pairs{font-size:13px;color:var(--soft);list-style:none;padding:0;margin:0}
.pairs li{overflow-wrap:anywhere;padding-left:52px;text-indent:-52px}
.pairs li span{display:inline;text-indent:0}
.sample{overflow:visible;vertical-align:-1px;margin-right:6px}
svg{display:block}
.sample{display:inline}
sup{line-height:0;font-size:75%}
svg text{fill:var(--soft);font-size:11px;font-family:inherit}
.plot{width:100%;height:auto;max-width:640px;font-variant-numeric:tabular-nums}
.plot text.strong,.plot tspan.strong{fill:var(--ink);font-weight:600}
.middle{text-anchor:middle}.end{text-anchor:end}
path{fill:none;stroke-linejoin:round}
.grid{stroke:var(--line);stroke-width:1}
.zero{stroke:var(--soft);stroke-width:1;opacity:.6}
.axis{stroke:var(--soft);stroke-width:1}
.divide{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}
.curve{stroke-width:1.8}
.curve.best{stroke-width:2.4}
.dot,.square{stroke-width:5.5;fill:none}
.dot{stroke-linecap:round}.square{stroke-linecap:square;stroke-width:4.5}
.diamond,.triangle{stroke-width:.5}
.cross{stroke-width:1.4;fill:none}
.plain{stroke:var(--soft)}.diamond.plain,.triangle.plain{fill:var(--soft)}
.other{stroke:var(--soft);opacity:.45}
.curve.other{stroke-width:1.1}
.diamond.other,.triangle.other{fill:var(--soft)}
.dot.other,.square.other{stroke-width:3}
.faint{opacity:.55}
.dot.faint,.square.faint{stroke-width:3.4}.square.faint{stroke-width:2.8}
.normal{fill:var(--c2);opacity:.17}
.bar{fill:var(--c0);opacity:.6}
.expected{stroke:var(--ink);stroke-width:2}
.data{stroke:var(--ink);stroke-width:3.2}
.error{stroke:var(--ink);stroke-width:1;opacity:.45}
.simulated{stroke:var(--c1);stroke-width:2}
.sample .dot{stroke-width:7}.sample .square{stroke-width:6}
.row{overflow:visible}
.row .grid{stroke:var(--line)}
.interval{fill:var(--c0);opacity:.45}
.estimate{fill:var(--c0);stroke:var(--page);stroke-width:1}
.guess{fill:none;stroke:var(--soft);stroke-width:1.8}
.truth{fill:var(--c2);stroke:var(--c2);stroke-width:1.6}
.prior{stroke:var(--c3);stroke-width:2}
.bound{stroke:var(--ink);stroke-width:1.6}
.forbidden{fill:var(--soft);opacity:.18}
.unknown{fill:var(--page);stroke:var(--caution);stroke-width:1.2;stroke-dasharray:5 4}
.cell{fill:var(--page);stroke:var(--line);stroke-width:1}
.cell.none{fill:var(--card)}
.self{fill:var(--line)}
.plus{fill:var(--plus)}.minus{fill:var(--minus)}
.plot text.number{fill:var(--ink);font-size:10.5px;paint-order:stroke;stroke:var(--page);stroke-width:2.5px;stroke-linejoin:round}
details{border-top:1px solid var(--line);padding:10px 0}
h2+details{border-top:0;padding-top:0}
summary{cursor:pointer;font-weight:600;overflow-wrap:anywhere}
details[open]>summary{margin-bottom:12px}
.scroll{overflow-x:auto}
.numbers{font-size:13px;width:auto}
.numbers th,.numbers td{padding:4px 24px 4px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
.numbers .word{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:9em}
.numbers th:last-child,.numbers td:last-child{padding-right:0}
.settings{display:grid;grid-template-columns:minmax(110px,max-content) 1fr;gap:4px 18px;margin:0}
.settings dt{color:var(--soft)}.settings dd{margin:0;overflow-wrap:anywhere}
@media(min-width:980px){.wide .plot text{font-size:9px}.wide .plot text.number{font-size:9.5px}}
@media(max-width:760px){
main{padding:20px 16px 48px}
h1{font-size:24px}
.estimates,.estimates tbody{display:block}
.estimates thead,.estimates thead tr,.estimates thead th.drawing{display:block;width:auto!important;padding:0;border:0}
.estimates thead th{display:none}
.estimates tbody tr{display:grid;grid-template-columns:1fr auto;border-bottom:1px solid var(--line);padding:10px 0 6px;align-items:baseline;gap:2px 12px}
.estimates tbody th,.estimates td{border:0;padding:0;width:auto!important}
.estimates tbody th{grid-column:1/-1}
.estimates td.found{white-space:normal;grid-row:2}
.estimates td.share{grid-row:2;grid-column:2}
.estimates td.drawing{grid-row:3;grid-column:1/-1}
}
@media print{
main{max-width:none;padding:0}
body{font-size:11pt}
.verdict,.facts,svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}
tr,.verdict{break-inside:avoid}
h2{break-after:avoid}
}
)";

}  // namespace

std::string style_sheet() {
  return fmt::format(
             ":root{{color-scheme:light dark;{}{}}}\n@media screen and "
             "(prefers-color-scheme:dark){{:root{{{}{}}}}}",
             k_light, palette_text(k_on_light), k_dark, palette_text(k_on_dark)) +
         k_rules + colour_classes();
}

}  // namespace abut
