import { createSharedSlices } from '../../../platform/admission/turn.ts'
import { findInSteps, findPersonalData } from '../../shield/find-personal-data.ts'
import type { Found } from '../../shield/found.ts'
import type { ShieldOptions } from '../../shield/shield-chat.ts'
import type { OwnTime } from '../../../platform/admission/own-time.ts'
import type { ShieldedRequest, ShieldRequest } from './text-shield.ts'

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

  /** Adds the data of the long texts to `known`. */
  function* readInSteps(): Generator<void, void> {
    for (const text of long) known.set(text, yield* findInSteps(text, options))
  }

  /** Returns the milliseconds that it took. All texts are one work: each of many short ones would wait for its own turn. */
  async function readLong(): Promise<number> {
    let ms = 0
    const steps = readInSteps()
    await inSharedSlices(() => {
      const startedAtMs = performance.now()
      const { done } = steps.next()
      ms += performance.now() - startedAtMs
      return done !== true
    })
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
