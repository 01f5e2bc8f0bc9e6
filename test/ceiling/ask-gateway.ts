/** Sends generated requests to the gateway over a socket, and reads the hold and the charge of each. */
import { sql } from 'kysely'
import { Pool } from 'undici'
import { seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { FORM_TYPE, form } from '../harness/media-calls.ts'
import type { GeneratedRequest } from './generate-chats.ts'
import { jsonText } from './json-text.ts'
import { PNG, type FormBody } from './generate-media.ts'

export interface Settled {
  readonly callId: string
  readonly requestId: string
  readonly outcome: string
  readonly usageKind: string | null
  readonly heldNanoBrl: bigint
  readonly billedNanoBrl: bigint
  readonly costPicoUsd: bigint
}

/** A customer whose balance the test sets before each request; it has one request at a time. */
export interface Slot {
  readonly customerId: string
  readonly secret: string
}

export const AMPLE_NANO_BRL = 1_000_000_000_000_000n

const PATHS: Readonly<Record<GeneratedRequest['kind'], string>> = {
  chat: '/chat/completions',
  embeddings: '/embeddings',
  images: '/images/generations',
  edits: '/images/edits',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  rerank: '/rerank',
  moderations: '/moderations',
  speech: '/audio/speech',
}

export async function createSlots({ db }: TestDatabase, count: number): Promise<Slot[]> {
  const slots: Slot[] = []
  for (let index = 0; index < count; index++)
    slots.push(await seedCustomer(db, { balanceBrl: '1000000' }))
  // The guard against unusual spending would pause the keys after some thousand calls.
  await db.updateTable('customers').set({ anomaly_factor: null }).execute()
  return slots
}

/** Writes balances directly: this test's ledger need not add up, and no audit reads it. */
export async function setBalances(
  { db }: TestDatabase,
  balances: readonly (readonly [Slot, bigint])[],
): Promise<void> {
  const ids = balances.map(([slot]) => slot.customerId)
  const amounts = balances.map(([, amount]) => String(amount))
  await sql`
    update accounts a
    set credited_nano_brl = a.charged_nano_brl + a.debited_nano_brl + a.held_nano_brl + t.amount
    from unnest(${ids}::uuid[], ${amounts}::bigint[]) as t (id, amount)
    where a.customer_id = t.id`.execute(db)
}

export interface AskGateway {
  (
    slot: Slot,
    request: GeneratedRequest,
    requestId: string,
  ): Promise<{ status: number; text: string }>
  close(): Promise<void>
}

export function createAskGateway(baseUrl: string): AskGateway {
  const url = new URL(baseUrl)
  const pool = new Pool(url.origin, { connections: 64, headersTimeout: 30_000 })
  const ask = async (
    { secret }: Slot,
    { kind, format, headers, body }: GeneratedRequest,
    requestId: string,
  ): Promise<{ status: number; text: string }> => {
    const isForm = kind === 'transcriptions' || kind === 'translations' || kind === 'edits'
    const answer = await pool.request({
      path: url.pathname + (format === undefined ? PATHS[kind] : `/${format}`),
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'x-svc-request-id': requestId,
        ...headers,
        'content-type': isForm ? FORM_TYPE : 'application/json',
      },
      body: isForm ? formOf(body as FormBody) : jsonText(body),
    })
    return { status: answer.statusCode, text: await answer.body.text() }
  }
  return Object.assign(ask, { close: () => pool.close() })
}

function formOf({ file, pictures = [], fields }: FormBody): Buffer {
  // A smaller form may have lost the value of a field.
  const whole = fields.filter((field) => field.length === 2)
  const sounds = file === undefined ? [] : [Buffer.from(file, 'base64')]
  return form([
    ...whole,
    ...pictures.map((name) => [name, PNG, 'a.png'] as const),
    ...sounds.map((bytes) => ['file', bytes, 'a.wav'] as const),
  ])
}

export async function settledSince(
  { db }: TestDatabase,
  slots: readonly Slot[],
  since: Date,
): Promise<Map<string, Settled[]>> {
  const rows = await db
    .selectFrom('usage_events')
    .select([
      'id',
      'request_id',
      'outcome',
      'usage_kind',
      'held_nano_brl',
      'cost_billed_nano_brl',
      'cost_upstream_pico_usd',
    ])
    .where(
      'customer_id',
      'in',
      slots.map(({ customerId }) => customerId),
    )
    .where('created_at', '>=', since)
    .execute()
  const settled = new Map<string, Settled[]>()
  for (const row of rows) {
    const each: Settled = {
      callId: row.id,
      requestId: row.request_id,
      outcome: row.outcome,
      usageKind: row.usage_kind,
      heldNanoBrl: row.held_nano_brl,
      billedNanoBrl: row.cost_billed_nano_brl,
      costPicoUsd: row.cost_upstream_pico_usd,
    }
    settled.set(each.requestId, [...(settled.get(each.requestId) ?? []), each])
  }
  return settled
}
