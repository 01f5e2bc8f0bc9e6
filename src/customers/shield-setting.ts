import type { Database } from '../platform/db/open.ts'

/** The kinds of personal data that the shield finds, as reports name them. */
export const DATA_KINDS = ['cpf', 'cnpj', 'email', 'phone', 'card', 'pix_key'] as const
export type DataKind = (typeof DATA_KINDS)[number]

/** How often the shield found each kind. */
export type Counts = Readonly<Partial<Record<DataKind, number>>>

export interface FindOptions {
  /**
   * A random Pix key is a UUID, as are many ids that are no personal data. `near_pix` takes a UUID for a key only
   * where the text mentions Pix beside it, `always` takes every UUID.
   */
  readonly uuids: 'near_pix' | 'always'
}

/** The actions from the laxest to the strictest: send prompts as they are, send them masked, refuse them. */
export const SHIELD_ACTIONS = ['off', 'mask', 'block'] as const
export type ShieldAction = (typeof SHIELD_ACTIONS)[number]

/** The choices for UUIDs from the laxer to the stricter; see `FindOptions`. */
export const UUID_CHOICES = [
  'near_pix',
  'always',
] as const satisfies readonly FindOptions['uuids'][]

/** The treatment of personal data in prompts, set for an account or for one of its keys; the key's setting wins. */
export interface ShieldSetting extends FindOptions {
  readonly action: ShieldAction
}

/** Whether `one` lets something leave that `other` does not. With `off`, the choice of UUIDs has no effect. */
export function isLaxer(one: ShieldSetting, other: ShieldSetting): boolean {
  const [rank, least] = [SHIELD_ACTIONS.indexOf(one.action), SHIELD_ACTIONS.indexOf(other.action)]
  if (rank < least) return true
  return other.action !== 'off' && other.uuids === 'always' && one.uuids !== 'always'
}

export function isSameShield(one: ShieldSetting, other: ShieldSetting): boolean {
  return one.action === other.action && one.uuids === other.uuids
}

/** Returns the shield of an account. Throws if there is no such customer. */
export async function findShield(db: Database, customerId: string): Promise<ShieldSetting> {
  return db
    .selectFrom('customers')
    .select(['shield_action as action', 'shield_uuids as uuids'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
}
