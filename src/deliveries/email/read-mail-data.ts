import { formatBrl, formatCount, formatDay, formatTime } from './formats.ts'
import type { DataReader, MailData } from './mail-content.ts'

/** Longer than any name. */
const TEXT_MAX = 300
const CODE_MAX = 4_000
const WEB_ADDRESS = /^https?:\/\/[\w.~:/?#[\]@!$&()*+,;=%-]+$/

/** Formats times in the given zone. */
export function readMailData(data: MailData, timezone: string): DataReader {
  const textOf = (name: string): string | undefined => {
    const value = data[name]
    if (typeof value === 'number' || typeof value === 'bigint') return String(value)
    return typeof value === 'string' ? value : undefined
  }
  return {
    text(name) {
      const line = oneLine(textOf(name) ?? '')
      return line === '' ? undefined : clip(line, TEXT_MAX)
    },
    code(name) {
      const code = textOf(name)?.replaceAll(/\p{Cc}/gu, '')
      return code === undefined || code === '' || code.length > CODE_MAX ? undefined : code
    },
    url(name) {
      const url = textOf(name)
      return url !== undefined && url.length <= CODE_MAX && WEB_ADDRESS.test(url) ? url : undefined
    },
    brl: (name) => formatBrl(textOf(name) ?? ''),
    time(name) {
      const at = new Date(textOf(name) ?? '')
      return Number.isNaN(at.getTime()) ? undefined : formatTime(at, timezone)
    },
    day: (name) => formatDay(textOf(name) ?? ''),
    count(name) {
      const value = data[name]
      return typeof value === 'number' && Number.isFinite(value) ? formatCount(value) : undefined
    },
    is: (name, value) => data[name] === value,
    list(name) {
      const value = data[name]
      if (!Array.isArray(value)) return []
      return value.map((entry: unknown) => readMailData(Object(entry) as MailData, timezone))
    },
  }
}

/** For text that people wrote: removes line breaks and characters that change the direction of writing. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()
}

/** Cuts the text to at most `max` characters, without splitting one. */
export function clip(text: string, max: number): string {
  const characters = Array.from(text)
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`
}
