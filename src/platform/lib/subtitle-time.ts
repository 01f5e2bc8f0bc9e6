/** Writes a time as subtitle files have it: `01:02:03,456`; SubRip uses a comma, WebVTT a point. */
export function subtitleTime(seconds: number, decimalMark: ',' | '.'): string {
  const ms = Math.round(seconds * 1000)
  const parts = [
    Math.floor(ms / 3_600_000),
    Math.floor(ms / 60_000) % 60,
    Math.floor(ms / 1000) % 60,
  ]
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':')
  return `${clock}${decimalMark}${String(ms % 1000).padStart(3, '0')}`
}
