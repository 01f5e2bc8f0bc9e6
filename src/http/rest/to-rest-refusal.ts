import type { Refusal } from '../../gateway/calls/refusal.ts'
import { RestRefusal } from './rest-refusal.ts'

/** A refusal of the model API for a REST route to throw; the inverse of `refusalOfRest`. */
export function toRestRefusal({ status, code, message, retryAfterSeconds }: Refusal): RestRefusal {
  return new RestRefusal(status, code, message, retryAfterSeconds)
}
