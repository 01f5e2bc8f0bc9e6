/**
 * Exports all data about a customer as one document (LGPD, art. 18 II and V, art. 19), read in one snapshot.
 * `inventory.ts` lists, table by table, which data it includes.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { getPreferences } from '../../customers/preferences.ts'
import { findShield } from '../../customers/shield-setting.ts'
import { findSpendingGuard } from '../../customers/spending-guard.ts'
import { findProfile, profileRecord } from '../../customers/profiles.ts'
import type { Database } from '../../platform/db/open.ts'
import { balanceFields, findBalance } from '../../money/ledger/find-balance.ts'
import { jsonBrl, jsonUsd } from '../../platform/lib/money.ts'
import { EXPORT_LISTS, selectList, type ExportBounds, type ExportListName } from './export-lists.ts'

/** Increases when a field changes its meaning or is removed. */
const EXPORT_VERSION = 1

/** The bounds of a copy over HTTP, which is made and sent within a second for any customer. */
export const EXPORT_BOUNDS: ExportBounds = {
  entriesMax: 5_000,
  promptTextBytesMax: 8 * 1024 * 1024,
}
/** The bounds of a copy by the operator's command line, which holds everything. */
export const WHOLE_EXPORT: ExportBounds = {
  entriesMax: 2 ** 31,
  promptTextBytesMax: 2 ** 52,
}

export type ExportDocument = Readonly<Record<string, unknown>>

/** Returns undefined if the customer does not exist or is deleted. */
export async function exportAccount(
  db: Database,
  actor: Actor,
  {
    customerId,
    bounds,
    onExported,
  }: {
    customerId: string
    bounds: ExportBounds
    /** Runs in the transaction of the export. */
    onExported?: (trx: Database, customerId: string) => Promise<void>
  },
): Promise<ExportDocument | undefined> {
  return audited(db, actor, async (trx, record) => {
    await sql`set transaction isolation level repeatable read`.execute(trx)
    const customer = await trx
      .selectFrom('customers')
      .select(['id', 'name', 'email', 'referral_code', 'created_at'])
      .select(sql<Date>`now()`.as('generated_at'))
      .where('id', '=', customerId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!customer) return undefined
    // First of all writes: the longer the snapshot is, the likelier a concurrent change of the customer's row repeats it.
    await onExported?.(trx, customerId)
    const { generated_at, ...account } = customer
    const balance = await findBalance(trx, customerId)
    const { lists, totals } = await readLists(trx, customerId, bounds)
    const document = {
      export_version: EXPORT_VERSION,
      generated_at: generated_at.toISOString(),
      account: toJsonFields(account),
      profile: profileRecord(await findProfile(trx, customerId)),
      preferences: await getPreferences(trx, customerId),
      shield: await findShield(trx, customerId),
      spending_guard: await guardRecord(trx, customerId),
      balance: balanceFields(balance),
      ...lists,
      totals,
      note: noteOf(lists, totals),
    }
    await record({ action: 'account.exported', customerId, subjectId: customerId })
    return document
  })
}

async function guardRecord(trx: Database, customerId: string): Promise<object> {
  const { factor, floorNanoBrl } = await findSpendingGuard(trx, customerId)
  return { factor, floor_brl: jsonBrl(floorNanoBrl) }
}

async function readLists(
  trx: Database,
  customerId: string,
  bounds: ExportBounds,
): Promise<{ lists: Record<string, object[]>; totals: Record<string, number> }> {
  const lists: Record<string, object[]> = {}
  const totals: Record<string, number> = {}
  for (const name of Object.keys(EXPORT_LISTS) as ExportListName[]) {
    const { entries, count } = selectList(name, customerId, bounds)
    const { rows } = await entries.execute(trx)
    lists[name] = rows.map(toJsonFields)
    const isShort = rows.length < bounds.entriesMax && name !== 'prompt_versions'
    totals[name] = isShort ? rows.length : Number((await count.execute(trx)).rows[0]?.count ?? 0n)
  }
  return { lists, totals }
}

const NOTE =
  'Cópia dos seus dados pessoais (LGPD, arts. 18 e 19), tirada de uma só vez. Não guardamos o conteúdo das ' +
  'suas chamadas. Cada cobrança, uma a uma, está em GET /v1/usage/export.json; usage_by_month tem as somas, ' +
  'por mês de UTC. Das chaves guardamos só um resumo criptográfico, que não é exportado. ' +
  'Em totals está quanto há de cada lista.'

function noteOf(
  lists: Readonly<Record<string, object[]>>,
  totals: Readonly<Record<string, number>>,
): string {
  const cut = Object.keys(totals).filter((name) => (totals[name] ?? 0) > (lists[name]?.length ?? 0))
  if (cut.length === 0) return NOTE
  return `${NOTE} Destas listas só o mais novo coube aqui: ${cut.join(', ')}. Peça a cópia inteira pelo canal de atendimento.`
}

/** Amounts become exact decimals in BRL or USD, counts become numbers, times become ISO 8601 strings. */
function toJsonFields(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (name.endsWith('_nano_brl'))
        return [name.replace('_nano_brl', '_brl'), value === null ? null : jsonBrl(value as bigint)]
      if (name.endsWith('_pico_usd'))
        return [name.replace('_pico_usd', '_usd'), value === null ? null : jsonUsd(value as bigint)]
      if (typeof value === 'bigint') return [name, Number(value)]
      return [name, value instanceof Date ? value.toISOString() : value]
    }),
  )
}
