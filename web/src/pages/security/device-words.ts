import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** Checked in this order, because most browsers claim to be several of these. */
const PROGRAMS: readonly [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\b(OPR|Opera|OPT)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|Chromium|HeadlessChrome)\//],
  ['Safari', /\bVersion\/.*\bSafari\//],
]
const SYSTEMS = perLanguage((): readonly [place: string, pattern: RegExp][] => [
  [t('no iPhone'), /\biPhone\b/],
  [t('no iPad'), /\biPad\b/],
  [t('no Android'), /\bAndroid\b/],
  [t('no Windows'), /\bWindows\b/],
  [t('no ChromeOS'), /\bCrOS\b/],
  [t('no Mac'), /\bMac(intosh| OS X)\b/],
  [t('no Linux'), /\bLinux\b/],
])

/** The browser and the device in words: "Chrome no Windows". */
export function deviceWords(userAgent: string | null): string {
  const text = userAgent ?? ''
  const program = PROGRAMS.find(([, pattern]) => pattern.test(text))?.[0]
  const path = SYSTEMS().find(([, pattern]) => pattern.test(text))?.[0]
  if (program === undefined && path === undefined) return t('Dispositivo desconhecido')
  return [program ?? t('Navegador'), path].filter(Boolean).join(' ')
}
