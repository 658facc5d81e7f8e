/*
 * report/page_style.c - how the page looks: light, dark, narrow and on paper.
 *
 * Colours of strategies (--k16 uniform, --k17 full, --k18 ...) are Okabe and Ito's, which people
 * with colour-blindness tell apart, darkened or lightened until they stand at least 3:1 against
 * the paper; each goes with a marker of its own. Phases are --k8 ... --k12.
 */
#include "report/page.h"

const char *const cull_rep_style_sheet[] = {
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#59636e;--line:#d5dae0;"
    "--card:#f5f7f9;--k1:#59636e;--k2:#dfe3e8;--k3:#e6edf6;--good:#0a6b3d;--goodbg:#dcf3e6;"
    "--bad:#a4281b;--badbg:#fbe3e0;--even:#454d56;--evenbg:#e7eaee;--open:#7a5200;--openbg:#fdefcf;"
    "--k4:#8b949e;--k8:#9aa4ae;--k9:#44337f;--k10:#9d84dc;--k11:#dbe0e5;--k12:#59636e;"
    "--k16:#6e7781;--k17:#1b1f24;--k18:#0072b2;--k19:#d55e00;--k20:#00805d;--k21:#b3568b;"
    "--k22:#a87000;--k23:#3f8fc5}\n",
    "@media (prefers-color-scheme:dark){:root{--paper:#11151a;--ink:#e7ebf0;--soft:#a3adb8;"
    "--line:#333b45;--card:#1a2027;--k1:#a3adb8;--k2:#2b323b;--k3:#1f2a38;--good:#6fdba3;"
    "--goodbg:#0f3524;--bad:#ff9d8f;--badbg:#45201b;--even:#c7cfd8;--evenbg:#2b323b;--open:#f3c766;"
    "--openbg:#3d3014;--k4:#7d8894;--k8:#7d8894;--k9:#cabcff;--k10:#7a63c4;--k11:#39434e;--k12:#"
    "a3adb8;"
    "--k16:#9aa5b1;--k17:#e7ebf0;--k18:#5aaef0;--k19:#ff8a4c;--k20:#2fcf9f;--k21:#e79cc7;"
    "--k22:#f2b632;--k23:#a8dcff}}\n",
    "*{box-sizing:border-box}\n",
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Liberation Sans','DejaVu Sans',sans-serif}\n",
    "main,footer{max-width:1320px;margin:0 auto;padding:0 clamp(14px,3vw,40px)}\n",
    "main{padding-top:28px}\n",
    "h1,h2,h3,h4{line-height:1.25;text-wrap:balance;overflow-wrap:anywhere}\n",
    "h1{font-size:1rem;font-weight:600;color:var(--soft);margin:0 0 10px}\n",
    "h2{font-size:1.3rem;margin:2.6em 0 .6em}h3{font-size:1.08rem;margin:1.9em 0 .5em}\n",
    "h4{font-size:1rem;margin:1.6em 0 .4em}\n",
    ".verdict{font-size:clamp(1.35rem,1rem + 1.6vw,2.05rem);line-height:1.28;font-weight:650;"
    "margin:0 0 14px;max-width:34em;text-wrap:pretty;overflow-wrap:anywhere}\n",
    ".verdict.long{font-size:1.15rem;font-weight:600;max-width:56em}\n",
    ".sure{color:var(--soft);margin:0 0 24px;max-width:62em}\n",
    ".note{border-left:4px solid var(--open);background:var(--openbg);color:var(--ink);"
    "padding:8px 14px;margin:0 0 20px;border-radius:0 6px 6px 0;overflow-wrap:anywhere}\n",
    ".part{border-top:1px solid var(--line);margin-top:48px;padding-top:28px}\n",
    ".part>h2:first-child{margin-top:0;font-size:1rem;color:var(--soft)}\n",
    /* What lies beyond the edge shows by a shade, which the table covers at its end. */
    ".scroll{overflow-x:auto;max-width:100%;margin:0 0 10px;border:1px solid var(--line);"
    "border-radius:8px;background:linear-gradient(90deg,transparent,var(--paper) 60%) right/40px "
    "100% no-repeat local,linear-gradient(270deg,var(--line),transparent) right/18px 100% "
    "no-repeat "
    "scroll}\n",
    "table{border-collapse:collapse;width:100%;font-size:.93rem;font-variant-numeric:tabular-nums}"
    "\n",
    "table.slim{width:auto;min-width:min(100%,30em)}\n",
    "th,td{padding:7px 12px;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap;vertical-align:top}\n",
    "tbody tr:last-child>*{border-bottom:0}\n",
    "thead th{background:var(--card);font-weight:600;font-size:.84rem;color:var(--soft)}\n",
    "th.w,td.w{text-align:left}\n",
    "tbody th{font-weight:600;position:sticky;left:0;background:var(--paper);min-width:11em;"
    "max-width:22em;white-space:normal;overflow-wrap:anywhere}\n",
    "small,.small{font-size:.86em;color:var(--soft)}.warn{color:var(--open)}"
    ".over{display:block;font-weight:400;color:var(--bad)}\n",
    ".pill{display:inline-block;padding:1px 9px;border-radius:99px;font-weight:600;font-size:.9em;"
    "color:var(--open);background:var(--openbg)}\n",
    ".pill.better{color:var(--good);background:var(--goodbg)}"
    ".pill.worse{color:var(--bad);background:var(--badbg)}"
    ".pill.same{color:var(--even);background:var(--evenbg)}.pill+small{display:block}\n",
    "dl.columns{margin:0 0 28px;font-size:.84rem;color:var(--soft);columns:26em auto;"
    "column-gap:32px}dl.columns>div{break-inside:avoid;padding-bottom:3px}\n",
    "dl.columns dt{display:inline;font-weight:600}dl.columns dt:after{content:': '}"
    "dl dd{display:inline;margin:0}\n",
    "dl.pairs{display:grid;gap:2px 32px;grid-template-columns:repeat(auto-fill,minmax(min(100%,"
    "22em),1fr));font-size:.9rem}"
    "dl.pairs>div{display:flex;gap:1em;justify-content:space-between;border-bottom:1px dotted "
    "var(--line);min-width:0}"
    "dl.pairs dt{color:var(--soft);overflow-wrap:anywhere}"
    "dl.pairs dd{text-align:right;overflow-wrap:anywhere;min-width:0}\n",
    "dl.recipe{font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:.78rem}\n",
    "pre{background:var(--card);padding:10px 14px;border-radius:8px;font-size:.82rem;"
    "white-space:pre-wrap;overflow-wrap:anywhere}pre.command{user-select:all}\n",
    ".figures{display:grid;gap:30px 44px;grid-template-columns:repeat(auto-fill,minmax(min(100%,"
    "max(340px,40%)),1fr));align-items:start;margin:0 0 24px;max-width:1090px}\n",
    "figure{margin:0;min-width:0;max-width:620px}\n",
    ".beside{display:flex;flex-wrap:wrap;gap:0 32px;align-items:flex-start}.beside>div{max-width:"
    "100%;display:grid;grid-template-columns:minmax(0,max-content)}.beside dl.columns{columns:auto;"
    "width:0;min-width:100%}\n",
    "svg.plot{display:block;width:100%;height:auto;overflow:visible}"
    "svg.plot text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',"
    "'DejaVu Sans',sans-serif;font-variant-numeric:tabular-nums}\n",
    "figcaption{font-size:.88rem;color:var(--soft);margin-top:6px}figcaption b{color:var(--ink)}\n",
    "ul.key{list-style:none;margin:4px 0 0;padding:0;display:flex;flex-wrap:wrap;gap:2px 16px;"
    "font-size:.85rem}ul.key li{overflow-wrap:anywhere;min-width:0}\n",
    "ul.key i{display:inline-block;width:12px;height:12px;margin-right:6px;border-radius:2px}\n",
    ".swatch{height:.82em;width:auto;margin-right:6px;overflow:visible;vertical-align:-.03em}\n",
    ".gallery{max-width:none;margin:0 0 18px}.gallery ul{list-style:none;margin:0;padding:0;"
    "display:flex;flex-wrap:wrap;gap:12px}\n",
    ".gallery "
    "li{display:flex;flex-direction:column;font-size:.78rem;line-height:1.35;width:76px}\n",
    ".gallery img{image-rendering:pixelated;width:72px;height:auto;border:2px solid var(--line);"
    "border-radius:4px}.gallery .harmed img{border-color:var(--bad)}"
    ".gallery .harmed b{color:var(--bad)}\n",
    ".problems li{overflow-wrap:anywhere}\n",
    "footer{padding-top:40px;padding-bottom:40px;color:var(--soft);font-size:.85rem}\n",
    "a{color:inherit}.symbols{position:absolute;width:0;height:0;overflow:hidden}\n",
    "@media screen and (max-width:760px){\n",
    "table.cards,table.cards tbody,table.cards tr,table.cards th,table.cards td{display:block}\n",
    "table.cards thead{display:none}table.cards tr{padding:10px 12px;border-bottom:1px solid "
    "var(--line);display:grid;grid-template-columns:1fr 1fr;gap:0 20px}table.cards "
    "tr:last-child{border-bottom:0}\n",
    "table.cards th,table.cards td{border:0;padding:1px 0;white-space:normal;max-width:none;"
    "text-align:right;display:flex;justify-content:space-between;gap:1em}\n",
    "table.cards tbody th{position:static;display:block;text-align:left;padding-bottom:4px;"
    "font-size:1rem}.pill+small{display:inline}\n",
    "table.cards tbody th,table.cards td:nth-child(-n+6){grid-column:1/-1}\n",
    "table.cards td:before{content:attr(data-label);color:var(--soft);text-align:left;flex:none}\n",
    ".figures{gap:30px}tbody th{min-width:8.5em;max-width:11em}th,td{padding:6px 9px}}\n",
    "@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;"
    "--card:#f2f2f2;--k1:#444;--k2:#ddd;--k3:#e6edf6;--good:#0a6b3d;--goodbg:#fff;--bad:#a4281b;"
    "--badbg:#fff;--even:#333;--evenbg:#fff;--open:#7a5200;--openbg:#fff;--k4:#888;--k8:#9aa4ae;"
    "--k9:#44337f;--k10:#9d84dc;--k11:#e3e7eb;--k12:#555;--k16:#6e7781;--k17:#000;--k18:#0072b2;"
    "--k19:#d55e00;--k20:#00805d;--k21:#b3568b;--k22:#a87000;--k23:#3f8fc5}\n",
    "html{font-size:11.5px}body{font-size:11.5px}dl.columns{columns:2}main{padding-top:0;max-width:"
    "none}.scroll{overflow:visible;border:0}"
    "th,td{padding:3px 5px;white-space:normal}table{font-size:10px}thead th{font-size:9.5px}"
    ".beside{flex-wrap:nowrap}tbody "
    "th{position:static;min-width:0;max-width:18em}figure,tr,.gallery "
    "li{break-inside:avoid}h2,h3,h4{break-after:avoid}"
    ".figures{grid-template-columns:1fr 1fr;gap:14px}"
    "thead th,.pill,ul.key i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n",
    NULL};
