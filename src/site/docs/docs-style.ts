/** What the documentation has beside the style of the site. */
export const DOCS_STYLE = `.docs{display:grid;gap:2rem;padding-top:1.5rem;padding-bottom:2rem}
.docs>*{min-width:0}
.docs article{max-width:48rem}
.docs h1{font-size:clamp(1.7rem,1.2rem + 2vw,2.4rem)}
.docs h2{font-size:1.35rem;margin-top:2.75rem;scroll-margin-top:1rem}
.docs h3{margin-top:1.75rem;scroll-margin-top:1rem}
.docs h2 a.at,.docs h3 a.at{color:inherit;text-decoration:none}
.docs h2 a.at:hover,.docs h3 a.at:hover{text-decoration:underline}
.docs ul,.docs ol{padding-left:1.25rem;margin:.75rem 0 0}
.docs li+li{margin-top:.35rem}
.docs p code,.docs li code,.docs td code,.docs dt code{background:var(--sunken);border-radius:.3rem;padding:.1rem .3rem;overflow-wrap:anywhere}
.code i{color:var(--muted);font-style:normal}.code span{color:var(--accent)}
.docs figure{margin-top:1.25rem}
.samples{margin-top:1.25rem}
.docs figure,.samples details{position:relative}
.docs figcaption{padding-right:5rem}
.copy{position:absolute;right:0;top:-.5rem;min-height:1.75rem;padding:0 .7rem;border:1px solid var(--line-strong);border-radius:.5rem;background:var(--surface);color:var(--ink);font:inherit;font-size:.8125rem;cursor:pointer}
details>.copy{right:.75rem;top:.5rem}
.copy:hover{background:var(--sunken)}
.side{font-size:.9375rem}
.side details{border:0;background:none;margin:0}
.docs .side ul{padding:0 0 .75rem .6rem}
.side summary{padding:.6rem;font-size:.875rem;font-weight:600;color:var(--muted)}
.side summary:hover{color:var(--ink)}
.docs .side ul,.docs .toc ul{list-style:none;padding:0;margin:0}
.side li+li,.toc li+li{margin:0}
.side a{display:block;padding:.5rem .6rem;border-radius:.5rem;color:var(--ink);text-decoration:none}
.side a:hover{background:var(--sunken)}
.side a[aria-current]{background:var(--accent-soft);color:var(--accent-strong);font-weight:600}
.toc{border-left:2px solid var(--line);padding-left:1rem;margin-top:1.5rem;font-size:.9375rem}
.toc a{display:block;padding:.3rem 0;text-decoration:none}
.toc a:hover{text-decoration:underline}
.toc .verb{min-width:3.6rem;display:inline-block}
.verb{font:600 .8em/1.6 ui-monospace,Menlo,monospace;color:var(--accent-strong)}
.seek{min-height:4.6rem;position:relative;margin-bottom:1.5rem}
.seek ol{list-style:none;position:absolute;z-index:2;left:0;right:0;top:100%;margin:.35rem 0 0;padding:.35rem;background:var(--surface);border:1px solid var(--line-strong);border-radius:.75rem;max-height:24rem;overflow-y:auto}
.seek ol:empty{display:none}
.seek li a{display:block;padding:.5rem .6rem;border-radius:.5rem;text-decoration:none;color:var(--ink)}
.seek li a:hover,.seek li a:focus-visible{background:var(--sunken)}
.seek small{display:block;color:var(--muted)}
.list a{font-weight:600}
.fields-of{margin:.75rem 0 0;border-top:1px solid var(--line)}
.fields-of>div{padding:.6rem 0;border-bottom:1px solid var(--line)}
.fields-of dt{font-size:.9375rem}
.fields-of dd{margin:.15rem 0 0;font-size:.9375rem}
.fields-of .fields-of{margin:0;border-top:0;padding:0 1rem}
.fields-of .fields-of>div:last-child{border-bottom:0}
.fields-of summary{font-size:.875rem;padding:.55rem 1rem}
.need{font-size:.8125rem;color:var(--warning)}
.operation+.operation{border-top:1px solid var(--line);margin-top:3rem}
.operation>h2{overflow-wrap:anywhere}
.operation>h2 code{font-size:1.05rem;font-weight:600}
.next{display:flex;flex-wrap:wrap;gap:1rem;justify-content:space-between;margin-top:3rem;border-top:1px solid var(--line);padding-top:1rem}
.try{margin-top:1rem;min-height:2.75rem}
.try .fields{margin-bottom:.9rem}
.try textarea{min-height:9rem}
.try .card .button{margin-top:.9rem}
.try output{display:block;margin-top:.9rem}
.try output .code{margin-top:.6rem}
@media (min-width:60rem){.docs{grid-template-columns:15rem minmax(0,1fr);gap:3rem}.docs article{grid-area:1/2}.side{grid-area:1/1}.side>div{position:sticky;top:1rem;max-height:calc(100vh - 2rem);overflow-y:auto;padding-right:.25rem}.side a{padding:.3rem .6rem}.to-index{display:none}}
`
