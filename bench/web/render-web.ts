/** The results as Markdown, in the tables of bench/HISTORY.md. */
import { judgeWebAims } from './judge-web-aims.ts'
import { NETWORKS } from './networks.ts'
import type { CallRow, LoadRow, StepRow, WebResults } from './web-results.ts'

export function renderWeb(results: WebResults): string {
  const { machine, options, browser, loads, steps, calls, faults } = results
  const network = NETWORKS[options.network]
  const sections = [
    `# Catraca, the dashboard, ${results.at}`,
    `${machine.processors}, ${Math.round(machine.memoryBytes / 1e9)} GB, ${machine.platform}, Node ${machine.node}, ` +
      `Chromium ${browser}, commit ${machine.commit}. The customer has ${whole(results.events)} usage events. ` +
      `Median of ${options.runs}; at most ${Math.round(results.busyBefore * 100)} % of the processors were busy before a measurement.`,
    ...(loads.length > 0
      ? [
          `## Cold load on a slow phone`,
          `412 × 823, processor ${options.cpuSlowdown} times slower, ${network.latencyMs} ms latency, ` +
            `${network.downBitsPerSecond / 1e6} Mbit/s down, ${network.upBitsPerSecond / 1e6} up.`,
          table(LOAD_HEAD, loads.map(loadCells)),
          '### Aims',
          table(
            ['aim', 'measured, at the worst page', 'met'],
            judgeWebAims(results).map((one) => [
              one.claim,
              one.value,
              one.isMet ? 'yes' : '**no**',
            ]),
          ),
        ]
      : []),
    ...(steps.length > 0
      ? [
          '## The usage page, nothing slowed down',
          table(['what', 'ms', 'slowest ms'], steps.map(stepCells)),
          table(
            ['call of the API', 'times', 'server ms', 'slowest ms', 'kB'],
            calls.map(callCells),
          ),
        ]
      : []),
    faults.length === 0
      ? 'No request failed.'
      : `**Faults**\n\n${faults.map((fault) => `- ${fault}`).join('\n')}`,
  ]
  return `${sections.join('\n\n')}\n`
}

const LOAD_HEAD = [
  'page',
  'script kB',
  'style kB',
  'all kB',
  'requests',
  'FCP s',
  'LCP s',
  'CLS',
  'TBT ms',
  'TTI s',
]

function loadCells(row: LoadRow): string[] {
  return [
    `\`${row.path}\``,
    kilobytes(row.scriptBytes),
    kilobytes(row.styleBytes),
    kilobytes(row.allBytes),
    String(row.requests),
    seconds(row.firstPaintMs),
    seconds(row.largestPaintMs),
    row.layoutShift.toFixed(3),
    whole(row.blockingMs),
    seconds(row.interactiveMs),
  ]
}

function stepCells({ step, ms, slowestMs }: StepRow): string[] {
  return [step, whole(ms), whole(slowestMs)]
}

function callCells({ call, times, serverMs, slowestServerMs, bytes }: CallRow): string[] {
  return [
    `\`${call}\``,
    String(times),
    serverMs.toFixed(1),
    slowestServerMs.toFixed(1),
    kilobytes(bytes),
  ]
}

function kilobytes(bytes: number): string {
  return (bytes / 1_000).toFixed(1)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2)
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
