import { HOUR_CACHE_UNIT } from '../../money/catalog/hour-cache.ts'
import {
  outputTokensThatFit,
  quote,
  type Quote,
  type QuoteInput,
} from '../../money/catalog/quote.ts'
import type { Model } from '../../money/catalog/model.ts'
import { chargeablePrices, type CallSpan } from '../../money/catalog/route-prices.ts'
import type { ActiveKey } from '../../customers/key-cache.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import type { Attempt, CapLeft, Verdict } from '../../money/ledger/attempt.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { NanoBrl, PicoUsd } from '../../platform/lib/money.ts'
import { identify, isReadAlike, mayUse } from './admit.ts'
import type { CallBounds } from './call-kind.ts'
import type { Admitted, CallRequest, HeldCall, NotHeld } from './call.ts'
import type { IncomingCall } from './client.ts'
import type { GatewayParts } from './gateway-parts.ts'
import { keySubject, secondsToReset } from './limits.ts'
import { capText, type CapGuard, maxCostText } from './refusal-texts.ts'
import { countRequest, countShort } from './refuse-call.ts'
import { refusals, type Refusal } from './refusal.ts'

/** An answer shorter than this is of no use, so the call is refused for its balance instead. */
const LOWERED_TOKENS_MIN = 64
/** Each try is a different request: with a fresh key, without searches, a counted prompt, or a limit lowered after a lost race. */
const TRIES_MAX = 7
/** The most time from the time limit of a call to its charge: a call that was stopped still ends its stream. */
const END_MS_MAX = 60_000

/** The variable part of a hold request; it changes with every try. */
interface HoldRequest {
  readonly key: ActiveKey
  readonly input: QuoteInput
  /** Those that `input` has, or their `lean` ones. */
  readonly bounds: CallBounds
  /** The prompt was counted with a tokenizer, or cannot be counted. */
  readonly isCounted: boolean
}

/** The most that a call may cost. */
interface Room {
  readonly nanoBrl?: NanoBrl
  readonly billedPicoUsd?: PicoUsd
}

/** The fixed part of a hold request. */
interface HoldContext {
  readonly incoming: IncomingCall<unknown>
  readonly model: Model
  readonly isStream: boolean
  readonly bounds: CallBounds
  readonly fxRate: FxRate
}

/** The time from now to the latest end of a call, or of one after the other on several models. */
export function spanOf(
  { callTimeoutMs }: GatewayParts['config'],
  models: number,
  untilMsMax = Infinity,
): CallSpan {
  const fromMs = Math.min(Date.now(), untilMsMax)
  return { fromMs, untilMs: Math.min(fromMs + models * (callTimeoutMs + END_MS_MAX), untilMsMax) }
}

/**
 * Quotes the call and holds its ceiling. Only the ledger grants a hold, never a cache. `isRepeated`: the call was
 * already counted against the rate limits, for another model.
 */
