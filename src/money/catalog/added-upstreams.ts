/**
 * The upstreams that operators added while servers run. Their keys are sealed, and nothing shows more of one than its last
 * characters. An id is of one kind and address for ever: a running call was measured for them, and a key is never sent to
 * another address than the one for which it was given.
 */
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { SealingKeys } from '../../platform/db/reseal.ts'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import { seal, SealError, unseal } from '../../platform/lib/seal.ts'
import { upstreamPresets } from './upstream-presets.ts'

/** A draining one takes no new calls either: the operator means to take it away. */
export const UPSTREAM_STATES = ['active', 'draining', 'paused'] as const
export type UpstreamState = (typeof UPSTREAM_STATES)[number]

export interface AddedUpstream {
  readonly id: string
  readonly kind: string
  /** Null: the address of its kind. */
  readonly baseUrl: string | null
  /** The last characters of its key; null without a key, and of a short one. */
  readonly keyEnd: string | null
  readonly state: UpstreamState
  readonly createdAt: Date
}

/** An upstream with its key. */
export interface OpenedUpstream extends AddedUpstream {
  readonly apiKey: string | undefined
}

const KEY_END = 4
/** Of a shorter key, its end would be too much of it. */
const KEY_SHOWN_FROM = 16

/** The kinds that need nothing but a key and perhaps an address. */
export const ADDED_KINDS: readonly string[] = [
  ...Object.entries(upstreamPresets)
    .filter(([, { adapter }]) => adapter !== 'google-vertex' && adapter !== 'amazon-bedrock')
    .map(([kind]) => kind),
  'openai-compatible',
]

/**
 * Kinds with an address of their own take no other one: what is priced by the data of a provider is only ever asked of that
 * provider.
 */
export function needsAddress(kind: string): boolean {
  const preset = upstreamPresets[kind]
  return preset === undefined || preset.baseUrlEnv !== undefined
}

/** Servers that the operator runs may take calls without one. */
export function needsKey(kind: string): boolean {
  const { apiKeyEnv = '', whenSet = [] } = upstreamPresets[kind] ?? {}
  return whenSet.flat().includes(apiKeyEnv)
}

export interface NewUpstream {
  readonly id: string
  readonly kind: string
  readonly baseUrl: string | null
  readonly apiKey: string | undefined
}

/**
 * Adds an upstream, or a deleted one again. Returns undefined if the id is taken, or was that of another kind or address.
 */
export function addUpstream(
  db: Database,
  actor: Actor,
  { id, kind, baseUrl, apiKey }: NewUpstream,
  keys: SealingKeys,
): Promise<AddedUpstream | undefined> {
  return audited<AddedUpstream | undefined>(db, actor, async (trx, record, undo) => {
    await trx
      .insertInto('upstreams')
      .values({ id: createId(), upstream_id: id, kind, base_url: baseUrl, state: 'deleted' })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const row = await trx
      .selectFrom('upstreams')
      .select('id')
      .where('upstream_id', '=', id)
      .where('state', '=', 'deleted')
      .where('kind', '=', kind)
      .where('base_url', 'is not distinct from', baseUrl)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return undo(undefined)
    const added = await trx
      .updateTable('upstreams')
      .set({ ...sealedKey(keys, row.id, apiKey), state: 'active', created_at: new Date() })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await forgetList(trx, id)
    const details = { kind, base_url: baseUrl, has_key: apiKey !== undefined }
    await record({ action: 'upstream.added', customerId: null, subjectId: id, details })
    return toAdded(added)
  })
}

export interface UpstreamChange {
  readonly id: string
  readonly apiKey: string | undefined
  readonly state: UpstreamState | undefined
}

/** Changes the key or the state. Returns undefined if there is no such upstream. */
export function changeUpstream(
  db: Database,
  actor: Actor,
  { id, apiKey, state }: UpstreamChange,
  keys: SealingKeys,
): Promise<AddedUpstream | undefined> {
  return audited(db, actor, async (trx, record) => {
    const before = await lockAdded(trx, id)
    if (!before) return undefined
    const isNewState = state !== undefined && state !== before.state
    if (apiKey === undefined && !isNewState) return toAdded(before)
    const row = await trx
      .updateTable('upstreams')
      .set({
        ...(apiKey === undefined ? {} : sealedKey(keys, before.id, apiKey)),
        ...(isNewState ? { state } : {}),
      })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const details = {
      ...(isNewState ? { from: before.state, to: state } : {}),
      ...(apiKey === undefined ? {} : { has_new_key: true }),
    }
    await record({ action: 'upstream.changed', customerId: null, subjectId: id, details })
    return toAdded(row)
  })
}

/** Erases its key. Returns whether it was there. */
export function deleteUpstream(
  db: Database,
  actor: Actor,
  { id }: { readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const before = await lockAdded(trx, id)
    if (!before) return false
    await trx
      .updateTable('upstreams')
      .set({ state: 'deleted', key_sealed: null, key_end: null })
      .where('id', '=', before.id)
      .execute()
    await forgetList(trx, id)
    await record({ action: 'upstream.deleted', customerId: null, subjectId: id })
    return true
  })
}

export async function listAddedUpstreams(db: Database): Promise<AddedUpstream[]> {
  return (await readRows(db)).map(toAdded)
}

/** Returns them with their keys, without those whose key was sealed with one that this node does not have. */
export async function openAddedUpstreams(
  db: Database,
  { current, previous }: SealingKeys,
): Promise<OpenedUpstream[]> {
  return (await readRows(db)).flatMap((row): OpenedUpstream[] => {
    if (row.key_sealed === null) return [{ ...toAdded(row), apiKey: undefined }]
    try {
      const apiKey = unseal(current, row.id, row.key_sealed, previous).toString()
      return [{ ...toAdded(row), apiKey }]
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return []
    }
  })
}

function readRows(db: Database) {
  return db
    .selectFrom('upstreams')
    .selectAll()
    .where('state', '<>', 'deleted')
    .orderBy('upstream_id')
    .execute()
}

/** What another upstream of this id had. */
async function forgetList(trx: Database, id: string): Promise<void> {
  await trx.deleteFrom('upstream_models').where('upstream_id', '=', id).execute()
}

function lockAdded(trx: Database, id: string) {
  return trx
    .selectFrom('upstreams')
    .selectAll()
    .where('upstream_id', '=', id)
    .where('state', '<>', 'deleted')
    .forUpdate()
    .executeTakeFirst()
}

function sealedKey({ current }: SealingKeys, rowId: string, apiKey: string | undefined) {
  if (apiKey === undefined) return { key_sealed: null, key_end: null }
  return {
    key_sealed: seal(current, rowId, Buffer.from(apiKey)),
    key_end: apiKey.length < KEY_SHOWN_FROM ? null : apiKey.slice(-KEY_END),
  }
}

type Row = Awaited<ReturnType<typeof lockAdded>>

function toAdded(row: NonNullable<Row>): AddedUpstream {
  return {
    id: row.upstream_id,
    kind: row.kind,
    baseUrl: row.base_url,
    keyEnd: row.key_end,
    state: row.state as UpstreamState,
    createdAt: row.created_at,
  }
}

/** A test changes nothing here, but spends money at the provider. */
export async function recordUpstreamTest(
  db: Database,
  actor: Actor,
  { id }: { readonly id: string },
): Promise<void> {
  await audited(db, actor, (_trx, record) =>
    record({ action: 'upstream.tested', customerId: null, subjectId: id }),
  )
}
