import { createSharedSlices } from '../../lib/shared-slices.ts'
import { findInSteps, findPersonalData } from '../../shield/find-personal-data.ts'
import type { Found } from '../../shield/found.ts'
import type { ShieldOptions } from '../../shield/shield-chat.ts'
import type { OwnTime } from '../own-time.ts'
import type { ShieldedRequest, ShieldRequest } from './shielded-request.ts'

/** Most requests have less text. Of numbers alone, so many characters take some 8 ms. */
const AT_ONCE_CHARACTERS = 16 * 1024

/** All long texts of this process take turns: together they keep the event loop no longer than one of them. */
const inSharedSlices = createSharedSlices()

/**
 * Reads the texts of a request as `shieldRequest` does, but long ones in slices of a few milliseconds, between which
 * other calls are served. All of it is the customer's own time.
 */
export async function shieldInSlices<Request>(
  request: Request,
  shieldRequest: ShieldRequest<Request>,
  options: ShieldOptions,
  { time, customerId }: { readonly time: OwnTime; readonly customerId: string },
): Promise<ShieldedRequest<Request>> {
  const known = new Map<string, readonly Found[]>()
  const long = new Set<string>()
  const shield = (find: (text: string) => readonly Found[]): ShieldedRequest<Request> =>
    time.take(customerId, () => shieldRequest(request, { ...options, find }))

  function read(text: string): readonly Found[] {
    const found = known.get(text) ?? findPersonalData(text, options)
    known.set(text, found)
    return found
  }

  /** Adds the data of the long texts to `known`; returns the milliseconds that it took. */
  async function readLong(): Promise<number> {
    let ms = 0
    for (const text of long) {
      const steps = findInSteps(text, options)
      await inSharedSlices(() => {
        const startedAtMs = performance.now()
        const { done, value } = steps.next()
        if (done) known.set(text, value)
        ms += performance.now() - startedAtMs
        return done !== true
      })
    }
    return ms
  }

  let characters = 0
  const first = shield((text) => {
    if (!known.has(text)) characters += text.length
    if (characters <= AT_ONCE_CHARACTERS) return read(text)
    long.add(text)
    return []
  })
  if (long.size === 0 || first.kind === 'too_long') return first
  await time.takeSlices(customerId, readLong)
  return shield(read)
}
