/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util'
import type { Mode } from './chat-request.ts'
import { targetNames, type TargetName } from './target.ts'

export interface Options {
  readonly isQuick: boolean
  readonly targets: readonly TargetName[]
  readonly connections: readonly number[]
  readonly modes: readonly Mode[]
  readonly seconds: number
  readonly warmupSeconds: number
  /** How long each measurement waits for the machine to become idle. */
  readonly quietMsMax: number
  readonly rounds: number
  /** Slow streams that are open at once; 0 skips that part. */
  readonly slowStreams: number
  /** Gateway processes of Catraca. */
  readonly workers: number
  /** Customers of Catraca, among whom the connections are divided. */
  readonly customers: number
}

export const usage = `npm run bench -- [options]
  --quick              a smoke test for CI: direct and catraca, 1 and 16 connections, 2 s each
  --targets a,b        of ${targetNames.join(', ')} (default: all)
  --connections 1,16   (default: 1,16,64,256)
  --modes plain,stream (default: both)
  --seconds N          measured in each round (default: 4)
  --rounds N           of which the median is reported (default: 3)
  --slow-streams N     held at once, for 30 s (default: 1000; 0 for none)
  --workers N          gateway processes of Catraca (default: 1)
  --customers N        customers of Catraca, among whom the connections are divided (default: 1)
`

const modes: readonly Mode[] = ['plain', 'stream']

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      targets: { type: 'string' },
      connections: { type: 'string' },
      modes: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      'slow-streams': { type: 'string' },
      workers: { type: 'string', default: '1' },
      customers: { type: 'string', default: '1' },
    },
  })
  const isQuick = values.quick
  return {
    isQuick,
    targets: listOf(targetNames, values.targets ?? (isQuick ? 'direct,catraca' : undefined)),
    connections: (values.connections ?? (isQuick ? '1,16' : '1,16,64,256'))
      .split(',')
      .map((text) => numberIn(text, 1, 10_000)),
    modes: listOf(modes, values.modes),
    seconds: numberIn(values.seconds ?? (isQuick ? '2' : '4'), 1, 600),
    warmupSeconds: 1,
    quietMsMax: isQuick ? 0 : 3000,
    rounds: numberIn(values.rounds ?? (isQuick ? '1' : '3'), 1, 100),
    slowStreams: numberIn(values['slow-streams'] ?? (isQuick ? '0' : '1000'), 0, 10_000),
    workers: numberIn(values.workers, 1, 64),
    customers: numberIn(values.customers, 1, 100),
  }
}

function listOf<T extends string>(allowed: readonly T[], text: string | undefined): readonly T[] {
  if (text === undefined) return allowed
  return text.split(',').map((name) => {
    const found = allowed.find((one) => one === name)
    if (found === undefined) throw new Error(`${name} is none of ${allowed.join(', ')}`)
    return found
  })
}

function numberIn(text: string, min: number, max: number): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < min || number > max) {
    throw new Error(`${text} is not a whole number from ${min} to ${max}`)
  }
  return number
}
