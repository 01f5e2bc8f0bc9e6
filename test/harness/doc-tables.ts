/** The tables of docs/settings.md and docs/metrics.md, made from `.env.example`, the configuration and the sources. */
import { tmpdir } from 'node:os'
import { ConfigError, loadConfig } from '../../src/app/config/config.ts'
import { EnvironmentReader } from '../../src/app/config/environment-reader.ts'
import { readSources } from './read-sources.ts'

/** By path from the root of the project. */
export function renderDocTables(): Record<string, string> {
  return { 'docs/settings.md': renderSettings(), 'docs/metrics.md': renderMetrics() }
}

function renderSettings(): string {
  const text = readSources('.env.example')[0]?.text ?? ''
  const [sandbox, live] = [defaultsOf('sandbox'), defaultsOf('live')]
  const parts = text.split(/^# -- /m).slice(1)
  const tables = parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n')
    const rows = joinUnexplained(settingsOf(lines), sandbox).map(({ names, about }) => {
      const [one, other] = [sandbox.get(names[0] ?? ''), live.get(names[0] ?? '')]
      const byDefault =
        one?.value === other?.value
          ? (one?.value ?? '')
          : `${other?.value ?? ''}; ${one?.value ?? ''} in sandbox mode`
      const values = one?.range ? ` (${one.range})` : ''
      return row([names.map(code).join(', '), `${byDefault}${values}`, about])
    })
    const head = row(['setting', 'default (values)', ''])
    return [
      `## ${heading.replace(/ *-*$/, '')}`,
      '',
      head,
      row(Array(3).fill('---')),
      ...rows,
    ].join('\n')
  })
  return page('Settings', [
    'The variables of `.env` and the environment. Each can also come from a file: `SECRETS_KEY_FILE=/run/secrets/key`, up to 64 KiB, whose line breaks at the end do not count. [`.env.example`](../.env.example) has examples.',
    ...tables,
  ])
}

interface Setting {
  readonly names: readonly string[]
  readonly about: string
}

/** Neighbours that neither a comment nor a default explains share a row: their names say what they are. */
function joinUnexplained(
  settings: readonly Setting[],
  explained: ReadonlyMap<string, Shown>,
): Setting[] {
  const isPlain = ({ names, about }: Setting): boolean =>
    about === '' && !names.some((name) => explained.has(name))
  return settings.reduce<Setting[]>((rows, setting) => {
    const last = rows.at(-1)
    return last && isPlain(last) && isPlain(setting)
      ? [...rows.slice(0, -1), { names: [...last.names, ...setting.names], about: '' }]
      : [...rows, setting]
  }, [])
}

/** A setting is a line of the form `# NAME=value`, explained by the comment above it. */
function settingsOf(lines: readonly string[]): Setting[] {
  let about: string[] = []
  return lines.flatMap((line): Setting[] => {
    const text = line.replace(/^# ?/, '')
    if (!/^[A-Z][A-Z0-9_]*=/.test(text)) {
      about.push(text)
      return []
    }
    const [name = ''] = text.split('=')
    const setting = { names: [name], about: about.join(' ').trim() }
    about = []
    return [setting]
  })
}

type Read = (this: EnvironmentReader, name: string, ...rest: never[]) => unknown

/** What the configuration falls back to, and the bounds that it checks, as it asks its reader for them. */
function defaultsOf(mode: 'sandbox' | 'live'): Map<string, Shown> {
  const found = new Map<string, Shown>()
  const reader = EnvironmentReader.prototype as unknown as Record<string, Read>
  const originals = { ...pick(reader, Object.keys(SHOW)) }
  for (const [method, show] of Object.entries(SHOW))
    reader[method] = function read(name, ...rest) {
      if (!found.has(name)) found.set(name, show(...rest))
      return (originals[method] as Read).call(this, name, ...rest)
    }
  try {
    // With one worker nothing depends on the machine.
    loadConfig({ CATRACA_MODE: mode, WORKERS: '1' }, tmpdir())
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
  } finally {
    Object.assign(reader, originals)
  }
  return found
}

interface Shown {
  readonly value: string
  readonly range: string
}

/** By method of the reader, of its parameters behind the name. */
const SHOW: Readonly<Record<string, (...rest: never[]) => Shown>> = {
  oneOf: (values: readonly string[], by: string) => ({ value: code(by), range: values.join(', ') }),
  whole: (by: number, min: number, max: number) => ({
    value: code(size(by)),
    range: `${size(min)} to ${size(max)}`,
  }),
  wholeIfSet: (min: number, max: number) => ({
    value: 'none',
    range: `${size(min)} to ${size(max)}`,
  }),
  workers: (by: string) => ({ value: code(by), range: 'auto, 1 to 64' }),
}

function pick(reader: Record<string, Read>, methods: readonly string[]): Record<string, Read> {
  return Object.fromEntries(methods.map((method) => [method, reader[method] as Read]))
}

/** A metric is a name and its help, one after the other, wherever it is made; its labels follow, or are those of a function. */
const METRIC =
  /(\w+\(|name:|\[)\s*'(catraca_\w+)',\s*(?:help:\s*)?(?:'([^']*)'|"([^"]*)")(?:,\s*(?:labels:|labelNames:)?\s*(\[['\w, ]*\]|labelNames))?/g
const LABELS = /(?:const labelNames = |name, help, )(\['[^\]]*\])/g
/** The sum of several processes, which no registry has. */
const HELP = /# HELP (catraca_\w+) (.*?)\\n/g

function renderMetrics(): string {
  const sources = readSources('src/**/*.ts').filter(({ file }) => !file.endsWith('.test.ts'))
  const rows = sources.flatMap(({ text }) => [
    ...Array.from(text.matchAll(METRIC), (match) => {
      const [, call = '', name = '', one, other, own = ''] = match
      const isShared =
        own === 'labelNames' ||
        (/^(gauge|ofQueues)\($/.test(call) && !isOfMetrics(text, match.index))
      const shared = Array.from(text.slice(0, match.index).matchAll(LABELS), ([, list]) => list).at(
        -1,
      )
      const labels = ((isShared ? shared : own) ?? '').replaceAll(/[[\]' ]/g, '')
      return row([code(labels ? `${name}{${labels}}` : name), one ?? other ?? ''])
    }),
    ...Array.from(text.matchAll(HELP), ([, name = '', help = '']) => row([code(name), help])),
  ])
  const head = [row(['metric', '']), row(['---', '---'])]
  return page('Metrics', [
    'What `GET /metrics` gives, in the Prometheus format, beside the default metrics of Node.js. [Operations](operations.md#metrics-and-alarms) says how to read them.',
    [...head, ...rows.toSorted()].join('\n'),
  ])
}

function isOfMetrics(text: string, place: number): boolean {
  return text.slice(0, place).endsWith('metrics.')
}

function page(title: string, parts: readonly string[]): string {
  const note = '<!-- written by `npm run docs:tables` -->'
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function code(text: string): string {
  return `\`${text}\``
}

const MIB = 1024 * 1024

function size(count: number): string {
  return count >= MIB && count % MIB === 0 ? `${count / MIB} MiB` : String(count)
}
