import type { CallBounds, CallKind } from './call-kind.ts'
import type { CallRequest } from './call.ts'
import { TIMED_FROM_BYTES, type OwnTime } from './own-time.ts'
import { isRefusal, type Refusal } from './refusal.ts'

/** As measured: a megabyte of text takes about a second. */
const COUNT_MS_PER_BYTE = 1e-3
/** Shorter prompts are counted as they come. */
const COUNTED_AT_ONCE_BYTES = 100_000

/**
 * A kind of call whose large bodies wait until the earlier ones of their customer have been paid for: the time in which
 * a body is read and measured, whatever it contains, and also if its call is refused.
 */
export function pacedKind<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  kind: CallKind<Body, Request, Outcome>,
  time: OwnTime,
): CallKind<Body, Request, Outcome> {
  const owners = new WeakMap<Request, string>()
  const counting = new Set<string>()

  async function readInTurn(...[body, key, flags]: Parameters<typeof kind.read>) {
    const { customerId } = key
    const request = await time.takeInTurn(customerId, () => kind.read(body, key, flags))
    return noteOwner(request, customerId)
  }

  function noteOwner(request: Request | Refusal, customerId: string): Request | Refusal {
    if (!isRefusal(request)) owners.set(request, customerId)
    return request
  }

  /** The count of a long prompt is the customer's own time, too, and only one of them is under way. */
  function countInTurn(bounds: CallBounds, customerId: string): CallBounds {
    const { countPrompt, lean, promptTokensMax: bytes } = bounds
    const paced = lean ? { ...bounds, lean: countInTurn(lean, customerId) } : bounds
    if (!countPrompt || bytes <= COUNTED_AT_ONCE_BYTES) return paced
    return {
      ...paced,
      async countPrompt() {
        if (counting.has(customerId)) return undefined
        counting.add(customerId)
        let counted: number | undefined
        const count = async (): Promise<number> => {
          counted = await countPrompt()
          return bytes * COUNT_MS_PER_BYTE
        }
        await time.takeSlices(customerId, count).finally(() => counting.delete(customerId))
        return counted
      },
    }
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
      if (customerId === undefined) return bound()
      const bounds = time.take(customerId, bound)
      return bounds instanceof Promise
        ? bounds.then((each) => countInTurn(each, customerId))
        : countInTurn(bounds, customerId)
    },
  }
}
