import type { CallKind } from './call-kind.ts'
import type { CallRequest } from './call.ts'
import { TIMED_FROM_BYTES, type OwnTime } from './own-time.ts'
import { isRefusal, type Refusal } from './refusal.ts'

/**
 * A kind of call whose large bodies wait until the earlier ones of their customer have been paid for: the time in which
 * a body is read and measured, whatever it contains, and also if its call is refused.
 */
export function pacedKind<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  kind: CallKind<Body, Request, Outcome>,
  time: OwnTime,
): CallKind<Body, Request, Outcome> {
  const owners = new WeakMap<Request, string>()

  async function readInTurn(...[body, key, flags]: Parameters<typeof kind.read>) {
    const { customerId } = key
    const request = await time.takeInTurn(customerId, () => kind.read(body, key, flags))
    return noteOwner(request, customerId)
  }

  function noteOwner(request: Request | Refusal, customerId: string): Request | Refusal {
    if (!isRefusal(request)) owners.set(request, customerId)
    return request
  }

  return {
    ...kind,
    read(body, key, flags) {
      const isLarge = Buffer.isBuffer(body) && body.length > TIMED_FROM_BYTES
      if (isLarge) return readInTurn(body, key, flags)
      const read = kind.read(body, key, flags)
      // A small body may continue a long conversation, which is read from the database.
      return read instanceof Promise
        ? read.then((request) => noteOwner(request, key.customerId))
        : read
    },
    bound(model, request, providers) {
      const customerId = owners.get(request)
      const bound = () => kind.bound(model, request, providers)
      return customerId === undefined ? bound() : time.take(customerId, bound)
    },
  }
}
