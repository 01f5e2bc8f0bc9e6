import { outputTokensThatFit, quote, type Quote, type QuoteInput } from '../catalog/quote.ts'
import {
  promptTokensBound,
  promptTokensTypical,
  TOOL_PREAMBLE_TOKENS,
} from '../catalog/prompt-size.ts'
import type { ActiveKey } from '../customers/key-cache.ts'
import type { FxRate } from '../fx/fx-rates.ts'
import type { Attempt, Verdict } from '../ledger/attempt.ts'
import { createId } from '../lib/ids.ts'
import { admit, type Admitted } from './admit.ts'
import type { ChatRequest } from './chat-request.ts'
import type { IncomingCall } from './client.ts'
import { countTokens, promptTexts } from './count-tokens.ts'
import type { GatewayDeps } from './gateway-deps.ts'
import { keySubject, secondsToReset, type Limits } from './limits.ts'
import { refusals, type Refusal } from './refusal.ts'

/** A call whose money is set aside. From here on it must be resolved, whatever happens. */
export interface HeldCall extends Admitted {
  readonly holdId: string
  readonly quote: Quote
  readonly promptTokensEstimated: number
  /** Set where the balance does not cover the model's own limit: the upstream is given this one. */
  readonly loweredOutputTokens: number | undefined
  readonly limits: Limits
}

export interface NotHeld {
  readonly refused: Refusal
  readonly limits: Limits
}

/** An answer shorter than this is of no use: rather say that the balance is short. */
const LOWERED_TOKENS_MIN = 64
/** Each try changes the question: a fresh key, a counted prompt, a lowered limit, a race lost. */
const TRIES_MAX = 6

/** What is asked of the ledger; every try asks something else. */
interface Ask {
  readonly key: ActiveKey
  readonly input: QuoteInput
  readonly loweredOutputTokens?: number
  /** The prompt was counted with a tokenizer, or cannot be. */
  readonly isCounted: boolean
}

interface Terms {
  readonly fxRate: FxRate
  readonly priceId: number
  readonly promptTokensEstimated: number
}

/** Quotes the call and sets its ceiling aside in the ledger, which alone says yes. */
export async function holdMoney(
  deps: GatewayDeps,
  incoming: IncomingCall,
  admitted: Admitted,
): Promise<HeldCall | NotHeld> {
  const { request, model } = admitted
  const fxRate = deps.currentFxRate()
  const priceId = deps.priceIds.get(model.id)
  let limits = deps.limits.lastKnown(keySubject(admitted.key))
  if (!fxRate || priceId === undefined) return { refused: refusals.serviceUnavailable(), limits }

  const terms: Terms = {
    fxRate,
    priceId,
    promptTokensEstimated: promptTokensTypical(request, model),
  }
  let ask: Ask = {
    key: admitted.key,
    isCounted: request.imageCount > 0 || request.hasFiles || model.tokenizer === undefined,
    input: {
      price: model.price,
      conversion: { fxRateE4: fxRate.rateE4, markupE4: model.markupE4 },
      promptTokensMax: promptTokensBound(request, model),
      outputTokensMax: request.outputTokensMax ?? model.outputTokensMax,
      choices: request.choices,
    },
  }
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const quoted = quote(ask.input)
    const attempt = attemptOf(deps, incoming, admitted, ask.key, quoted, terms, tries > 0)
    const verdict = await deps.ledger.hold(attempt)
    if (verdict.kind === 'away') return { refused: refusals.serviceUnavailable(), limits }
    limits = deps.limits.counted(keySubject(ask.key), verdict.keySequence ?? 0, verdict.at)
    if (verdict.kind === 'held') {
      const { promptTokensEstimated } = terms
      return {
        ...admitted,
        key: ask.key,
        holdId: attempt.id,
        quote: quoted,
        promptTokensEstimated,
        loweredOutputTokens: ask.loweredOutputTokens,
        limits,
      }
    }
    const next = await nextAsk(deps, incoming, admitted, ask, quoted, verdict)
    if ('status' in next) return { refused: next, limits }
    ask = next
  }
  // Its own other calls took the room again and again.
  return { refused: refusals.balanceOnHold(), limits }
}

