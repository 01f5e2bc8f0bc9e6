import { isObject } from '../../platform/lib/is-object.ts'

/** The daily cap and the rules of pace in `sql/limit-card-charges.sql` allow no charge of a saved card now. */
export interface CardLimitReached {
  readonly kind: 'card_limit_reached'
  readonly retryAfterSeconds: number
}

const CARD_LIMIT_REACHED = 'CC001'

/** For the error of an inserted top-up; any other error is thrown again. */
export function asCardLimit(error: unknown): CardLimitReached {
  if (!isObject(error) || error['code'] !== CARD_LIMIT_REACHED) throw error
  return { kind: 'card_limit_reached', retryAfterSeconds: Number(error['detail']) }
}
