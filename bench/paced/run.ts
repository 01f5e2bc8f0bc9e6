/**
 * `npm run bench:paced`: streams as a fast model writes them, one event of one token every 20 ms, through nginx, the
 * peer and Catraca. The clients and the upstream run on one processor, the target with its database on the other.
 */
import { parseArgs } from 'node:util'
import type { Format } from '../chat-request.ts'
import { describeMachine } from '../describe-machine.ts'
import { pinnedTo } from '../pinned-to.ts'
import { openBenchRun } from '../open-bench-run.ts'
import { report } from '../report.ts'
import type { StartTarget, Target, TargetName } from '../target.ts'
import { startCatraca } from '../targets/catraca.ts'
import { startDirect } from '../targets/direct.ts'
import { startNginx } from '../targets/nginx.ts'
import { startPortkey } from '../targets/portkey.ts'
import type { UpstreamCount } from '../upstream.ts'
import type { PacedResult } from './load.ts'
import { measurePaced } from './measure-paced.ts'

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: 'direct,nginx,portkey,catraca' },
    streams: { type: 'string', default: '100,400,1000,2000' },
    seconds: { type: 'string', default: '10' },
    /** The processors of the clients with the upstream, and of the targets. */
    'client-cpus': { type: 'string', default: '0' },
    'target-cpus': { type: 'string', default: '1' },
    /** Gateway processes of Catraca. */
    workers: { type: 'string', default: '1' },
    customers: { type: 'string', default: '1' },
    /** Of the clients and the upstream; only Catraca is measured with those beside chat. */
    formats: { type: 'string', default: 'chat' },
  },
})
const STARTERS: Readonly<Record<TargetName, StartTarget>> = {
  direct: startDirect,
  nginx: startNginx,
  portkey: startPortkey,
  catraca: startCatraca,
}
const formats = values.formats.split(',') as Format[]
const WARM_UP_SECONDS = 4

const { folder, processes, upstreamPort, countUrl } = await openBenchRun(
  'paced',
  values['client-cpus'],
)
const clients = pinnedTo(processes, values['client-cpus'])
const { processors, node, commit, fdatasyncMs } = describeMachine(folder)
process.stdout.write(
  `${processors}, Node ${node}, commit ${commit}, fdatasync ${fdatasyncMs} ms\n\n`,
)
process.stdout.write(
  '| streams | target | format | events/s | CPU µs/event | database | first byte p50 ms | p99 | p99.9 | gap p50 ms | p99 | p99.9 | memory MB |\n',
)
process.stdout.write(`|${' --- |'.repeat(13)}\n`)
const targets: Target[] = []
for (const name of values.targets.split(',') as TargetName[]) {
  const surroundings = {
    processes: pinnedTo(processes, values['target-cpus']),
    upstreamPort,
    folder,
    workers: Number(values.workers),
    customers: Number(values.customers),
    hasFormats: true,
  }
  const target = await STARTERS[name](surroundings)
  if ('kind' in target) report(`${name}: ${target.reason}`)
  else targets.push(target)
}
let faults = 0
let answers = 0
let upstreamAnswers = 0
for (const streams of values.streams.split(',').map(Number)) {
  for (const target of targets)
    for (const format of target.name === 'catraca' ? formats : (['chat'] as const)) {
      const before = await readFinished()
      const result = await measurePaced(clients, target, {
        format,
        streams,
        seconds: Number(values.seconds),
        warmupSeconds: WARM_UP_SECONDS,
      })
      if (target.audit) {
        answers += result.complete
        upstreamAnswers += (await readFinished()) - before
      }
      faults += result.failures
      if (result.failures > 0)
        report(`${target.name}: ${result.failures} failures: ${result.firstFailure}`)
      printRow(streams, target, format, result)
    }
}
const audit = await targets.find(({ name }) => name === 'catraca')?.audit?.()
if (audit) {
  const { charges, isSound, openHolds } = audit
  process.stdout.write(
    `\n${answers} whole answers, ${upstreamAnswers} by the upstream's count, ${charges} charges, ` +
      `${openHolds} open holds, audit ${isSound ? 'sound' : 'BROKEN'}\n`,
  )
  if (!isSound || openHolds > 0 || answers !== charges || upstreamAnswers !== charges) faults += 1
}
await processes.stopAll()
process.exit(faults === 0 ? 0 : 1)

function printRow(streams: number, { name }: Target, format: Format, result: PacedResult): void {
  const { firstByteMs: first, gapMs: gap, gatewayBytes } = result
  const figures = [
    result.eventsPerSecond,
    result.gatewayCpuUs ?? '',
    result.databaseCpuUs || '',
    ...[first.p50, first.p99, first.p999, gap.p50, gap.p99, gap.p999].map((ms) => ms.toFixed(1)),
    gatewayBytes === null ? '' : Math.round(gatewayBytes / 1024 / 1024),
  ]
  process.stdout.write(`| ${[streams, name, format, ...figures].join(' | ')} |\n`)
}

async function readFinished(): Promise<number> {
  const response = await fetch(countUrl)
  return ((await response.json()) as UpstreamCount).finished
}
