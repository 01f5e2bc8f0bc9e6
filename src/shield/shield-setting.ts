import type { FindOptions } from './found.ts'

/** From the laxest to the strictest: send prompts as they are, send them masked, refuse them. */
export const SHIELD_ACTIONS = ['off', 'mask', 'block'] as const
export type ShieldAction = (typeof SHIELD_ACTIONS)[number]

/** See `FindOptions`. From the laxer to the stricter. */
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
