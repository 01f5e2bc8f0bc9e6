/**
 * `npm run measure:house`: how heavy the code is to carry. Prints one line for each measure; nothing fails by it.
 * The files of a chat are those of `src` with a function that ran during each of three calls of a warm server, so that
 * what a timer runs beside them is not counted; the sandbox that plays the upstream is left out. `--list` names them.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { readSources, type Source } from '../../test/harness/read-sources.ts'

const root = join(import.meta.dirname, '../..')
const SMALL_LINES_MAX = 80
const STUB = /(^|\/)(resource|[\w-]*-deps)\.ts$/
/**
 * Each takes some of a limited thing for a caller and gives it back: the room of admission, and what stands elsewhere.
 * The paces of spending alerts are sums of money, and the pace of restarts is no caller's: neither takes anything.
 */
const GUARD =
  /(platform\/admission\/[\w-]+|byte-budget|budget-of|kept-bytes|count-un\w+|take-bytes|slots|own-time|turns?|slices|measure-in-turn|(?<!restart-)paced?|pace-\w+|rate-limiter|limit-attempts|unpaid-work|shared-running|stall-limit)\.ts$/

const production = readSources('src/**/*.{ts,sql}').filter(
  ({ file }) => !file.endsWith('.test.ts') && !file.startsWith('src/platform/db/migrations/'),
)
const code = production.filter(({ file }) => file.endsWith('.ts'))
const importers = importersOf(code)
const small = code.filter(
  ({ file, text }) => linesOf(text) <= SMALL_LINES_MAX && isForNeighbourAlone(file),
)
const stubs = code.filter(({ file }) => STUB.test(file))
const guards = code.filter(({ file }) => GUARD.test(file))
const docs = readSources('docs/**/*.md', 'CHANGELOG.md')
const chat = await filesOfChat()

const rows: readonly (readonly [string, string])[] = [
  [
    'files that a plain chat passes',
    `${chat.length} in ${foldersOf(chat)} folders, ${lines(chat)}`,
  ],
  ['doors: folders directly below src', String(new Set(code.flatMap(doorOf)).size)],
  ['production files of src', `${code.length}, ${lines(code)}`],
  [`of at most ${SMALL_LINES_MAX} lines, with one importer beside`, String(small.length)],
  ['files of SQL in src', String(production.length - code.length)],
  ['stub wiring: resource.ts, *-deps.ts', `${stubs.length} files, ${lines(stubs)}`],
  ['guards', `${guards.length} in ${foldersOf(guards)} folders`],
  ['docs and changelog', `${Math.round(bytesOf(docs) / 1_000)} kB`],
]
for (const [what, figure] of rows) process.stdout.write(`${what.padEnd(48)} ${figure}\n`)
process.stdout.write('processor time of `npm test`: its own last lines say it\n')
if (process.argv.includes('--list'))
  for (const { file, text } of chat) process.stdout.write(`${linesOf(text)} ${file}\n`)

function importersOf(sources: readonly Source[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const { file, text } of sources)
    for (const [, path = ''] of text.matchAll(/from '(\.[^']+)'/g)) {
      const imported = join(dirname(file), path)
      found.set(imported, (found.get(imported) ?? new Set()).add(file))
    }
  return found
}

function isForNeighbourAlone(file: string): boolean {
  const [only, ...more] = importers.get(file) ?? []
  return only !== undefined && more.length === 0 && dirname(only) === dirname(file)
}

function doorOf({ file }: Source): string[] {
  const [, door, inside] = file.split('/')
  return door !== undefined && inside !== undefined ? [door] : []
}

function foldersOf(sources: readonly Source[]): number {
  return new Set(sources.map(({ file }) => dirname(file))).size
}

function linesOf(text: string): number {
  return text.split('\n').length - 1
}

function lines(sources: readonly Source[]): string {
  return `${sources.reduce((sum, { text }) => sum + linesOf(text), 0)} lines`
}

function bytesOf(sources: readonly Source[]): number {
  return sources.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
}

async function filesOfChat(): Promise<Source[]> {
  const folder = mkdtempSync(join(tmpdir(), 'catraca-house-'))
  // The account that runs the database for root must be able to open it.
  chmodSync(folder, 0o755)
  const port = await findFreePort()
  const coveredFile = join(folder, 'covered.jsonl')
  writeFileSync(coveredFile, '')
  const program = ['--import', join(import.meta.dirname, './cover.ts'), join(root, 'src/main.ts')]
  const child = spawn(process.execPath, program, {
    cwd: folder,
    env: {
      ...process.env,
      COVERED_FILE: coveredFile,
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      LOG_LEVEL: 'error',
    },
  })
  const covered = async (): Promise<Set<string>> => {
    const before = readFileSync(coveredFile, 'utf8')
    child.kill('SIGUSR2')
    for (;;) {
      const line = readFileSync(coveredFile, 'utf8').slice(before.length)
      if (line.endsWith('\n'))
        return new Set(
          (JSON.parse(line) as string[]).map((url) => fileURLToPath(url).slice(root.length + 1)),
        )
      await sleep(20)
    }
  }
  try {
    const key = await printedKey(child)
    for (let call = 0; call < 20; call++) await chatOnce(port, key)
    const ran: Set<string>[] = []
    for (let call = 0; call < 3; call++) {
      await covered()
      await chatOnce(port, key)
      ran.push(await covered())
    }
    return code.filter(
      ({ file }) => !file.startsWith('src/sandbox/') && ran.every((files) => files.has(file)),
    )
  } finally {
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

function printedKey(child: ChildProcessWithoutNullStreams): Promise<string> {
  let printed = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        printed += String(text)
        const key = /^ {2}key +(\S+)$/m.exec(printed)?.[1]
        if (key !== undefined) resolve(key)
      })
    child.once('exit', () => reject(new Error(`the server ended:\n${printed}`)))
  })
}

async function chatOnce(port: number, key: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"model":"gpt-4o-mini","max_tokens":20,"messages":[{"role":"user","content":"Oi"}]}',
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(text)
}
