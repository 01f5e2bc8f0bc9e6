/** A customer's legal identity: the CPF or CNPJ, and the address for invoices. */
import { sql } from 'kysely'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import type { Tables } from '../platform/db/tables.ts'
import { lockCustomer } from './customers.ts'

const OPTIONAL_FIELDS = [
  'phone',
  'postal_code',
  'street',
  'street_number',
  'complement',
  'district',
  'city',
  'state',
] as const

type OptionalField = (typeof OPTIONAL_FIELDS)[number]

export interface Profile extends Readonly<Record<OptionalField, string | null>> {
  readonly full_name: string
  /** Without punctuation. */
  readonly tax_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

/** An undefined field stays unchanged; null clears it. */
export interface ProfileChange extends Readonly<
  Partial<Record<OptionalField, string | null | undefined>>
> {
  /** Defaults to the stored one, or else to the customer's name. */
  readonly full_name?: string | undefined
  readonly tax_id?: string | undefined
}

export type SavedProfile =
  | { readonly kind: 'saved'; readonly profile: Profile; readonly changed: readonly string[] }
  | { readonly kind: 'cpf_required' }

/** The profile with the names and formats of the API. */
export type ProfileRecord = Readonly<
  Record<OptionalField | 'full_name' | 'cpf_cnpj' | 'created_at' | 'updated_at', string | null>
>

type StoredProfileRecord = ProfileRecord &
  Readonly<Record<'full_name' | 'cpf_cnpj' | 'created_at' | 'updated_at', string>>

export async function findProfile(db: Database, customerId: string): Promise<Profile | undefined> {
  return db
    .selectFrom('profiles')
    .selectAll()
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
}

/** Creates the profile of a customer who has none. */
export function changeProfile(
  db: Database,
  actor: Actor,
  { customerId, change }: { customerId: string; change: ProfileChange },
): Promise<SavedProfile> {
  return audited(db, actor, async (trx, record) => {
    const outcome = await saveProfile(trx, customerId, change)
    if (outcome.kind === 'saved' && outcome.changed.length > 0) {
      const fields = outcome.changed.map((field) => (field === 'tax_id' ? 'cpf_cnpj' : field))
      const act = { action: 'profile.changed', customerId, subjectId: customerId } as const
      await record({ ...act, details: { fields } })
    }
    return outcome
  })
}

/**
 * Stores a profile within the caller's transaction, and writes no audit row. `changed` names the fields whose value
 * changed.
 */
export async function saveProfile(
  trx: Database,
  customerId: string,
  change: ProfileChange,
): Promise<SavedProfile> {
  await lockCustomer(trx, customerId)
  const stored = await findProfile(trx, customerId)
  const taxId = change.tax_id ?? stored?.tax_id
  if (taxId === undefined) return { kind: 'cpf_required' }
  const fields = {
    full_name: change.full_name ?? stored?.full_name ?? (await nameOf(trx, customerId)),
    tax_id: taxId,
    ...(Object.fromEntries(
      OPTIONAL_FIELDS.map((field) => [
        field,
        change[field] === undefined ? (stored?.[field] ?? null) : change[field],
      ]),
    ) as Record<OptionalField, string | null>),
  }
  const changed = Object.entries(fields).flatMap(([field, value]) =>
    value === (stored?.[field as keyof typeof fields] ?? null) ? [] : [field],
  )
  if (stored && changed.length === 0) return { kind: 'saved', profile: stored, changed }
  return { kind: 'saved', profile: await storeProfile(trx, customerId, fields), changed }
}

/** Returns a profile as it is answered and exported. Every field is null if there is no profile. */
export function profileRecord(profile: Profile): StoredProfileRecord
export function profileRecord(profile: Profile | undefined): ProfileRecord
export function profileRecord(profile: Profile | undefined): ProfileRecord {
  return {
    full_name: profile?.full_name ?? null,
    cpf_cnpj: profile?.tax_id ?? null,
    ...(Object.fromEntries(
      OPTIONAL_FIELDS.map((field) => [field, profile?.[field] ?? null]),
    ) as Record<OptionalField, string | null>),
    created_at: profile?.created_at.toISOString() ?? null,
    updated_at: profile?.updated_at.toISOString() ?? null,
  }
}

function storeProfile(
  trx: Database,
  customerId: string,
  fields: Omit<Profile, 'created_at' | 'updated_at'>,
): Promise<Profile> {
  const row: Pick<Tables['profiles'], 'customer_id' | 'full_name' | 'tax_id' | OptionalField> = {
    customer_id: customerId,
    ...fields,
  }
  return trx
    .insertInto('profiles')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('customer_id').doUpdateSet({ ...fields, updated_at: sql<Date>`now()` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function nameOf(db: Database, customerId: string): Promise<string> {
  const { name } = await db
    .selectFrom('customers')
    .select('name')
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  return name
}
