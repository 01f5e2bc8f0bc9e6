/**
 * `npm run bench:turns -- --before <commit>`: the working tree and an earlier commit, both running, with short turns of
 * load on one after the other. The machine's speed changes from minute to minute, so only neighbouring turns are
 * compared: each pair of turns gives one ratio, and the median of the ratios is reported with its quartiles.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import type { Mode } from '../chat-request.ts'
import { checkTarget } from '../check-target.ts'
import { limitToShare } from '../limit-to-share.ts'
import { measureTarget, type Measurement } from '../measure-target.ts'
import { pinnedTo } from '../pinned-to.ts'
import { describeRatios, median } from '../ratios.ts'
import { createProcesses } from '../processes.ts'
import type { Target } from '../target.ts'
import { startCatracaOf } from '../targets/catraca.ts'

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    turns: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '1,64' },
    modes: { type: 'string', default: 'plain,stream' },
    /** `undici`: the earlier commit has it in place of our own HTTP/1.1 client. */
    'before-client': { type: 'string' },
    /** Gateway processes of the earlier commit and of the working tree. */
    'before-workers': { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    /** Among whom the connections are divided: the calls of one wait for each other's commits in the database. */
    customers: { type: 'string', default: '1' },
    'warm-up': { type: 'string', default: '8' },
    /** The processors of both servers with their databases, and of the load with the upstream; all by default. */
    'target-cpus': { type: 'string' },
    'client-cpus': { type: 'string' },
    /** The share of each processor that a server has with its database, such as 0.5; the load has the rest. Needs root. */
    share: { type: 'string' },
  },
})
if (values.before === undefined) throw new Error('--before <commit> is missing')

const here = join(import.meta.dirname, '../..')
const endings: (() => void)[] = []
const folder = mkdtempSync(join(tmpdir(), 'catraca-turns-'))
const processes = createProcesses(folder)
const earlier = join(folder, 'earlier')
process.once('exit', () => {
  processes.killAll()
  execFileSync('git', ['-C', here, 'worktree', 'remove', '--force', earlier], { stdio: 'ignore' })
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const inGit = { cwd: here, stdio: 'ignore' } as const
execFileSync('git', ['worktree', 'add', '--detach', earlier, values.before], inGit)
// The dependencies of today: a commit that needs others does not start.
symlinkSync(join(here, 'node_modules'), join(earlier, 'node_modules'))

const clients = pinnedTo(processes, values['client-cpus'])
const targets = pinnedTo(processes, values['target-cpus'])
const upstreamPort = await findFreePort()
await clients.start({
  name: 'upstream',
  command: process.execPath,
  args: [join(import.meta.dirname, '../upstream.ts'), String(upstreamPort)],
  readyUrl: `http://127.0.0.1:${upstreamPort}/count`,
})
const before = await start('before', earlier, Number(values['before-workers']), clientArguments())
const after = await start('after', here, Number(values.workers))
const modes = values.modes.split(',') as Mode[]
const cells = modes.flatMap((mode) =>
  values.connections.split(',').map((text) => ({ mode, connections: Number(text) })),
)
for (const target of [before, after])
  for (const cell of cells) await load(target, cell, Number(values['warm-up']) / cells.length)

const print = (...columns: string[]): void =>
  void process.stdout.write(`| ${columns.join(' | ')} |\n`)
print(
  'answers',
  'connections',
  'requests/s before',
  'after',
  'after/before',
  'CPU µs',
  'database CPU µs',
  'first byte',
)
print('---', '---', '---', '---', '---', '---', '---', '---')
for (const cell of cells) {
  const pairs: (readonly [Measurement, Measurement])[] = []
  for (let turn = 0; turn < Number(values.turns); turn += 1) {
    // The first of a pair changes, so that a trend of the machine favours neither.
    if (turn % 2 === 0) {
      const first = await load(before, cell, Number(values.seconds))
      pairs.push([first, await load(after, cell, Number(values.seconds))])
    } else {
      const first = await load(after, cell, Number(values.seconds))
      pairs.push([await load(before, cell, Number(values.seconds)), first])
    }
  }
  const rates = (side: 0 | 1) => median(pairs.map((pair) => pair[side].requestsPerSecond))
  print(
    cell.mode,
    String(cell.connections),
    rates(0).toFixed(0),
    rates(1).toFixed(0),
    ratios(pairs, (one) => one.requestsPerSecond),
    ratios(pairs, (one) => one.gatewayCpuUs ?? NaN),
    ratios(pairs, (one) => one.databaseCpuUs ?? NaN),
    ratios(pairs, (one) => one.firstByteMs.p50),
  )
}
await processes.stopAll()
for (const end of endings) end()
process.exit(0)

function clientArguments(): readonly string[] {
  const client = values['before-client']
  if (client === undefined) return []
  if (client !== 'undici') throw new Error(`no client "${client}"`)
  return ['--import', import.meta.resolve('./with-undici.ts')]
}

async function start(
  name: string,
  root: string,
  workers: number,
  nodeArguments: readonly string[] = [],
): Promise<Target & { bytes: Record<Mode, number> }> {
  const own = join(folder, name)
  mkdirSync(own)
  const target = await startCatracaOf(root, {
    processes: targets,
    upstreamPort,
    folder: own,
    workers,
    nodeArguments,
    customers: Number(values.customers),
  })
  if ('kind' in target) throw new Error(`${name}: ${target.reason}`)
  const bytes = await checkTarget(target)
  if (values.share !== undefined)
    endings.push(limitToShare(target.pid as number, Number(values.share)))
  return { ...target, bytes }
}

async function load(
  target: Awaited<ReturnType<typeof start>>,
  cell: { mode: Mode; connections: number },
  seconds: number,
): Promise<Measurement> {
  const duration = { quietMsMax: 0, warmupSeconds: 0.2, seconds }
  const measured = await measureTarget(clients, target, target.bytes, cell, duration)
  if (measured.failures > 0) throw new Error(`failures: ${measured.firstFailure}`)
  return measured
}

function ratios(
  pairs: readonly (readonly [Measurement, Measurement])[],
  valueOf: (one: Measurement) => number,
): string {
  return describeRatios(pairs.map(([first, second]) => valueOf(second) / valueOf(first)))
}
