/** The style of all pages of the site. Its colours are those of the dashboard (`web/src/style.css`). */
export const SITE_STYLE = `:root{color-scheme:light dark;--canvas:#f7f8f6;--surface:#ffffff;--sunken:#eff2ee;--line:#e0e5df;--line-strong:#7f8a82;--ink:#15211b;--muted:#55625a;--accent:#0f5b40;--accent-strong:#0a4631;--accent-soft:#e2f0e9;--on-accent:#ffffff;--warning:#7a4d00;--warning-soft:#fdf0d6}
@media (prefers-color-scheme:dark){:root{--canvas:#0e1411;--surface:#161e1a;--sunken:#1f2924;--line:#2b3731;--line-strong:#77857d;--ink:#ecf2ee;--muted:#a3b1a9;--accent:#5fcf9f;--accent-strong:#86e0b9;--accent-soft:#173628;--on-accent:#06231a;--warning:#f2c36b;--warning-soft:#3a2c10}}
*{box-sizing:border-box}
html{background:var(--canvas);-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;color:var(--ink);font:1rem/1.55 ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;overflow-wrap:break-word}
code,pre,kbd{font:.925em/1.6 ui-monospace,'SF Mono','Cascadia Mono','Roboto Mono',Menlo,monospace}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:.25rem}
a{color:var(--accent);text-underline-offset:.2em}
h1,h2,h3{line-height:1.2;letter-spacing:-.015em;text-wrap:balance;margin:0}
h1{font-size:clamp(1.9rem,1.2rem + 3vw,3rem)}
h2{font-size:clamp(1.4rem,1.1rem + 1.3vw,1.9rem)}
h3{font-size:1.05rem}
p{margin:.75rem 0 0;text-wrap:pretty}
.wrap{max-width:72rem;margin:0 auto;padding:0 1rem}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--surface);padding:.5rem 1rem;z-index:1}
.only-read{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 1.5rem;padding-top:.75rem;padding-bottom:.75rem}
.logo{display:inline-flex;align-items:center;gap:.5rem;min-height:2.75rem;font-size:1.125rem;font-weight:600;color:var(--ink);text-decoration:none;letter-spacing:-.02em}
.logo svg{width:1.75rem;height:1.75rem}
.logo rect{fill:var(--accent)}.logo circle{fill:var(--on-accent)}.logo path{fill:none;stroke:var(--on-accent);stroke-width:3;stroke-linecap:round}
.top nav{display:flex;flex-wrap:wrap;align-items:center;gap:0 1.25rem;margin-left:auto}
.top nav a,.foot a{display:inline-flex;align-items:center;min-height:2.75rem;color:var(--ink);text-decoration:none;font-size:.9375rem}
.top nav a:hover,.foot a:hover{text-decoration:underline}
.top nav .button,.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:0 1.1rem;border:1px solid var(--accent);border-radius:.625rem;background:var(--accent);color:var(--on-accent);font-family:inherit;font-size:.9375rem;font-weight:600;text-decoration:none;cursor:pointer}
.button:hover{background:var(--accent-strong);border-color:var(--accent-strong)}
.button.plain{background:none;color:var(--ink);border-color:var(--line-strong)}
.button.plain:hover{background:var(--sunken)}
.notice{background:var(--warning-soft);color:var(--warning);text-align:center;padding:.5rem 1rem;font-size:.875rem}
.notice a{color:inherit}
main>section,main>.wrap{padding-top:2.5rem;padding-bottom:2.5rem}
.hero{display:grid;gap:2rem;align-items:center}
.hero>*,.cols>*{min-width:0}
.hero .code{white-space:pre-wrap;overflow-wrap:anywhere}
.lead{font-size:1.125rem;color:var(--muted);max-width:38rem}
.acts{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
.muted{color:var(--muted)}
.prose>*{max-width:46rem}
.small{font-size:.875rem}
.card{background:var(--surface);border:1px solid var(--line);border-radius:.875rem;padding:1.25rem}
.code{margin:0;background:var(--sunken);border:1px solid var(--line);border-radius:.75rem;padding:1rem;overflow-x:auto;font-size:.8125rem;tab-size:2}
.code+.code{margin-top:.75rem}
.code b{color:var(--accent);font-weight:600}
figure{margin:0}
figcaption{font-size:.8125rem;color:var(--muted);margin:0 0 .5rem}
figure+figure,.code+figure{margin-top:1rem}
.band{background:var(--surface);border-block:1px solid var(--line)}
.scroll{overflow-x:auto;margin-top:1.25rem;border:1px solid var(--line);border-radius:.875rem;background:var(--surface)}
table{border-collapse:collapse;width:100%;font-size:.9375rem;font-variant-numeric:tabular-nums}
th,td{padding:.65rem .9rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child>*{border-bottom:0}
thead th,.facts dt{font-size:.8125rem;font-weight:500;color:var(--muted)}
tbody th{font-weight:600}
tbody th code{display:block;font-weight:400;color:var(--muted);font-size:.8125rem}
th a{color:inherit}
.num{text-align:right;white-space:nowrap}
.cols{display:grid;gap:1rem;margin-top:1.25rem}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(8.5rem,100%),1fr));gap:1rem;margin:1.5rem 0 0}
.facts dd{margin:0;font-weight:600}
.facts div{border-top:1px solid var(--line);padding-top:.6rem}
.sum{display:grid;gap:.35rem 1rem;grid-template-columns:1fr auto;margin:1rem 0 0;font-variant-numeric:tabular-nums}
.sum dt{color:var(--muted)}.sum dd{margin:0;text-align:right;white-space:nowrap}
.sum .total{border-top:1px solid var(--line);padding-top:.5rem;margin-top:.25rem;color:var(--ink);font-weight:600;font-size:1.125rem}
label{display:block;font-size:.875rem;font-weight:500}
textarea,select,input{display:block;width:100%;min-width:0;margin-top:.35rem;padding:.6rem .75rem;border:1px solid var(--line-strong);border-radius:.625rem;background:var(--surface);color:var(--ink);font:inherit;font-size:1rem}
textarea{min-height:11rem;resize:vertical;font-family:ui-monospace,Menlo,monospace;font-size:.875rem}
.fields{display:grid;gap:.9rem;grid-template-columns:repeat(auto-fit,minmax(min(9rem,100%),1fr));align-items:end;margin-top:.9rem}
.result{min-height:15rem}
.result ul{list-style:none;margin:.9rem 0 0;padding:0;font-size:.875rem}
.result li{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;padding:.3rem 0;border-top:1px solid var(--line)}
.gap{margin-top:2.5rem}.h3{font-size:1.05rem}
.big{font-size:clamp(1.6rem,1.2rem + 2vw,2.25rem);font-weight:650;letter-spacing:-.02em;font-variant-numeric:tabular-nums;margin:.25rem 0 0}
details{border:1px solid var(--line);border-radius:.75rem;background:var(--surface);margin-top:.6rem}
summary{padding:.7rem 1rem;cursor:pointer;font-weight:500;min-height:2.75rem}
details .code{border:0;border-top:1px solid var(--line);border-radius:0 0 .75rem .75rem}
details>p{margin:0;padding:0 1rem 1rem}
.tag{display:inline-block;background:var(--accent-soft);color:var(--accent-strong);border-radius:99rem;padding:.1rem .6rem;font-size:.8125rem;font-weight:500}
.tag.warn{background:var(--warning-soft);color:var(--warning)}
.tags{display:flex;flex-wrap:wrap;gap:.4rem;margin:.9rem 0 0;padding:0;list-style:none}
.crumbs{font-size:.875rem;color:var(--muted);margin:0 0 1rem}
.foot{border-top:1px solid var(--line);margin-top:2rem;padding-top:1rem;padding-bottom:2rem;font-size:.875rem;color:var(--muted)}
.foot nav{display:flex;flex-wrap:wrap;gap:0 1.5rem}
.foot nav a{color:var(--muted);font-size:.875rem}
.foot p a{display:inline;min-height:0;color:inherit;text-decoration:underline;font-size:inherit}
@media (min-width:60rem){.hero{grid-template-columns:1.05fr 1fr;gap:3rem;padding-top:3.5rem;padding-bottom:3.5rem}.cols.two{grid-template-columns:1fr 1fr}.cols.three{grid-template-columns:repeat(3,1fr)}}
@media (max-width:40rem){.top nav{margin-left:0}.wide{display:none}th,td{padding:.6rem .65rem}}
`
