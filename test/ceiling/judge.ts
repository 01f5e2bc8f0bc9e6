/** The rules that one call must satisfy, and the cause of a violation. */
import { isObject } from '../../src/platform/lib/is-object.ts'
import type { Settled } from './ask-gateway.ts'
import type { GeneratedRequest } from './generate-chats.ts'
import type { Received } from './hostile-upstream.ts'
import { FX_RATE_E4, markupE4Of } from './model-truth.ts'

export interface Fault {
  readonly what:
    | 'the charge is above the hold'
    | "the provider's bill is above the hold"
    | "the cost is not the provider's bill"
    | 'a call is not settled'
  readonly detail: string
}

export function judge(
  settled: readonly Settled[],
  take: (callId: string) => Received[],
): { faults: Fault[]; unknown: string[] } {
  const faults: Fault[] = []
  const unknown = new Set<string>()
  for (const event of settled) {
    const received = take(event.callId)
    const first = received[0]
    if (!first) continue
    const cost = received.reduce((sum, { bill }) => sum + bill.costPicoUsd, 0n)
    const bill = toNanoBrl(cost, markupE4Of(first.bill.model))
    const { heldNanoBrl, billedNanoBrl, costPicoUsd } = event
    const amounts = `held ${brl(heldNanoBrl)}, charged ${brl(billedNanoBrl)}, billed ${brl(bill)} BRL`
    if (billedNanoBrl > heldNanoBrl)
      faults.push({ what: 'the charge is above the hold', detail: amounts })
    else if (bill > heldNanoBrl)
      faults.push({ what: "the provider's bill is above the hold", detail: amounts })
    if (event.outcome === 'charged' && event.usageKind === 'exact' && costPicoUsd !== cost)
      faults.push({
        what: "the cost is not the provider's bill",
        detail: `cost ${costPicoUsd} pico-USD, billed ${cost}; ${amounts}`,
      })
    for (const each of received) for (const field of each.bill.unknown) unknown.add(field)
  }
  return { faults, unknown: [...unknown] }
}

/** Rounded half up once, as the specification requires. */
function toNanoBrl(picoUsd: bigint, markupE4: bigint): bigint {
  const scale = 100_000_000n * 1_000n
  return (picoUsd * FX_RATE_E4 * markupE4 + scale / 2n) / scale
}

const brl = (nano: bigint): string => (Number(nano) / 1e9).toFixed(9)

/**
 * One cause of failures: the violated rule, the place, and the features of the smallest request that shows
 * it.
 */
export interface Cause {
  readonly kind: string
  readonly upstream: string
  readonly what: Fault['what']
  readonly isTight: boolean
  readonly features: ReadonlySet<string>
}

/** Whether a failure may have this known cause: the request has every feature that the cause needs. */
export function isExplained(
  fault: Fault,
  request: GeneratedRequest,
  isTight: boolean,
  causes: readonly Cause[],
): boolean {
  const own = causes.filter(
    (cause) =>
      cause.what === fault.what &&
      cause.kind === request.kind &&
      cause.upstream === request.model.id &&
      (isTight || !cause.isTight),
  )
  if (own.length === 0) return false
  const features = featuresOf(request)
  return own.some((cause) => [...cause.features].every((feature) => features.has(feature)))
}

/** The paths and types of everything in a request. */
export function featuresOf({ body }: GeneratedRequest): Set<string> {
  const features = new Set<string>()
  add(body, '')
  return features

  function add(value: unknown, place: string): void {
    if (Array.isArray(value)) for (const each of value as unknown[]) add(each, `${place}[]`)
    else if (isObject(value)) {
      const kind = typeof value.type === 'string' ? `<${value.type}>` : ''
      for (const [key, child] of Object.entries(value)) {
        const isOpen = /schema|parameters|arguments|metadata/.test(place)
        add(child, isOpen ? `${place}${kind}.*` : `${place}${kind}.${key}`)
      }
    } else if (value !== undefined) {
      features.add(place)
      if (typeof value !== 'string') return
      if (value.startsWith('@numeral')) features.add(`${place}: a numeral`)
      const mediaType = /^data:([^;,]*)/.exec(value)?.[1]
      if (mediaType) features.add(`${place}: ${mediaType}`)
      if (/^https?:/.test(value)) features.add(`${place}: an address`)
      if (place === '.file')
        features.add(`.file: ${Buffer.from(value, 'base64').toString('latin1', 0, 3)}`)
      if (place === '.fields[][]') features.add(`.fields: ${value.slice(0, 12)}`)
    }
  }
}
