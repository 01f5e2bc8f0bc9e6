/** Checked in this order, because most browsers claim to be several of these. */
const PROGRAMS: readonly [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\b(OPR|Opera|OPT)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|Chromium|HeadlessChrome)\//],
  ['Safari', /\bVersion\/.*\bSafari\//],
]
const SYSTEMS: readonly [place: string, pattern: RegExp][] = [
  ['no iPhone', /\biPhone\b/],
  ['no iPad', /\biPad\b/],
  ['no Android', /\bAndroid\b/],
  ['no Windows', /\bWindows\b/],
  ['no ChromeOS', /\bCrOS\b/],
  ['no Mac', /\bMac(intosh| OS X)\b/],
  ['no Linux', /\bLinux\b/],
]

/** The browser and the device in words: "Chrome no Windows". */
export function deviceWords(userAgent: string | null): string {
  const text = userAgent ?? ''
  const program = PROGRAMS.find(([, pattern]) => pattern.test(text))?.[0]
  const place = SYSTEMS.find(([, pattern]) => pattern.test(text))?.[0]
  if (program === undefined && place === undefined) return 'Dispositivo desconhecido'
  return [program ?? 'Navegador', place].filter(Boolean).join(' ')
}
