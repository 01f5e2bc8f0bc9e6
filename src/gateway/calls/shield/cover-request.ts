import type { ActiveKey } from '../../../customers/key-cache.ts'
import {
  MASKED_VALUES_MAX,
  SHIELDED_CHARACTERS_MAX,
  type ShieldOptions,
} from '../../shield/shield-chat.ts'
import type { UpstreamFailure } from '../../providers/contract.ts'
import { TOO_MANY_WAIT, type OwnTime } from '../../../platform/admission/own-time.ts'
import type { CallKind } from '../call-kind.ts'
import type { CallRequest, Covered } from '../call.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { refusals, type Refusal } from '../refusal.ts'
import type { DataKind } from '../../../customers/shield-setting.ts'
import type { FoundData, ShieldedRequest, ShieldRequest } from './text-shield.ts'
import { createSharedSlices } from '../../../platform/admission/turn.ts'
import { findInSteps, findPersonalData } from '../../shield/find-personal-data.ts'
import type { Found } from '../../shield/found.ts'

const NAMES: Readonly<Record<DataKind, readonly [one: string, many: string]>> = {
  cpf: ['CPF', 'CPFs'],
  cnpj: ['CNPJ', 'CNPJs'],
  email: ['e-mail', 'e-mails'],
  phone: ['telefone', 'telefones'],
  card: ['número de cartão', 'números de cartão'],
  pix_key: ['chave Pix', 'chaves Pix'],
}
const PLACES_MAX = 10
const NO_FIELD = 'outros campos'

/** Says which kinds stand where, and never a value. */
function refusalOfData({ counts, places }: FoundData): Refusal {
  const found = Object.entries(counts).map(
    ([kind, count]) => `${count} ${NAMES[kind as DataKind][count === 1 ? 0 : 1]}`,
  )
  const named = places.map((path) => (path === 'request' ? NO_FIELD : path))
  const rest = named.length - PLACES_MAX
  const shown = named.slice(0, PLACES_MAX).concat(rest > 0 ? [`mais ${rest}`] : [])
  return refusals.personalDataFound(listed(found), listed(shown))
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} e ${last}`
}

/**
 * Finds the personal data in a request, and masks or refuses it as the key says. The quote, the hold, fallbacks and
 * retries see the masked request alone, and know nothing of the shield; the shield knows no money.
 */
export async function coverRequest<
  Body,
  Request extends CallRequest,
  Outcome extends { kind: string },
>(
  { ownTime, shieldCounts }: Pick<GatewayParts, 'ownTime' | 'shieldCounts'>,
  { shieldRequest }: Pick<CallKind<Body, Request, Outcome>, 'shieldRequest'>,
  request: Request,
  key: ActiveKey,
): Promise<Covered<Request> | Refusal> {
  const { action, uuids } = key.shield
  if (action === 'off') return { request }
  const { customerId, id: keyId } = key
  const turn = ownTime.turn(customerId)
  if (turn === TOO_MANY_WAIT) return refusals.tooManyCalls(ownTime.waitingMax)
  if (turn) await turn
  const options = { action, uuids }
  const outcome = await shieldInSlices(request, shieldRequest, options, {
    time: ownTime,
    customerId,
  })
  switch (outcome.kind) {
    case 'clear':
      return { request }
    case 'too_long':
      return refusals.textsTooLong(SHIELDED_CHARACTERS_MAX, MASKED_VALUES_MAX)
    case 'blocked':
      shieldCounts.note({ keyId, action: 'block', counts: outcome.counts })
      return refusalOfData(outcome)
    case 'masked':
      return { request: outcome.request, masked: { counts: outcome.counts, isSent: false } }
  }
}

/** Counts what was masked in a request once, when an upstream may have received its first byte. */
export function noteSent(
  { shieldCounts }: Pick<GatewayParts, 'shieldCounts'>,
  { masked }: Pick<Covered<unknown>, 'masked'>,
  keyId: string,
  outcome: { readonly kind: string },
): void {
  if (!masked || masked.isSent || isUnsent(outcome)) return
  masked.isSent = true
  shieldCounts.note({ keyId, action: 'mask', counts: masked.counts })
}

/** Whether surely no byte of the request left. */
function isUnsent(outcome: { readonly kind: string }): boolean {
  if (outcome.kind !== 'failure') return false
  const { reason, isUnsent } = outcome as UpstreamFailure
  return isUnsent === true || reason === 'unsupported' || reason === 'connect_failed'
}

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
