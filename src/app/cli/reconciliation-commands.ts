import { readFile, stat } from 'node:fs/promises'
import { OPERATOR } from '../../platform/audit-log/audited.ts'
import type { Config } from '../config/config.ts'
import { SANDBOX_UPSTREAMS } from '../config/resolve-upstreams.ts'
import { listAddedUpstreams } from '../../money/catalog/added-upstreams.ts'
import type { Database } from '../../platform/db/open.ts'
import { createLog } from '../../platform/lib/log.ts'
import { decimalUsd } from '../../platform/lib/money.ts'
import { explainDiscrepancy } from '../../money/reconciliation/discrepancies.ts'
import { parseCostExport } from '../../money/reconciliation/parse-cost-export.ts'
import { discrepancyBody, readReport, type Report } from '../../money/reconciliation/report.ts'
import {
  compareUpstreamCosts,
  isBeyondTolerance,
  sumCosts,
  importUpstreamCosts,
  type ComparedDay,
} from '../../money/reconciliation/upstream-costs.ts'
import {
  optionWhole,
  requiredText,
  UsageError,
  type Command,
  type CommandResult,
} from './command.ts'

const DAYS_DEFAULT = 35
const DAYS_MAX = 365
const FILE_BYTES_MAX = 64 * 1024 * 1024
const EXPLANATION_MIN = 3
const EXPLANATION_MAX = 500
/** The command prints what it finds, so the log must not. */
const SILENT = createLog('silent', () => {})

export const reconciliationCommands: Record<string, Command> = {
  reconcile: {
    usage: '[--days N]',
    about:
      'discrepancies between our books and those of the processor and the upstreams; exit code 1 while one is open',
    async run({ db, options }) {
      const days = optionWhole(options, 'days') ?? DAYS_DEFAULT
      if (days > DAYS_MAX) throw new UsageError(`--days: must be ${DAYS_MAX} at most`)
      return resultOf(await readReport(db, days))
    },
  },
  'reconcile explain': {
    usage: '<discrepancy id> --note WHY',
    about: 'explain a discrepancy; it opens again when its amounts change',
    async run({ db, args, options }) {
      const [id] = args
      if (id === undefined) throw new UsageError('give the id of a discrepancy')
      const explanation = requiredText(options, 'note').trim()
      if (explanation.length < EXPLANATION_MIN || explanation.length > EXPLANATION_MAX)
        throw new UsageError(
          `--note: must have ${EXPLANATION_MIN} to ${EXPLANATION_MAX} characters`,
        )
      const outcome = await explainDiscrepancy(db, OPERATOR, { id, explanation })
      if (outcome.kind === 'difference_not_found') throw new UsageError(`no discrepancy ${id}`)
      // The command line has no account of its own.
      if (outcome.kind !== 'explained')
        throw new UsageError('the discrepancy is gone: there is nothing to explain')
      return { data: discrepancyBody(outcome.discrepancy), text: 'explained' }
    },
  },
  'costs import': {
    usage: '--upstream ID --file CSV',
    about: "compare an upstream's cost export with our charges; see docs/operations.md",
    async run({ db, config, options }) {
      const upstreamId = await knownUpstream(db, config, requiredText(options, 'upstream'))
      const parsed = parseCostExport(await readExport(requiredText(options, 'file')))
      if (parsed.kind === 'fault') throw new UsageError(`--file: ${parsed.detail}`)
      const { costs, format } = parsed
      const days = await importUpstreamCosts(db, OPERATOR, { upstreamId, costs, format })
      const fromDay = days[0] as string
      const toDay = days.at(-1) as string
      const range = { fromDay, toDay, upstreamId, now: new Date() }
      const compared = await compareUpstreamCosts(db, range, SILENT)
      return {
        data: {
          upstream: upstreamId,
          format,
          from: fromDay,
          to: toDay,
          total_usd: decimalUsd(sumCosts(costs)),
          days: compared.map(comparedBody),
        },
        text: {
          columns: ['day', 'ours USD', 'theirs USD', 'difference USD', ''],
          rows: compared.map((one) => {
            const { day, ours_usd, theirs_usd, difference_usd, is_open } = comparedBody(one)
            return [day, ours_usd, theirs_usd, difference_usd, is_open ? 'OPEN' : 'ok']
          }),
        },
      }
    },
  },
}

function comparedBody({ day, oursPicoUsd, theirsPicoUsd }: ComparedDay) {
  return {
    day,
    ours_usd: decimalUsd(oursPicoUsd),
    theirs_usd: decimalUsd(theirsPicoUsd),
    difference_usd: decimalUsd(oursPicoUsd - theirsPicoUsd),
    is_open: isBeyondTolerance(oursPicoUsd, theirsPicoUsd),
  }
}

/** A mistyped id would compare the costs with nothing. */
async function knownUpstream(
  db: Database,
  { mode, upstreams }: Config,
  id: string,
): Promise<string> {
  const known = [
    ...upstreams.map((one) => one.id),
    ...(await listAddedUpstreams(db)).map((one) => one.id),
    ...(mode === 'sandbox' ? SANDBOX_UPSTREAMS : []),
  ]
  if (!known.includes(id))
    throw new UsageError(`--upstream: must be one of ${known.join(', ') || 'none'}, not "${id}"`)
  return id
}

async function readExport(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > FILE_BYTES_MAX)
      throw new UsageError('--file: too large for an export of costs')
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--file: cannot be read (${(error as { code?: string }).code})`)
  }
}

function resultOf(report: Report): CommandResult {
  const { open, explained, gone } = report.sums
  const { payments } = report
  const run = payments.last_run
  const compared =
    payments.last_finished_at === null
      ? "the processor's records were never read to the end"
      : `the processor's records: ${payments.is_current ? '' : 'NOT CURRENT, '}last read at ${payments.last_finished_at.toISOString()}`
  const lines = [
    compared,
    ...(run?.failure ? [`the last run did not finish: ${run.failure}`] : []),
    `${open.count} open, ${explained.count} explained, ${gone.count} gone in ${report.days} days`,
    ...report.differences.map((one) =>
      [
        one.status.padEnd(9),
        one.kind,
        one.id,
        one.topup_id ?? one.processor_payment_id ?? `${one.upstream} ${one.day}`,
        one.ours_brl && one.theirs_brl
          ? `BRL ours ${one.ours_brl.rawJSON} theirs ${one.theirs_brl.rawJSON}`
          : `USD ours ${one.ours_usd?.rawJSON} theirs ${one.theirs_usd?.rawJSON}`,
        ...(one.explanation === null ? [] : [`(${one.explanation})`]),
      ].join('  '),
    ),
  ]
  return { data: report, text: lines.join('\n'), exitCode: open.count > 0 ? 1 : 0 }
}
