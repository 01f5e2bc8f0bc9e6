import type { Price } from '../catalog/prices.ts'
import { outputTokensThatFit, quote, type Quote, type QuoteInput } from '../catalog/quote.ts'
import type { Model } from '../catalog/model.ts'
import type { ActiveKey } from '../customers/key-cache.ts'
import type { FxRate } from '../fx/fx-rates.ts'
import type { Attempt, Verdict } from '../ledger/attempt.ts'
import { createId } from '../lib/ids.ts'
import { identify, mayUse } from './admit.ts'
import type { Ask } from './call-kind.ts'
import type { Admitted, CallRequest, HeldCall, NotHeld } from './call.ts'
import type { IncomingCall } from './client.ts'
import type { GatewayDeps } from './gateway-deps.ts'
import { keySubject, secondsToReset } from './limits.ts'
import { refusals, type Refusal } from './refusal.ts'

/** An answer shorter than this is of no use: rather say that the balance is short. */
const LOWERED_TOKENS_MIN = 64
/** Each try changes the question: a fresh key, a counted prompt, a lowered limit, a race lost. */
const TRIES_MAX = 6

/** What is asked of the ledger; every try asks something else. */
interface Question {
  readonly key: ActiveKey
  readonly input: QuoteInput
  /** The prompt was counted with a tokenizer, or cannot be. */
  readonly isCounted: boolean
}

interface Terms {
  readonly incoming: IncomingCall<unknown>
  readonly model: Model
  readonly isStream: boolean
  readonly ask: Ask
  readonly fxRate: FxRate
}

/**
 * Quotes the call and sets its ceiling aside in the ledger, which alone says yes. `isRepeated`: it was
 * counted against the rate limits already, for another model.
 */
export async function holdMoney<Request extends CallRequest>(
  deps: GatewayDeps,
  incoming: IncomingCall<unknown>,
  { key, request }: Admitted<Request>,
  model: Model,
  ask: Ask,
  isRepeated: boolean,
): Promise<HeldCall<Request> | NotHeld> {
  const fxRate = deps.currentFxRate()
  let limits = deps.limits.lastKnown(keySubject(key))
  if (!fxRate) return { refused: refusals.serviceUnavailable(), limits }

  const terms: Terms = { incoming, model, isStream: request.isStream, ask, fxRate }
  const { promptTokensMax, outputTokensMax, choices, unitsMax } = ask
  const input = {
    prices: pricesOf(model),
    conversion: { fxRateE4: fxRate.rateE4, markupE4: model.markupE4 },
    promptTokensMax,
    outputTokensMax,
    choices,
    unitsMax,
  }
  let question: Question = { key, input, isCounted: ask.countPrompt === undefined }
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const quoted = quote(question.input)
    const epoch = deps.lease.epoch()
    const attempt = attemptOf(deps, terms, question.key, quoted, isRepeated || tries > 0)
    const verdict = await deps.ledger.hold(attempt)
    if (verdict.kind === 'unavailable') return { refused: refusals.serviceUnavailable(), limits }
    limits = deps.limits.counted(keySubject(question.key), verdict.keySequence ?? 0, verdict.at)
    if (verdict.kind === 'held') {
      return {
        key: question.key,
        model,
        request,
        holdId: attempt.id,
        epoch,
        mayLag: attempt.mayLag,
        quote: quoted,
        promptTokensEstimated: ask.promptTokensEstimated,
        limits,
      }
    }
    const next = await nextQuestion(deps, terms, question, quoted, verdict)
    if ('status' in next) return { refused: next, limits }
    question = next
  }
  // Its own other calls took the room again and again.
  return { refused: refusals.balanceOnHold(), limits }
}

