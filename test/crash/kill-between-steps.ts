/**
 * Performs an act again and again, kills its process one moment later each time, and checks the state after
 * recovery.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { BUNDLE_IMPORTS } from '../harness/bundle-imports.ts'
import type { World } from './world.ts'

/** A new act has two parts: the part that is killed in `perform.ts`, and the rest in `acts/`. */
export interface Act<Prepared> {
  /** The name of its part in `perform.ts`. */
  readonly name: string
  /** A run with fewer steps is a fault of the harness. */
  readonly stepsMin: number
  /** Seeds separate rows for each kill; the result goes to the process as JSON. */
  prepare(world: World): Promise<Prepared>
  /** Finishes the work that a killed process leaves, as the workers of another node do. */
  recover(world: World, prepared: Prepared): Promise<void>
  /** Asserts that nothing is lost and nothing happened twice. */
  check(world: World, prepared: Prepared): Promise<void>
}

/** In their order within a step. */
const MOMENTS = ['before', 'sent', 'arrived']

/** Far more than any act takes: an act that hangs is a fault of the test. */
const ACT_MS_MAX = 30_000

/** The step and the moment of `KILL_AT` at this place in the order of all moments, from 0 on. */
export function momentAt(place: number): { readonly step: number; readonly at: string } {
  const step = Math.floor(place / MOMENTS.length) + 1
  return { step, at: `${step}:${MOMENTS[place % MOMENTS.length]}` }
}

/** Kills at every `stride`-th moment from `offset` on, until the act completes. Returns the number of kills. */
export async function killBetweenSteps<Prepared>(
  world: World,
  act: Act<Prepared>,
  { stride, offset }: { stride: number; offset: number },
): Promise<number> {
  let kills = 0
  for (let place = offset; ; place += stride) {
    const { step, at } = momentAt(place)
    const prepared = await act.prepare(world)
    const ended = await actInProcess(world, act.name, prepared, at)
    await world.untilQuiet()
    try {
      await act.recover(world, prepared)
      await act.check(world, prepared)
    } catch (error) {
      const how = ended.isKilled ? `killed at ${at}, ${ended.at}` : 'not killed'
      throw new Error(`${act.name}, ${how}`, { cause: error })
    }
    if (ended.isKilled) kills++
    else if (ended.steps < act.stepsMin) throw new Error(`${act.name} has ${ended.steps} steps`)
    // Not every step has all moments: the last message has no answer.
    else if (ended.steps < step) return kills
  }
}

type Ended =
  | { readonly isKilled: true; readonly at: string }
  | { readonly isKilled: false; readonly steps: number }

function actInProcess(
  { access }: World,
  name: string,
  prepared: unknown,
  killAt: string,
): Promise<Ended> {
  const folder = import.meta.dirname
  const child = spawn(
    process.execPath,
    [
      ...BUNDLE_IMPORTS,
      '--import',
      join(folder, 'kill-at-step.ts'),
      join(folder, 'acting-process.ts'),
      JSON.stringify({ name, access, prepared }),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, KILL_AT: killAt },
      timeout: ACT_MS_MAX,
    },
  )
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const at = /^killed (.*)$/m.exec(output)?.[1]
      const steps = /^steps (\d+)$/m.exec(output)?.[1]
      if (signal === 'SIGKILL' && at !== undefined) resolve({ isKilled: true, at })
      else if (code === 0 && steps !== undefined) resolve({ isKilled: false, steps: Number(steps) })
      else reject(new Error(`${name} at ${killAt} ended with ${code ?? signal}: ${output}`))
    })
  })
}