export async function holdMoney<Request extends CallRequest>(
  deps: GatewayParts,
  incoming: IncomingCall<unknown>,
  { key, request, masked, maxCostNanoBrl, pricesUntilMs, conversationOf }: Admitted<Request>,
  model: Model,
  bounds: CallBounds,
  isRepeated: boolean,
): Promise<HeldCall<Request> | NotHeld> {
  const fxRate = deps.fxRate.current()
  let limits = deps.limits.lastKnown(keySubject(key))
  if (!fxRate) return { refused: refusals.serviceUnavailable(), limits }

  const context: HoldContext = { incoming, model, isStream: request.isStream, bounds, fxRate }
  const span = spanOf(deps.config, 1, pricesUntilMs)
  const input = {
    prices: chargeablePrices(model, span),
    conversion: { fxRateE4: fxRate.rateE4, markupE4: model.markupE4 },
    ...amountsOf(bounds),
  }
  const first = { key, input, bounds, isCounted: bounds.countPrompt === undefined }
  const affordable =
    maxCostNanoBrl === undefined ? first : await withinMaxCost(deps, first, maxCostNanoBrl)
  if ('status' in affordable) {
    if (isRepeated) return { refused: affordable, limits }
    const counted = await countRequest(deps, incoming.ip, key)
    return { refused: counted.reached ?? affordable, limits: counted.limits }
  }
  let current: HoldRequest = affordable
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const quoted = quote(current.input)
    const epoch = deps.lease.epoch()
    const attempt = attemptOf(deps, context, current, quoted, isRepeated || tries > 0)
    const verdict = await hold(deps, attempt)
    if (verdict.kind === 'unavailable') return { refused: refusals.serviceUnavailable(), limits }
    limits = deps.limits.counted(keySubject(current.key), verdict.keySequence ?? 0, verdict.at)
    if (verdict.kind === 'held') {
      deps.limits.noteHold(key.customerId, true)
      return {
        key: current.key,
        model,
        request,
        masked,
        holdId: attempt.id,
        epoch,
        isDurable: verdict.isDurable,
        quote: quoted,
        span,
        promptTokensEstimated: attempt.promptTokensEstimated,
        limits,
        conversationOf,
      }
    }
    const next = await nextHoldRequest(deps, context, current, quoted, verdict)
    if ('status' in next) {
      if (!isRepeated) await countShort(deps, incoming.ip, current.key, next)
      return { refused: next, limits }
    }
    current = next
  }
  // Other calls of this customer took the free amount after every try.
  const refused = refusals.balanceOnHold()
  if (!isRepeated) await countShort(deps, incoming.ip, current.key, refused)
  return { refused, limits }
}

async function hold(
  { ledger, observer }: GatewayParts,
  attempt: Attempt,
): ReturnType<GatewayParts['ledger']['hold']> {
  const step = observer.begin('hold')
  step?.set({ holdId: attempt.id, modelId: attempt.modelId })
  const verdict = await ledger.hold(attempt)
  step?.set({ verdict: verdict.kind })
  if (verdict.kind === 'unavailable') step?.fail(verdict.kind)
  step?.end()
  return verdict
}

function amountsOf(bounds: CallBounds) {
  const { promptTokensMax, outputTokensMax, choices, unitsMax, writesCache } = bounds
  return { promptTokensMax, outputTokensMax, choices, unitsMax, writesCache }
}

/** Returns the input with a lower bound of the prompt, which bounds its cache writes, too. */
function withPrompt(input: QuoteInput, promptTokensMax: number): QuoteInput {
  const { unitsMax } = input
  const writes = unitsMax?.[HOUR_CACHE_UNIT]
  if (writes === undefined) return { ...input, promptTokensMax }
  const units = { ...unitsMax, [HOUR_CACHE_UNIT]: Math.min(writes, promptTokensMax) }
  return { ...input, promptTokensMax, unitsMax: units }
}

/** The next request after a negative verdict: smaller, or with a fresh key. Otherwise the refusal for the client. */
async function nextHoldRequest(
  deps: GatewayParts,
  context: HoldContext,
  current: HoldRequest,
  quoted: Quote,
  verdict: Verdict,
): Promise<HoldRequest | Refusal> {
  switch (verdict.kind) {
    case 'key_limited':
      deps.limits.noteReached(keySubject(current.key), verdict)
      return refusals.keyLimited(secondsToReset(verdict))
    case 'tokens_limited':
      return refusals.tokensLimited(secondsToReset(verdict))
    case 'stale_key': {
      deps.keys.forget(current.key.id)
      const key = await identify(deps, context.incoming)
      if ('refused' in key) return key.refused
      // The next try of the client reads the request anew.
      if (!isReadAlike(current.key, key)) return refusals.serviceUnavailable()
      return mayUse(key, context.model)
        ? { ...current, key }
        : refusals.modelAccessDenied(context.model.id)
    }
    default:
      deps.limits.noteHold(current.key.customerId, false)
      return smallerHoldRequest(current, quoted, verdict)
  }
}

