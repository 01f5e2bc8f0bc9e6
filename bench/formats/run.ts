/**
 * `npm run bench:formats`: the same conversation in each client format, over an upstream that speaks it, so that bodies
 * and answers pass natively. The formats take short turns on one server; each turn is compared with the chat completions
 * of the same round, because the machine's speed changes from minute to minute.
 */
import { parseArgs } from 'node:util'
import {
  bodyOfFormat,
  endOfFormat,
  formats,
  pathOfFormat,
  type Format,
  type Mode,
} from '../chat-request.ts'
import { measureTarget, type Measurement } from '../measure-target.ts'
import { describeRatios, median } from '../ratios.ts'
import { openBenchRun } from '../open-bench-run.ts'
import { startCatraca } from '../targets/catraca.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '1,64' },
  },
})
/** In less, the first turns compile the code of their format. */
const WARM_UP_SECONDS = 10
const MODES: readonly Mode[] = ['plain', 'stream']

const { folder, processes, upstreamPort } = await openBenchRun('formats')
const started = await startCatraca({ processes, upstreamPort, folder, hasFormats: true })
if ('kind' in started) throw new Error(started.reason)
const target = started

const print = (...columns: string[]): void =>
  void process.stdout.write(`| ${columns.join(' | ')} |\n`)
print('answers', 'connections', 'format', 'requests/s', 'of chat', 'CPU µs of chat')
print('---', '---', '---', '---', '---', '---')
let answersInAll = 0
for (const mode of MODES) {
  for (const format of formats) await load(format, mode, 64, WARM_UP_SECONDS)
  for (const connections of values.connections.split(',').map(Number)) {
    const rounds: Record<Format, Measurement>[] = []
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const measured = {} as Record<Format, Measurement>
      // Each format is first, second and last equally often.
      for (let turn = 0; turn < formats.length; turn += 1) {
        const format = formats[(turn + round) % formats.length] as Format
        measured[format] = await load(format, mode, connections, Number(values.seconds))
      }
      rounds.push(measured)
    }
    for (const format of formats) {
      const ratio = (valueOf: (one: Measurement) => number): string =>
        describeRatios(rounds.map((round) => valueOf(round[format]) / valueOf(round.chat)))
      print(
        mode,
        String(connections),
        format,
        median(rounds.map((round) => round[format].requestsPerSecond)).toFixed(0),
        ratio(({ requestsPerSecond }) => requestsPerSecond),
        ratio(({ gatewayCpuUs }) => gatewayCpuUs ?? NaN),
      )
    }
  }
}
const audit = await target.audit?.()
process.stdout.write(
  `\n${answersInAll} answers, ${audit?.charges} charges, ${audit?.openHolds} open holds, audit ${audit?.isSound ? 'sound' : 'NOT SOUND'}\n`,
)
await processes.stopAll()
process.exit(audit?.isSound && audit.charges === answersInAll ? 0 : 1)

async function load(
  format: Format,
  mode: Mode,
  connections: number,
  seconds: number,
): Promise<Measurement> {
  const measured = await measureTarget(
    processes,
    { ...target, path: pathOfFormat[format] },
    { plain: 0, stream: 0 },
    { mode, connections },
    { quietMsMax: 0, warmupSeconds: 0.2, seconds },
    { body: bodyOfFormat(format, mode), endOfEvents: endOfFormat[format] },
  )
  if (measured.failures > 0) throw new Error(`${format}: ${measured.firstFailure}`)
  answersInAll += measured.answersInAll
  return measured
}
