/** The aims of the dashboard, and whether this run met them. */
import type { Judgement } from '../judge-aims.ts'
import type { LoadFigures, LoadRow, WebResults } from './web-results.ts'

interface Aim {
  readonly figure: keyof LoadFigures
  readonly claim: string
  readonly max: number
  readonly show: (value: number) => string
}

const AIMS: readonly Aim[] = [
  {
    figure: 'scriptBytes',
    claim: 'compressed script below 250 kB',
    max: 250_000,
    show: (bytes) => `${(bytes / 1_000).toFixed(1)} kB`,
  },
  {
    figure: 'largestPaintMs',
    claim: 'largest contentful paint within 2.5 s',
    max: 2_500,
    show: (ms) => `${(ms / 1_000).toFixed(2)} s`,
  },
  {
    figure: 'blockingMs',
    claim: 'total blocking time at most 200 ms',
    max: 200,
    show: (ms) => `${Math.round(ms)} ms`,
  },
  {
    figure: 'layoutShift',
    claim: 'cumulative layout shift at most 0.02',
    max: 0.02,
    show: (shift) => shift.toFixed(3),
  },
]

/** Judges each aim by its worst page. */
export function judgeWebAims({ loads }: Pick<WebResults, 'loads'>): Judgement[] {
  return AIMS.flatMap(({ figure, claim, max, show }) => {
    const worst = loads.reduce<LoadRow | undefined>(
      (found, row) => (found && found[figure] >= row[figure] ? found : row),
      undefined,
    )
    if (!worst) return []
    const value = `${show(worst[figure])} (${worst.path})`
    return [{ claim: `every page: ${claim}`, value, isMet: worst[figure] <= max }]
  })
}
