import type { Reader } from '../../customers/stored-responses/reader.ts'
import type { Caller } from './authenticate.ts'

/** A key of the scope `calls`, as every key of a team is, reads only what it made itself. */
export function readerOf(caller: Caller): Reader {
  const { customerId } = caller
  return caller.keyId === undefined
    ? { customerId, keyId: null, seesAccount: true }
    : { customerId, keyId: caller.keyId, seesAccount: caller.scope !== 'calls' }
}
