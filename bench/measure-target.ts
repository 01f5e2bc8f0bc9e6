/** One measurement: a load on one target, with the memory and processor time that its processes used. */
import { join } from 'node:path'
import { requestBodies, type Mode } from './chat-request.ts'
import type { LoadPlan, LoadResult } from './load.ts'
import { readDatabaseBytes, readProcessUsage, type ProcessUsage } from './process-usage.ts'
import type { Processes } from './processes.ts'
import type { AnyTarget } from './target.ts'
import { waitUntilQuiet } from './wait-until-quiet.ts'

export interface Cell {
  readonly mode: Mode
  readonly connections: number
}

export interface Measurement extends LoadResult {
  /** The busy share of the processors before the load, see `waitUntilQuiet`. */
  readonly busyBefore: number
  readonly gatewayBytesMax: number | null
  readonly databaseBytes: number | null
  /** Processor time for each answer, without the load generator and the upstream. */
  readonly gatewayCpuUs: number | null
  readonly databaseCpuUs: number | null
}

/** A request and the end of its streamed answer. */
export type Conversation = Pick<LoadPlan, 'body' | 'endOfEvents' | 'isRefused'>

const chatOf = (mode: Mode): Conversation => ({
  body: requestBodies[mode],
  endOfEvents: '[DONE]',
})

export interface Duration {
  /** How long to wait for a quiet machine before the load. */
  readonly quietMsMax: number
  readonly warmupSeconds: number
  readonly seconds: number
}

/** Beyond the planned time: the start of Node and the answers that are still running at the end. */
const EXTRA_MS_MAX = 20_000
const SAMPLE_MS = 500
/** Every body contains ids and numbers whose length varies from answer to answer. */
const BODY_SHARE_MIN = 0.95

export async function measureTarget(
  processes: Processes,
  target: AnyTarget,
  bodyBytes: Readonly<Record<Mode, number>>,
  cell: Cell,
  duration: Duration,
  conversation: Conversation = chatOf(cell.mode),
): Promise<Measurement> {
  const plan: LoadPlan = {
    port: target.port,
    path: target.path,
    headers: target.headers,
    ...conversation,
    ...(target.callers ? { callers: target.callers } : {}),
    isStream: cell.mode === 'stream',
    connections: cell.connections,
    warmupSeconds: duration.warmupSeconds,
    seconds: duration.seconds,
    bodyBytesMin: Math.floor(bodyBytes[cell.mode] * BODY_SHARE_MIN),
  }
  const busyBefore = await waitUntilQuiet(duration.quietMsMax)
  const before = readUsage(target)
  let gatewayBytesMax = before?.gatewayBytes ?? 0
  const sample = () => {
    const usage = readUsage(target)
    gatewayBytesMax = Math.max(gatewayBytesMax, usage?.gatewayBytes ?? 0)
    return usage
  }
  const timer = setInterval(sample, SAMPLE_MS)
  let result: LoadResult
  try {
    result = await runLoad(processes, plan)
  } finally {
    clearInterval(timer)
  }
  const after = sample()
  const answers = result.answersInAll
  return {
    ...result,
    busyBefore,
    gatewayBytesMax: gatewayBytesMax || null,
    databaseBytes: readDatabaseBytes(...pidsOf(target)) || null,
    gatewayCpuUs: cpuUs(before?.gatewayCpuMs, after?.gatewayCpuMs, answers),
    databaseCpuUs: cpuUs(before?.databaseCpuMs, after?.databaseCpuMs, answers) || null,
  }
}

/** The process of a target, and that of its database if it is no child. */
export function pidsOf({ pid, databasePid }: AnyTarget): number[] {
  return [pid, databasePid].filter((one) => one !== undefined)
}

function readUsage(target: AnyTarget): ProcessUsage | undefined {
  return readProcessUsage(...pidsOf(target))
}

async function runLoad(processes: Processes, plan: LoadPlan): Promise<LoadResult> {
  const finished = await processes.run(
    {
      name: 'load',
      command: process.execPath,
      args: [join(import.meta.dirname, './load.ts')],
      input: JSON.stringify(plan),
    },
    (plan.warmupSeconds + plan.seconds) * 1000 + EXTRA_MS_MAX,
  )
  if (finished.code !== 0) throw new Error(`the load generator failed: ${finished.stderr}`)
  return JSON.parse(finished.stdout) as LoadResult
}

function cpuUs(before: number | undefined, after: number | undefined, answers: number) {
  if (before === undefined || after === undefined || answers === 0) return null
  return Math.round(((after - before) * 1000) / answers)
}
