import { BALANCED_RULE, type Counts } from './compare-counts.ts'
import { ALL_FAULTS } from './plan-rounds.ts'
import type { WorldReport } from './run-world.ts'

/** The tables of a run, in Markdown. */
export function renderRounds(reports: readonly WorldReport[]): string {
  const rounds = reports.flatMap((report) => report.rounds)
  const byFault = ALL_FAULTS.map(
    (fault) => `| ${fault} | ${rounds.filter((each) => each === fault).length} |`,
  )
  const sum = (read: (counts: Counts) => number): number =>
    reports.reduce((total, { counts }) => total + read(counts), 0)
  const discrepancies = reports.flatMap((report) => report.discrepancies)
  const byRule = [...Map.groupBy(discrepancies, ({ rule }) => rule)].map(
    ([rule, found]) => `| ${rule} | ${found.length} |`,
  )
  const settled = reports.flatMap(({ settledAfterMs }) => settledAfterMs)
  return [
    '| fault | rounds |',
    '|---|---|',
    ...byFault,
    `| **all** | **${rounds.length}** |`,
    '',
    '| | |',
    '|---|---|',
    `| worlds (seeds) | ${reports.length} (${reports.map(({ seed }) => seed).join(', ')}) |`,
    `| calls | ${sum(({ calls }) => calls)} |`,
    `| delivered whole | ${sum(({ whole }) => whole)} |`,
    `| delivered in part | ${sum(({ part }) => part)} |`,
    `| left by the client | ${sum(({ left }) => left)} |`,
    `| refused | ${sum(({ refused }) => refused)} |`,
    `| connection broken | ${sum(({ dropped }) => dropped)} |`,
    `| charged | ${sum(({ charged }) => charged)} |`,
    `| released | ${sum(({ released }) => released)} |`,
    `| corrected | ${sum(({ corrected }) => corrected)} |`,
    `| refused, and charged | ${sum(({ refusedAndCharged }) => refusedAndCharged)} |`,
    `| far from any fault | ${sum(({ undisturbed }) => undisturbed)} |`,
    `| through the balancer while nodes were replaced | ${sum(({ duringReplacement }) => duringReplacement)} |`,
    `| of them failed | ${discrepancies.filter(({ rule }) => rule === BALANCED_RULE).length} |`,
    `| top-ups | ${reports.reduce((total, { paidTopUps }) => total + paidTopUps, 0)} |`,
    `| comparisons of the counts | ${settled.length} |`,
    `| settled after, at most | ${(Math.max(...settled) / 1_000).toFixed(0)} s |`,
    ...reports.flatMap(({ foundAfterMs, seed }) =>
      foundAfterMs === undefined
        ? []
        : [
            `| a charge reversed on purpose (${seed}): the audit reports it after | ${(foundAfterMs / 1_000).toFixed(0)} s |`,
          ],
    ),
    `| discrepancies | ${discrepancies.length} |`,
    `| findings of the audit | ${reports.flatMap(({ auditFaults }) => auditFaults).length} |`,
    ...(byRule.length > 0 ? ['', '| violated rule | calls |', '|---|---|', ...byRule] : []),
    ...(reports.some(({ hasDisks }) => !hasDisks)
      ? ['', 'No disk was filled: this account may not mount file systems.']
      : []),
    ...(reports.some(({ hasClock }) => !hasClock)
      ? ['', 'No clock was set: libfaketime is not installed.']
      : []),
    ...(reports.some(({ hasPrevious, rounds: of }) => !hasPrevious && of.includes('upgrade'))
      ? ['', 'No node was upgraded: the git history here does not have the previous release.']
      : []),
    ...(reports.some(({ paidTopUps }) => paidTopUps === 0)
      ? ['', 'Nobody topped up: payments need openssl, for a certificate.']
      : []),
  ].join('\n')
}