/** The request within the cap that the call itself sets, or the refusal. Every later try of the call is smaller. */
async function withinMaxCost(
  deps: GatewayParts,
  first: HoldRequest,
  maxCostNanoBrl: NanoBrl,
): Promise<HoldRequest | Refusal> {
  const room = { nanoBrl: maxCostNanoBrl }
  let current = first
  let tokensThatFit: number | undefined
  // Once for the lean bounds, once for the counted prompt, once for the lowered output limit.
  for (let tries = 0; quote(current.input).ceilingNanoBrl > maxCostNanoBrl; tries++) {
    const next = await makeSmaller(current, room, () => spendable(deps, first.key, maxCostNanoBrl))
    if ('tooLarge' in next) tokensThatFit = next.tokensThatFit
    if ('tooLarge' in next || tries === 3) {
      const { ceilingNanoBrl } = quote(current.input)
      const text = maxCostText({ ceilingNanoBrl, maxCostNanoBrl, tokensThatFit })
      return refusals.maxCostExceeded(text)
    }
    current = next
  }
  return current
}

/** Within this cap. The ledger has not been asked yet, and a count for an account without balance would be for nothing. */
async function spendable(
  { limits, readRoom, log }: GatewayParts,
  key: ActiveKey,
  maxCostNanoBrl: NanoBrl,
): Promise<NanoBrl> {
  if (limits.hasHeld(key.customerId)) return maxCostNanoBrl
  try {
    const { balanceNanoBrl } = await readRoom(key)
    return balanceNanoBrl < maxCostNanoBrl ? balanceNanoBrl : maxCostNanoBrl
  } catch (error) {
    // The ledger will say that the service is unavailable.
    log.error('room_lookup_failed', { keyId: key.id, error })
    return maxCostNanoBrl
  }
}

interface TooLarge {
  readonly tooLarge: true
  /** The request would fit with this output limit. */
  readonly tokensThatFit: number | undefined
}

/**
 * First leaves out what the call can do without, then counts the prompt instead of bounding it by its bytes, then lowers
 * the output limit.
 */
async function makeSmaller(
  current: HoldRequest,
  room: Room,
  /** Before open holds, which may end while the prompt is counted. */
  balance: () => NanoBrl | Promise<NanoBrl>,
): Promise<HoldRequest | TooLarge> {
  const { input, bounds } = current
  const { countPrompt, canLowerOutput, lean } = bounds
  if (lean)
    return {
      ...current,
      bounds: lean,
      input: { ...input, ...amountsOf(lean) },
      isCounted: lean.countPrompt === undefined,
    }
  if (!current.isCounted && cheapestNanoBrl(current) <= (await balance())) {
    const promptTokensMax = await countPrompt?.()
    if (promptTokensMax !== undefined && promptTokensMax < input.promptTokensMax) {
      return { ...current, isCounted: true, input: withPrompt(input, promptTokensMax) }
    }
  }
  const fits = outputTokensThatFit(input, room)
  if (canLowerOutput && fits >= LOWERED_TOKENS_MIN)
    return { ...current, isCounted: true, input: { ...input, outputTokensMax: fits } }
  return {
    tooLarge: true,
    tokensThatFit: canLowerOutput && fits > 0 ? fits : undefined,
  }
}

/**
 * The cost that no count of the prompt can lower: a balance below it is refused without the tokenizer. With one token
 * of output, although that call is refused, too: the refusal says how many tokens fit.
 */
function cheapestNanoBrl({ input, bounds }: HoldRequest): NanoBrl {
  const outputTokensMax = bounds.canLowerOutput ? 1 : input.outputTokensMax
  const promptTokensMax = bounds.leastCount?.() ?? 0
  return quote({ ...withPrompt(input, promptTokensMax), outputTokensMax }).ceilingNanoBrl
}

