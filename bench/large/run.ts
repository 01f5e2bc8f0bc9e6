/**
 * `npm run bench:large`: prompts of 100 kB, and tool calls of 50 kB as answers, plain and streamed, through every target
 * in short turns.
 */
import { parseArgs } from 'node:util'
import { largeBody, largeBytes, loads, type LargeLoad, type Mode } from '../chat-request.ts'
import { describeMachine } from '../describe-machine.ts'
import { measureTarget, type Measurement } from '../measure-target.ts'
import { median } from '../ratios.ts'
import { openBenchRun } from '../open-bench-run.ts'
import { report } from '../report.ts'
import type { StartTarget, Target, TargetName } from '../target.ts'
import { startCatraca } from '../targets/catraca.ts'
import { startDirect } from '../targets/direct.ts'
import { startNginx } from '../targets/nginx.ts'
import { startPortkey } from '../targets/portkey.ts'

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: 'direct,nginx,portkey,catraca' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '1,16' },
  },
})
const STARTERS: Readonly<Record<TargetName, StartTarget>> = {
  direct: startDirect,
  nginx: startNginx,
  portkey: startPortkey,
  catraca: startCatraca,
}
const WARM_UP_SECONDS = 2
const MODES: readonly Mode[] = ['plain', 'stream']
/** A shorter answer has lost a part of the tool call. */
const BODY_BYTES_MIN: Readonly<Record<LargeLoad, number>> = {
  prompt: 0,
  'tool call': largeBytes.toolCall,
}

const { folder, processes, upstreamPort } = await openBenchRun('large')
const targets: Target[] = []
for (const name of values.targets.split(',') as TargetName[]) {
  const target = await STARTERS[name]({ processes, upstreamPort, folder })
  if ('kind' in target) report(`${name}: ${target.reason}`)
  else targets.push(target)
}
const { processors, node, commit } = describeMachine(folder)
process.stdout.write(`${processors}, Node ${node}, commit ${commit}\n\n`)
const print = (...columns: readonly (string | number)[]): void =>
  void process.stdout.write(`| ${columns.join(' | ')} |\n`)
print('large', 'answers', 'connections', 'target', 'requests/s', 'CPU µs', 'p50 ms', 'p99 ms')
print(...Array.from({ length: 8 }, () => '---'))
let answers = 0
let faults = 0
for (const load of loads)
  for (const mode of MODES)
    for (const connections of values.connections.split(',').map(Number))
      await compare(load, mode, connections)
const audit = await targets.find(({ name }) => name === 'catraca')?.audit?.()
if (audit) {
  const { charges, isSound, openHolds } = audit
  process.stdout.write(
    `\n${answers} answers, ${charges} charges, ${openHolds} open holds, audit ${isSound ? 'sound' : 'BROKEN'}\n`,
  )
  if (!isSound || openHolds > 0 || answers !== charges) faults += 1
}
await processes.stopAll()
process.exit(faults === 0 ? 0 : 1)

/** The targets in turns, another one first in each round. */
async function compare(load: LargeLoad, mode: Mode, connections: number): Promise<void> {
  const measured = new Map<Target, Measurement[]>(targets.map((target) => [target, []]))
  for (const target of targets) await measure(target, load, mode, connections, WARM_UP_SECONDS)
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (let turn = 0; turn < targets.length; turn += 1) {
      const target = targets[(turn + round) % targets.length] as Target
      const seconds = Number(values.seconds)
      measured.get(target)?.push(await measure(target, load, mode, connections, seconds))
    }
  for (const [{ name }, turns] of measured) {
    const middle = (valueOf: (one: Measurement) => number, digits: number): string =>
      median(turns.map(valueOf)).toFixed(digits)
    print(
      load,
      mode,
      connections,
      name,
      middle(({ requestsPerSecond }) => requestsPerSecond, 0),
      name === 'direct' ? '' : middle(({ gatewayCpuUs }) => gatewayCpuUs ?? NaN, 0),
      middle(({ latencyMs }) => latencyMs.p50, 2),
      middle(({ latencyMs }) => latencyMs.p99, 2),
    )
  }
}

async function measure(
  target: Target,
  load: LargeLoad,
  mode: Mode,
  connections: number,
  seconds: number,
): Promise<Measurement> {
  const min = BODY_BYTES_MIN[load] / 0.95
  const measured = await measureTarget(
    processes,
    target,
    { plain: min, stream: min },
    { mode, connections },
    { quietMsMax: 0, warmupSeconds: 0.2, seconds },
    { body: largeBody(load, mode), endOfEvents: '[DONE]' },
  )
  faults += measured.failures
  if (measured.failures > 0) report(`${target.name}: ${load}, ${mode}: ${measured.firstFailure}`)
  if (target.audit) answers += measured.answersInAll
  return measured
}
