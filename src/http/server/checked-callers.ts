import type { ActiveKey } from '../../customers/key-cache.ts'
import type { IncomingCaller } from '../../gateway/calls/refuse-call.ts'
import { createRequestSlot } from './request-slot.ts'

export type CheckedCaller = IncomingCaller & { readonly key: ActiveKey }

/** The caller of each model call, from its check on. */
export const checkedCallers = createRequestSlot<CheckedCaller>('checked caller')
