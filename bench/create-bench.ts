/**
 * The upstream and the targets of one run, with a tally of all answers: every request to a target
 * goes through here, so that the counts can be compared at the end.
 */
import { join } from 'node:path'
import { findFreePort } from '../test/harness/find-free-port.ts'
import type { Mode } from './chat-request.ts'
import { checkRequests, checkTarget } from './check-target.ts'
import { measureTarget, type Cell, type Duration, type Measurement } from './measure-target.ts'
import type { Options } from './parse-options.ts'
import { planWarmUp } from './plan-warm-up.ts'
import type { Processes } from './processes.ts'
import type { Reconciliation, Results } from './results.ts'
import { runSlowStreams, type SlowStreamsResult } from './slow-streams.ts'
import type { StartTarget, Target, TargetName } from './target.ts'
import { startCatraca } from './targets/catraca.ts'
import { startDirect } from './targets/direct.ts'
import { startNginx } from './targets/nginx.ts'
import { startPortkey } from './targets/portkey.ts'
import type { UpstreamCount } from './upstream.ts'

export interface Bench {
  readonly targets: readonly Target[]
  readonly unavailable: Results['unavailable']
  /** The failures so far. */
  readonly faults: readonly string[]
  warmUp(target: Target): Promise<void>
  measure(target: Target, cell: Cell): Promise<Measurement>
  runSlowStreams(target: Target, streams: number): Promise<SlowStreamsResult>
  /** Null where no target bills. */
  reconcile(): Promise<Reconciliation | null>
}

interface Tally {
  client: number
  upstream: number
}

const starters: Readonly<Record<TargetName, StartTarget>> = {
  direct: startDirect,
  nginx: startNginx,
  portkey: startPortkey,
  catraca: startCatraca,
}

export async function createBench(
  processes: Processes,
  folder: string,
  options: Options,
): Promise<Bench> {
  const upstreamPort = await findFreePort()
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}/count`
  await processes.start({
    name: 'upstream',
    command: process.execPath,
    args: [join(import.meta.dirname, './upstream.ts'), String(upstreamPort)],
    readyUrl: upstreamUrl,
  })

  const targets: Target[] = []
  const unavailable: Partial<Record<TargetName, string>> = {}
  const faults: string[] = []
  const bodyBytes = new Map<TargetName, Record<Mode, number>>()
  const tallies = new Map<TargetName, Tally>()

  /** Runs a step that calls the target; `answersOf` returns the number of answers in its result. */
  async function counted<T>(
    target: Target,
    act: () => Promise<T>,
    answersOf: (result: T) => number,
  ) {
    const before = await readCount(upstreamUrl)
    const result = await act()
    const after = await readCount(upstreamUrl)
    const tally = tallies.get(target.name) ?? { client: 0, upstream: 0 }
    tally.client += answersOf(result)
    tally.upstream += after.finished - before.finished
    tallies.set(target.name, tally)
    return result
  }

  async function load(target: Target, cell: Cell, duration: Duration): Promise<Measurement> {
    const bytes = bodyBytes.get(target.name)!
    const act = () => measureTarget(processes, target, bytes, cell, duration)
    const measurement = await counted(target, act, (result) => result.answersInAll)
    if (measurement.failures > 0) {
      const where = `${target.name}, ${cell.mode}, ${cell.connections} connections`
      faults.push(`${where}: ${measurement.failures} failures: ${measurement.firstFailure}`)
    }
    return measurement
  }

  const { workers, customers } = options
  for (const name of options.targets) {
    const target = await starters[name]({ processes, upstreamPort, folder, workers, customers })
    if ('kind' in target) {
      unavailable[name] = target.reason
      if (name === 'catraca') faults.push(`catraca: ${target.reason}`)
      continue
    }
    bodyBytes.set(
      name,
      await counted(
        target,
        () => checkTarget(target),
        () => checkRequests,
      ),
    )
    targets.push(target)
  }

  return {
    targets,
    unavailable,
    faults,

    async warmUp(target) {
      const { cells, duration } = planWarmUp(options)
      for (const cell of cells) await load(target, cell, duration)
    },

    measure(target, cell) {
      return load(target, cell, options)
    },

    async runSlowStreams(target, streams) {
      const act = () => runSlowStreams(target, streams)
      const result = await counted(target, act, (slow) => slow.complete)
      if (result.complete < streams) {
        const missing = streams - result.complete
        faults.push(`${target.name}: ${missing} slow streams not complete: ${result.firstFailure}`)
      }
      return result
    },

    async reconcile() {
      const target = targets.find((one) => one.audit !== undefined)
      if (target?.audit === undefined) return null
      const { isSound, charges, openHolds, report } = await target.audit()
      const { client, upstream } = tallies.get(target.name)!
      if (!isSound) faults.push(`${target.name}: the audit found a breach`)
      if (openHolds !== 0) faults.push(`${target.name}: ${openHolds} holds are still open`)
      if (client !== charges || upstream !== charges) {
        const counts = `${client} answers, ${upstream} by the upstream, ${charges} charges`
        faults.push(`${target.name}: the counts differ: ${counts}`)
      }
      return {
        clientAnswers: client,
        upstreamAnswers: upstream,
        charges,
        openHolds,
        isSound,
        audit: report,
      }
    },
  }
}

async function readCount(url: string): Promise<UpstreamCount> {
  const response = await fetch(url)
  return (await response.json()) as UpstreamCount
}
