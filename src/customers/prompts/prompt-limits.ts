import { sql } from 'kysely'
import { lockCustomer } from '../customers.ts'
import type { Database } from '../../platform/db/open.ts'

export const PROMPTS_MAX = 1_000
/** The texts of all versions of a customer's prompts. History is append-only, so it would grow without end. */
export const PROMPT_BYTES_MAX = 32 * 1024 * 1024
/** Counted for each version in addition to its text, so that the number of short versions is bounded too. */
const VERSION_BYTES = 1024

export interface PromptLimitReached {
  readonly kind: 'too_many_prompts' | 'prompts_too_large'
}

/** Locks the customer, so that concurrent writes are counted. Undefined if there is room for this text. */
export async function findPromptExcess(
  trx: Database,
  customerId: string,
  { body, isNew }: { readonly body: string; readonly isNew: boolean },
): Promise<PromptLimitReached | undefined> {
  await lockCustomer(trx, customerId)
  const { rows } = await sql<{ prompts: bigint; bytes: bigint }>`
    select count(distinct p.id) as prompts,
      coalesce(sum(octet_length(v.body) + ${VERSION_BYTES}::int8), 0)::int8 as bytes
    from prompts p join prompt_versions v on v.prompt_id = p.id
    where p.customer_id = ${customerId}`.execute(trx)
  const { prompts = 0n, bytes = 0n } = rows[0] ?? {}
  if (isNew && prompts >= PROMPTS_MAX) return { kind: 'too_many_prompts' }
  const more = BigInt(Buffer.byteLength(body) + VERSION_BYTES)
  return bytes + more > PROMPT_BYTES_MAX ? { kind: 'prompts_too_large' } : undefined
}
