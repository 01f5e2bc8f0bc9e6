import { SYSTEM } from '../../../src/platform/audit-log/audited.ts'
import { writeNote } from '../../../src/customers/customer-notes.ts'
import { addUpstream } from '../../../src/money/catalog/added-upstreams.ts'
import { scheduleMarkup } from '../../../src/money/catalog/markup-changes.ts'
import { storeDifferences } from '../../../src/money/catalog/price-updates.ts'
import { inTransaction, type Database } from '../../../src/platform/db/open.ts'
import { openIncident } from '../../../src/platform/health/incidents.ts'
import { requestAdjustment } from '../../../src/money/ledger/adjustments.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import type { TestDatabase } from '../../harness/test-database.ts'

export interface OperatorsThings {
  /** Both wait for a second operator. */
  readonly adjustment: string
  readonly otherAdjustment: string
  readonly incident: string
  /** Not yet in force. */
  readonly markupChange: string
  readonly note: string
}

/** What operators have to do with a customer, of whom a webhook is in trouble, too. */
export async function addOperatorsThings(
  { db }: TestDatabase,
  {
    customerId,
    requestedBy,
    modelId,
  }: { readonly customerId: string; readonly requestedBy: string; readonly modelId: string },
): Promise<OperatorsThings> {
  const request = async (): Promise<string> => {
    const input = { customerId, kind: 'credit', amountNanoBrl: 10_000_000n } as const
    const more = { reason: 'cortesia', reference: createId() }
    const terms = { requestedBy, approvalAboveNanoBrl: 0n }
    const made = await requestAdjustment(db, SYSTEM, { ...input, ...more, ...terms })
    if (!('adjustment' in made)) throw new Error(made.kind)
    return made.adjustment.id
  }
  const scheduled = await scheduleMarkup(db, SYSTEM, {
    modelId,
    markupE4: 11_000n,
    configuredE4: 12_500n,
    startsAt: new Date(Date.now() + 86_400_000),
    reason: 'revisão',
    noticeDays: 0,
  })
  if (scheduled.kind !== 'scheduled') throw new Error(scheduled.kind)
  const upstream = { id: 'acrescentado', kind: 'vllm', baseUrl: 'https://llm.example/v1' }
  const keys = { current: Buffer.alloc(32, 1) }
  await addUpstream(db, SYSTEM, { ...upstream, apiKey: undefined }, keys)
  await addPriceUpdates(db)
  const text = { title: 'Lentidão', message: 'Olhamos.' }
  await db
    .updateTable('webhook_endpoints')
    .set({ failing_since: new Date() })
    .where('customer_id', '=', customerId)
    .execute()
  const written = await writeNote(db, SYSTEM, {
    customerId,
    writtenBy: requestedBy,
    note: 'Ligou.',
  })
  if (!written) throw new Error('the customer is deleted')
  return {
    note: written.id,
    adjustment: await request(),
    otherAdjustment: await request(),
    incident: await openIncident(db, SYSTEM, {
      ...text,
      severity: 'minor',
      vendors: [],
      modelIds: [],
    }),
    markupChange: scheduled.change.id,
  }
}

/** A price that waits for an answer for each of these models. */
async function addPriceUpdates(db: Database): Promise<void> {
  const tier = { cachedInput: 1_000n, cacheWrite: 1_000n, output: 4_000n, reasoning: 4_000n }
  const price = { tiers: [{ abovePromptTokens: 0, input: 1_000n, ...tier }] }
  const waiting = { text: 'x', kind: 'cheaper', isBelowCost: false } as const
  await inTransaction(db, (trx) =>
    storeDifferences(
      trx,
      ['gpt-4.1', 'gpt-5'].map((modelId) => ({ ...waiting, modelId, schedule: [{ price }] })),
    ),
  )
}
