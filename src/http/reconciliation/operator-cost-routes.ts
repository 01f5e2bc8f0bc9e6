/** The invoices of upstreams, which operators import to compare them with our charges. */
import Type from 'typebox'
import { listAddedUpstreams } from '../../money/catalog/added-upstreams.ts'
import { parseCostExport } from '../../money/reconciliation/parse-cost-export.ts'
import {
  compareUpstreamCosts,
  importUpstreamCosts,
  isBeyondTolerance,
  sumCosts,
} from '../../money/reconciliation/upstream-costs.ts'
import { jsonUsd } from '../../platform/lib/money.ts'
import { actorOf } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, count, date, storedText, usd } from '../rest/values.ts'

interface Deps extends Pick<HttpParts, 'db' | 'log'> {
  /** The upstreams of the file, the environment and the sandbox. */
  readonly upstreamBook: { configured(): readonly { readonly id: string }[] }
}

/** Each imported day is compared before the answer: as many as an invoice has. */
const DAYS_MAX = 31
const CSV_MAX = 200_000
const DAY_MS = 86_400_000

export const operatorCostRoutes = [
  restRoute({
    method: 'POST',
    path: '/admin/upstream-costs',
    tag: 'Administração',
    summary:
      'Importa a fatura de um provedor, que substitui o importado dos mesmos dias, e a compara com as nossas cobranças',
    access: 'finance',
    body: Type.Object(
      {
        upstream: Type.String({ minLength: 1, maxLength: 100 }),
        csv: storedText(
          1,
          CSV_MAX,
          `A exportação de custos do provedor, ou um CSV com day, cost_usd e talvez model; até ${DAYS_MAX} dias.`,
        ),
      },
      { additionalProperties: false },
    ),
    answer: answer({
      upstream: Type.String(),
      from: date,
      to: date,
      total_usd: usd,
      open_days: { ...count, description: 'Os dias terminados que diferem além da tolerância.' },
    }),
    refusals: { 404: ['upstream_not_found'] },
    async handle({ caller, body: { upstream: upstreamId, csv } }, deps: Deps) {
      if (!(await isUpstream(deps, upstreamId))) throw new RestRefusal(404, 'upstream_not_found')
      const { costs, format } = readCosts(csv)
      const days = await importUpstreamCosts(deps.db, actorOf(caller), {
        upstreamId,
        costs,
        format,
      })
      const [from, to] = [days[0] as string, days.at(-1) as string]
      const range = { fromDay: from, toDay: to, upstreamId, now: new Date() }
      const compared = await compareUpstreamCosts(deps.db, range, deps.log)
      return {
        upstream: upstreamId,
        from,
        to,
        total_usd: jsonUsd(sumCosts(costs)),
        open_days: compared.filter((one) => isBeyondTolerance(one.oursPicoUsd, one.theirsPicoUsd))
          .length,
      }
    },
  }),
]

async function isUpstream({ db, upstreamBook }: Deps, id: string): Promise<boolean> {
  if (upstreamBook.configured().some((own) => own.id === id)) return true
  return (await listAddedUpstreams(db)).some((added) => added.id === id)
}

function readCosts(csv: string) {
  const parsed = parseCostExport(csv)
  if (parsed.kind === 'fault')
    throw invalid(
      parsed.line === undefined
        ? 'csv: não é uma exportação de custos que se conheça'
        : `csv: não se lê a linha ${parsed.line}: falta um dia em UTC ou um valor em USD`,
    )
  const times = parsed.costs.map(({ day }) => Date.parse(day))
  if (Math.max(...times) - Math.min(...times) >= DAYS_MAX * DAY_MS)
    throw invalid(`csv: tem mais de ${DAYS_MAX} dias, do primeiro ao último`)
  return parsed
}

function invalid(details: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', details)
}
