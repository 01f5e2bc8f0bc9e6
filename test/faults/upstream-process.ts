/** The upstream of a world, in a separate process, which no fault of a node or of the database affects. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../harness/find-free-port.ts'
import type { UpstreamRecord } from './upstream-record.ts'

export interface UpstreamProcess {
  readonly port: number
  readRecords(): Promise<UpstreamRecord[]>
  stop(): Promise<void>
}

export async function startUpstream(): Promise<UpstreamProcess> {
  const port = await findFreePort()
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, './upstream-main.ts'), String(port)],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  const readRecords = async (): Promise<UpstreamRecord[]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/records`)
    return (await answer.json()) as UpstreamRecord[]
  }
  for (let tries = 0; ; tries++) {
    if (await readRecords().catch(() => undefined)) break
    if (tries > 200) throw new Error('the upstream did not come up')
    await sleep(50)
  }
  return {
    port,
    readRecords,
    async stop() {
      process.off('exit', end)
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

/**
 * The operator's file: one upstream that stops billing when its client disconnects, and one that does not.
 */
export function catalogOf(upstreamPort: number): unknown {
  const upstreams = [true, false].map((stops) => ({
    id: stops ? 'stops' : 'runs-on',
    kind: 'openai-compatible',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    cancel_stops_billing: stops,
    // One attempt for each hold, so that the counts show the ledger's work and no retries.
    retries: 0,
    breaker: { failures: 0 },
  }))
  return {
    upstreams,
    models: upstreams.flatMap(({ id }) =>
      ['quick', 'slow', 'long', 'full'].map((model) => ({
        id: `${id}-${model}`,
        category: 'llm',
        prices: PRICES_USD,
        markup_multiplier: MARKUP,
        routes: [{ upstream: id, model }],
        context_tokens: 128_000,
        max_output_tokens: 4_096,
      })),
    ),
  }
}

/** Per million tokens. */
const PRICES_USD = { input: 10, output: 40 }
const MARKUP = '1.5'
export const FX_RATE = '5.2000'

/**
 * The price of these tokens in nano-BRL, computed independently: pico-USD x 5.2 x 1.5, rounded half up once.
 */
export function priceOf(tokens: { promptTokens: number; completionTokens: number }): bigint {
  const picoUsd =
    BigInt(tokens.promptTokens * PRICES_USD.input + tokens.completionTokens * PRICES_USD.output) *
    1_000_000n
  return (picoUsd * 52_000n * 15_000n + 50_000_000_000n) / 100_000_000_000n
}
