/** The moderations kind of call: judgements of texts and images, billed by the input tokens. */
import type { Model } from '../../../money/catalog/model.ts'
import { IMAGE_TOKENS_TYPICAL, outputTokensTypical } from '../../../money/catalog/quote.ts'
import { jsonBrl } from '../../../platform/lib/money.ts'
import { UNCOUNTED_BYTES, type ModerationAnswer, type Provider } from '../../providers/contract.ts'
import { estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallBounds, CallKind } from '../call-kind.ts'
import type { HeldCall, Used } from '../call.ts'
import { chargeHeldCall, estimated } from '../charge.ts'
import { createTextShield, type ShieldRequest } from '../shield/text-shield.ts'
import { readModerationRequest, type ModerationRequest } from './moderation-request.ts'

type Input = ModerationRequest['inputs'][number]

/** Masks each text on its own. Images are not read. */
const shieldModerationRequest: ShieldRequest<ModerationRequest> = (request, options) => {
  const shield = createTextShield(options)
  const inputs = request.inputs.map((input, at): Input => {
    if (typeof input === 'string') return shield.read(`input[${at}]`, input)
    return input.type === 'text'
      ? { ...input, text: shield.read(`input[${at}].text`, input.text) }
      : input
  })
  return shield.outcome({ ...request, inputs })
}

/** Tokens that a model adds around each text, with a margin. */
const TOKENS_PER_INPUT = 8
/** A result has thirteen categories with their scores, and some upstreams indent their JSON. */
const RESULT_BYTES = 4_096

export const moderationKind: CallKind<Buffer, ModerationRequest, ModerationAnswer> = {
  operation: 'moderation',
  shieldRequest: shieldModerationRequest,
  read: readModerationRequest,
  findFault: findModelFault,
  bound: boundModeration,
  answerBytesMax: (_model, request) => answerBytesOf(request),
  mayBeLarge: ({ request }) => answerBytesOf(request) > UNCOUNTED_BYTES,
  can: (provider) => provider.moderate !== undefined,
  call: (provider, { held, upstreamModel, signal, takeBytes }) =>
    (provider.moderate as NonNullable<Provider['moderate']>)(
      {
        model: upstreamModel,
        input: held.request.inputs,
        resultCount: held.request.resultCount,
        bytesReserved: answerBytesOf(held.request),
        callId: held.holdId,
        takeBytes,
      },
      signal,
    ),
  async relay(held, { outcome }, answeredBy, client) {
    const by = answeredBy()
    const resolution = chargeHeldCall(held, usedBy(held, outcome), by)
    const { promptTokens: tokens, billedNanoBrl } = resolution
    return {
      resolution,
      write: () =>
        JSON.stringify({
          id: `modr-${held.holdId}`,
          model: held.model.id,
          results: outcome.results,
          usage: { prompt_tokens: tokens, total_tokens: tokens },
          cost_billed_brl: jsonBrl(billedNanoBrl),
        }),
      send: (text) => client.answer(text, held.limits),
    }
  },
}

function answerBytesOf({ resultCount }: ModerationRequest): number {
  return resultCount * RESULT_BYTES
}

function findModelFault(model: Model, { inputs }: ModerationRequest): string | undefined {
  if (!model.moderation) return `O modelo "${model.id}" não modera conteúdo; use o endpoint dele.`
  return model.imageTokensMax === 0 && inputs.some((input) => textOf(input) === undefined)
    ? `O modelo "${model.id}" só lê textos.`
    : undefined
}

/** Returns the text of an input; undefined for an image. */
function textOf(input: Input): string | undefined {
  if (typeof input === 'string') return input
  return input.type === 'text' ? input.text : undefined
}

function boundModeration(model: Model, { inputs }: ModerationRequest): CallBounds {
  const { contextTokens, imageTokensMax } = model
  const texts = inputs.map(textOf).filter((text) => text !== undefined)
  const sizes = texts.map((text) => Buffer.byteLength(text))
  const images = inputs.length - texts.length
  const promptTokensMax = sizes.reduce(
    (sum, size) => sum + Math.min(size + TOKENS_PER_INPUT, contextTokens),
    images * imageTokensMax,
  )
  const typical = sizes.reduce(
    (sum, size) => sum + Math.max(1, outputTokensTypical(size)),
    images * Math.min(IMAGE_TOKENS_TYPICAL, imageTokensMax),
  )
  const promptTokensEstimated = Math.min(typical, promptTokensMax)
  return {
    promptTokensMax,
    promptTokensEstimated,
    outputTokensMax: 0,
    choices: 1,
    tokensCounted: promptTokensEstimated,
    canLowerOutput: false,
  }
}

/** Most upstreams report no tokens. */
function usedBy(held: HeldCall<ModerationRequest>, { usage }: ModerationAnswer): Used {
  const reported = possibleUsage(held, usage, { promptTokens: 1 })
  return reported
    ? { counts: reported, kind: 'exact', reason: null }
    : estimated(
        { promptTokens: held.promptTokensEstimated, completionTokens: 0 },
        estimateReason(held, usage),
      )
}