/** What to ask after a no: something smaller, or with a fresh key; or the refusal that the no means. */
async function nextAsk(
  deps: GatewayDeps,
  incoming: IncomingCall,
  admitted: Admitted,
  ask: Ask,
  quoted: Quote,
  verdict: Verdict,
): Promise<Ask | Refusal> {
  switch (verdict.kind) {
    case 'ip_limited':
      return refusals.ipLimited(secondsToReset(verdict))
    case 'key_limited':
      return refusals.keyLimited(secondsToReset(verdict))
    case 'tokens_limited':
      return refusals.tokensLimited(secondsToReset(verdict))
    case 'stale_key': {
      deps.keys.forget(ask.key.id)
      const again = await admit(deps, incoming)
      if (again.kind === 'not_admitted') return again.refused
      return { ...ask, key: again.key }
    }
    default:
      return smallerAsk(admitted, ask, quoted, verdict)
  }
}

/** First the prompt is counted instead of bounded, then a limit that only the model set is lowered. */
async function smallerAsk(
  { request }: Admitted,
  ask: Ask,
  quoted: Quote,
  verdict: Verdict,
): Promise<Ask | Refusal> {
  if (!ask.isCounted) {
    const promptTokensMax = await countPromptBound(request)
    if (promptTokensMax !== undefined && promptTokensMax < ask.input.promptTokensMax) {
      return { ...ask, isCounted: true, input: { ...ask.input, promptTokensMax } }
    }
  }
  const fits = outputTokensThatFit(ask.input, roomOf(verdict))
  // The room grew since: ask for the same again.
  if (fits >= ask.input.outputTokensMax) return { ...ask, isCounted: true }
  if (request.outputTokensMax === undefined && fits >= LOWERED_TOKENS_MIN) {
    return {
      ...ask,
      isCounted: true,
      loweredOutputTokens: fits,
      input: { ...ask.input, outputTokensMax: fits },
    }
  }
  if (verdict.kind === 'short_budget') return refusals.budgetExceeded(fits > 0 ? fits : undefined)
  const needed =
    request.outputTokensMax === undefined
      ? quote({ ...ask.input, outputTokensMax: LOWERED_TOKENS_MIN })
      : quoted
  const isOnHold =
    verdict.balanceNanoBrl !== null && needed.ceilingNanoBrl <= verdict.balanceNanoBrl
  return isOnHold
    ? refusals.balanceOnHold()
    : refusals.insufficientBalance(fits > 0 ? fits : undefined)
}

/** What the verdict leaves for one more call, of the balance or of the key's budget. */
function roomOf(verdict: Verdict): { nanoBrl?: bigint; billedPicoUsd?: bigint } {
  const nanoBrl = (verdict.balanceNanoBrl ?? 0n) - (verdict.heldNanoBrl ?? 0n)
  return verdict.budgetLeftPicoUsd === null
    ? { nanoBrl }
    : { nanoBrl, billedPicoUsd: verdict.budgetLeftPicoUsd }
}

/** Around each message and around all of them, in the known chat formats, with a margin. */
const TOKENS_PER_MESSAGE = 8
const TOKENS_PER_PROMPT = 64

/** A bound by the model's own public tokenizer; what is not counted is bounded by its bytes. */
async function countPromptBound(request: ChatRequest): Promise<number | undefined> {
  const texts = promptTexts(request.messages)
  const counted = await countTokens(texts)
  if (counted === undefined) return undefined
  const rest = { ...request.body, messages: undefined }
  const restBytes = Buffer.byteLength(JSON.stringify(rest))
  return (
    counted +
    request.messages.length * TOKENS_PER_MESSAGE +
    TOKENS_PER_PROMPT +
    (request.hasTools ? restBytes + TOOL_PREAMBLE_TOKENS : restBytes)
  )
}

function attemptOf(
  deps: GatewayDeps,
  incoming: IncomingCall,
  { request, model }: Admitted,
  key: ActiveKey,
  quoted: Quote,
  terms: Terms,
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
    isStream: request.isStream,
    amountNanoBrl: quoted.ceilingNanoBrl,
    budgetPicoUsd: quoted.ceilingPicoUsd,
    priceId: terms.priceId,
    fxRateId: terms.fxRate.id,
    fxRateE4: quoted.conversion.fxRateE4,
    markupE4: quoted.conversion.markupE4,
    promptTokensEstimated: terms.promptTokensEstimated,
    // As the field does it: what the client asked for, not what the model could do at most.
    tokensCounted: terms.promptTokensEstimated + (request.outputTokensMax ?? 0) * request.choices,
  }
}