async function smallerHoldRequest(
  current: HoldRequest,
  quoted: Quote,
  verdict: Verdict,
): Promise<HoldRequest | Refusal> {
  const smaller = await makeSmaller(current, roomOf(verdict), () => verdict.balanceNanoBrl ?? 0n)
  if (!('tooLarge' in smaller)) return smaller
  const { input, bounds } = current
  const { canLowerOutput } = bounds
  const fitting = smaller.tokensThatFit
  if (verdict.kind === 'short_budget') return refusals.budgetExceeded(fitting)
  if (verdict.kind === 'short_team') return refusals.teamCapExceeded(fitting)
  const guard = CAP_GUARDS[verdict.kind]
  if (guard && verdict.cap) return capRefusal(guard, verdict.cap, verdict.at, quoted, fitting)
  const outputTokensMax = Math.min(LOWERED_TOKENS_MIN, input.outputTokensMax)
  const needed = canLowerOutput ? quote({ ...input, outputTokensMax }) : quoted
  const { balanceNanoBrl, heldNanoBrl } = verdict
  if (balanceNanoBrl === null) return refusals.insufficientBalance(current.key, undefined, fitting)
  const held = heldNanoBrl ?? 0n
  const lack = {
    neededNanoBrl: needed.ceilingNanoBrl,
    freeNanoBrl: balanceNanoBrl - held,
    heldNanoBrl: held,
  }
  // The members of a team see no amount of the balance that pays.
  const shown = current.key.teamId === null ? lack : undefined
  return needed.ceilingNanoBrl <= balanceNanoBrl
    ? refusals.balanceOnHold(shown)
    : refusals.insufficientBalance(current.key, shown, fitting)
}

function capRefusal(
  guard: CapGuard,
  cap: CapLeft,
  at: Date,
  { ceilingNanoBrl }: Quote,
  tokensThatFit: number | undefined,
): Refusal {
  const seconds =
    cap.until === null
      ? undefined
      : Math.max(1, Math.ceil((cap.until.getTime() - at.getTime()) / 1000))
  const text = capText({ guard, cap, seconds, tokensThatFit })
  if (guard === 'day') return refusals.keyDayCapExceeded(text)
  if (guard === 'task' || seconds === undefined) return refusals.keyTaskCapExceeded(text)
  return ceilingNanoBrl <= cap.limitNanoBrl
    ? refusals.keyMinuteCapReached(text, seconds)
    : refusals.keyMinuteCapExceeded(text)
}

const CAP_GUARDS: Readonly<Partial<Record<Verdict['kind'], CapGuard>>> = {
  short_minute: 'minute',
  short_day: 'day',
  short_task: 'task',
}

/** The amount left for one more call by the balance, the team's cap, the key's caps and its budget. */
function roomOf(verdict: Verdict): Room {
  const free = (verdict.balanceNanoBrl ?? 0n) - (verdict.heldNanoBrl ?? 0n)
  const lefts = [free, verdict.teamLeftNanoBrl, verdict.cap?.leftNanoBrl ?? null]
  const nanoBrl = lefts.reduce<bigint>(
    (least, left) => (left !== null && left < least ? left : least),
    free,
  )
  return verdict.budgetLeftPicoUsd === null
    ? { nanoBrl }
    : { nanoBrl, billedPicoUsd: verdict.budgetLeftPicoUsd }
}

function attemptOf(
  deps: GatewayParts,
  { incoming, model, isStream, bounds, fxRate }: HoldContext,
  { key, input }: HoldRequest,
  quoted: Quote,
  isRepeated: boolean,
): Attempt {
  return {
    id: createId(),
    isRepeated,
    customerId: key.customerId,
    key,
    ip: null,
    ipLimit: deps.config.requestsPerMinutePerIp,
    requestId: incoming.requestId,
    sessionId: incoming.sessionId ?? null,
    modelId: model.id,
    isStream,
    amountNanoBrl: quoted.ceilingNanoBrl,
    budgetPicoUsd: quoted.ceilingPicoUsd,
    priceId: quoted.price.id,
    fxRateId: fxRate.id,
    fxRateE4: quoted.conversion.fxRateE4,
    markupE4: quoted.conversion.markupE4,
    // A charge by the estimate stays within the hold, also of a prompt that was counted.
    promptTokensEstimated: Math.min(bounds.promptTokensEstimated, input.promptTokensMax),
    tokensCounted: bounds.tokensCounted,
    taskLimitNanoBrl: incoming.sessionId === undefined ? null : key.taskLimitNanoBrl,
  }
}
