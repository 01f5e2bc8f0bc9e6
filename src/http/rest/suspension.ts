/** Why an account is suspended, as its owner and operators read it. */
import Type from 'typebox'
import type { Suspension } from '../../customers/suspend-customer.ts'
import type { AnswerOf } from './answer-of.ts'
import { answer, dateTime } from './values.ts'

export const suspension = answer({
  since: dateTime,
  cause: Type.Enum(['chargeback', 'operator']),
  reason: Type.String({ description: 'O motivo, escrito para o cliente.' }),
})

export function suspensionBody(found: Suspension | undefined): AnswerOf<typeof suspension> | null {
  return found ? { ...found, since: found.since.toISOString() } : null
}