/** What to ask after a no: something smaller, or with a fresh key; or the refusal that the no means. */
async function nextQuestion(
  deps: GatewayDeps,
  terms: Terms,
  question: Question,
  quoted: Quote,
  verdict: Verdict,
): Promise<Question | Refusal> {
  switch (verdict.kind) {
    case 'ip_limited':
      return refusals.ipLimited(secondsToReset(verdict))
    case 'key_limited':
      return refusals.keyLimited(secondsToReset(verdict))
    case 'tokens_limited':
      return refusals.tokensLimited(secondsToReset(verdict))
    case 'stale_key': {
      deps.keys.forget(question.key.id)
      const key = await identify(deps, terms.incoming)
      if ('refused' in key) return key.refused
      return mayUse(key, terms.model)
        ? { ...question, key }
        : refusals.modelAccessDenied(terms.model.id)
    }
    default:
      return smallerQuestion(terms.ask, question, quoted, verdict)
  }
}

/** First the prompt is counted instead of bounded, then a limit that only the model set is lowered. */
async function smallerQuestion(
  { countPrompt, outputLimitOf }: Ask,
  question: Question,
  quoted: Quote,
  verdict: Verdict,
): Promise<Question | Refusal> {
  const { input } = question
  if (!question.isCounted) {
    const promptTokensMax = await countPrompt?.()
    if (promptTokensMax !== undefined && promptTokensMax < input.promptTokensMax) {
      return { ...question, isCounted: true, input: { ...input, promptTokensMax } }
    }
  }
  const fits = outputTokensThatFit(input, roomOf(verdict))
  if (outputLimitOf === 'model' && fits >= LOWERED_TOKENS_MIN) {
    return {
      ...question,
      isCounted: true,
      input: { ...input, outputTokensMax: fits },
    }
  }
  const fitting = outputLimitOf !== 'request' && fits > 0 ? fits : undefined
  if (verdict.kind === 'short_budget') return refusals.budgetExceeded(fitting)
  if (verdict.kind === 'short_team') return refusals.teamCapExceeded(fitting)
  const needed =
    outputLimitOf === 'model' ? quote({ ...input, outputTokensMax: LOWERED_TOKENS_MIN }) : quoted
  const isOnHold =
    verdict.balanceNanoBrl !== null && needed.ceilingNanoBrl <= verdict.balanceNanoBrl
  return isOnHold ? refusals.balanceOnHold() : refusals.insufficientBalance(fitting)
}

/** What the verdict leaves for one more call, of the balance, the team's cap and the key's budget. */
function roomOf(verdict: Verdict): { nanoBrl?: bigint; billedPicoUsd?: bigint } {
  const free = (verdict.balanceNanoBrl ?? 0n) - (verdict.heldNanoBrl ?? 0n)
  const left = verdict.teamLeftNanoBrl
  const nanoBrl = left !== null && left < free ? left : free
  return verdict.budgetLeftPicoUsd === null
    ? { nanoBrl }
    : { nanoBrl, billedPicoUsd: verdict.budgetLeftPicoUsd }
}

/** The prices of every route, each once: which route will answer is not known yet. */
function pricesOf({ price, routes }: Model): readonly Price[] {
  if (routes.length <= 1) return [routes[0]?.price ?? price]
  return [...new Map(routes.map((route) => [route.price.id, route.price])).values()]
}

function attemptOf(
  deps: GatewayDeps,
  { incoming, model, isStream, ask, fxRate }: Terms,
  key: ActiveKey,
  quoted: Quote,
  isRepeated: boolean,
): Attempt {
  return {
    id: createId(),
    isRepeated,
    customerId: key.customerId,
    key,
    ip: incoming.ip,
    ipLimit: deps.ipRequestsPerMinute,
    requestId: incoming.requestId,
    sessionId: incoming.sessionId ?? null,
    modelId: model.id,
    isStream,
    // A plain answer leaves after its charge is committed, and what that commit does not find is not answered.
    mayLag: !isStream,
    amountNanoBrl: quoted.ceilingNanoBrl,
    budgetPicoUsd: quoted.ceilingPicoUsd,
    priceId: quoted.price.id,
    fxRateId: fxRate.id,
    fxRateE4: quoted.conversion.fxRateE4,
    markupE4: quoted.conversion.markupE4,
    promptTokensEstimated: ask.promptTokensEstimated,
    tokensCounted: ask.tokensCounted,
  }
}
