/** The speech kind of call: text to sound, billed by the character or by the tokens of the sound. */
import type { Model } from '../../../money/catalog/model.ts'
import type { Price } from '../../../money/catalog/prices.ts'
import { outputTokensTypical } from '../../../money/catalog/quote.ts'
import type { Resolution } from '../../../money/ledger/resolution.ts'
import { beyond } from '../../../platform/admission/share.ts'
import { decimalBrl, jsonBrl } from '../../../platform/lib/money.ts'
import type { Provider, SpeechAnswer } from '../../providers/contract.ts'
import { plainTokens } from '../../providers/plain-tokens.ts'
import { billedUsage, estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallBounds, CallKind } from '../call-kind.ts'
import type { HeldCall, Used } from '../call.ts'
import { chargeHeldCall } from '../charge.ts'
import { EVENT_STREAM, type Client } from '../client.ts'
import { createTextShield, type ShieldRequest } from '../shield/text-shield.ts'
import {
  charactersOf,
  readSpeechRequest,
  type SpeechFormat,
  type SpeechRequest,
} from './speech-request.ts'

/** What was masked is spoken as its placeholder. */
const shieldSpeechRequest: ShieldRequest<SpeechRequest> = (request, options) => {
  const shield = createTextShield(options)
  const body = shield.readFields(request.body)
  return shield.outcome({ ...request, body, input: body.input as string })
}

/** Tokens that a model adds around the text, with a margin. */
const TEMPLATE_TOKENS = 64
/** OpenAI's have 20; with a margin. */
const TOKENS_PER_SECOND_MAX = 25
/** A digit that is read as a word takes half a second, and so does any other byte at most. */
const SECONDS_PER_BYTE_MAX = 0.5
const SILENCE_SECONDS_MAX = 10
/** Instructions may ask for slow speech. */
const SLOWEST_BY_INSTRUCTIONS = 0.25
/** For estimates only. */
const TOKENS_PER_SECOND = 20
const CHARACTERS_PER_SECOND = 15
/** Of 24,000 samples of two bytes: the sound whose length its size tells. */
const PCM_BYTES_PER_SECOND = 48_000
/** Of a compressed sound at the bit rate of most makers. */
const COMPRESSED_BYTES_PER_SECOND = 16_000
/** Of a sound with the bit rates that makers use, for each character. */
const BYTES_PER_CHARACTER = { pcm: 4_000, wav: 4_000, other: 2_000 }

export const speechKind: CallKind<Buffer, SpeechRequest, SpeechAnswer> = {
  operation: 'speech',
  shieldRequest: shieldSpeechRequest,
  read: readSpeechRequest,
  findFault: ({ id, speech }) =>
    speech ? undefined : `O modelo "${id}" não fala; use o endpoint da categoria dele.`,
  bound: boundSpeech,
  answerBytesMax: (_model, request) => bytesTypical(request),
  mayBeLarge: () => true,
  can: (provider) => provider.speak !== undefined,
  call: (provider, { held, upstreamModel, signal, takeBytes }) =>
    (provider.speak as NonNullable<Provider['speak']>)(
      {
        body: { ...held.request.body, model: upstreamModel },
        // Only events report the tokens, and models billed by characters have none.
        wantsUsage: !isByCharacter(held.model.price),
        callId: held.holdId,
        takeBytes: beyond(bytesTypical(held.request), takeBytes),
      },
      signal,
    ),
  async relay(held, { outcome }, answeredBy, client) {
    const by = answeredBy()
    const resolution = chargeHeldCall(held, usedBy(held, outcome, by.price), by)
    return {
      resolution,
      write: () => '',
      send: () => sendSpeech(held, outcome, resolution, client),
    }
  },
}

function isByCharacter({ units }: Price): boolean {
  return units?.characters !== undefined
}

function boundSpeech(model: Model, { body, input, speed }: SpeechRequest): CallBounds {
  if (isByCharacter(model.price))
    return { ...NO_TOKENS, unitsMax: { characters: charactersOf(input) } }
  const bytes = Buffer.byteLength(input)
  const texts = bytes + Buffer.byteLength((body.instructions as string | null | undefined) ?? '')
  const slowest = Math.min(speed, 1) * (body.instructions ? SLOWEST_BY_INSTRUCTIONS : 1)
  // A slow voice is silent for longer, too.
  const seconds = (bytes * SECONDS_PER_BYTE_MAX + SILENCE_SECONDS_MAX) / slowest
  const tokens = Math.min(Math.ceil(seconds * TOKENS_PER_SECOND_MAX), model.outputTokensMax)
  const isOfUnits = model.price.units?.output_audio_tokens !== undefined
  const promptTokensEstimated = outputTokensTypical(texts)
  return {
    ...NO_TOKENS,
    promptTokensMax: texts + TEMPLATE_TOKENS,
    promptTokensEstimated,
    ...(isOfUnits ? { unitsMax: { output_audio_tokens: tokens } } : { outputTokensMax: tokens }),
    tokensCounted: promptTokensEstimated,
  }
}

const NO_TOKENS: CallBounds = {
  promptTokensMax: 0,
  promptTokensEstimated: 0,
  outputTokensMax: 0,
  choices: 1,
  tokensCounted: 0,
  canLowerOutput: false,
}

function usedBy(held: HeldCall<SpeechRequest>, { usage, audio }: SpeechAnswer, price: Price): Used {
  const { input, format, speed } = held.request
  if (isByCharacter(price)) {
    const units = { characters: charactersOf(input) }
    return { counts: { ...plainTokens(0, 0), units }, kind: 'exact', reason: null }
  }
  const reported = possibleUsage(held, usage, { promptTokens: 1, completionTokens: 1 })
  if (reported)
    return { counts: billedUsage(held.model, price, reported), kind: 'exact', reason: null }
  const isPlain = format === 'pcm' || format === 'wav'
  const seconds = isPlain
    ? audio.length / PCM_BYTES_PER_SECOND
    : Math.max(
        audio.length / COMPRESSED_BYTES_PER_SECOND,
        charactersOf(input) / CHARACTERS_PER_SECOND / speed,
      )
  const spoken = plainTokens(held.promptTokensEstimated, Math.ceil(seconds * TOKENS_PER_SECOND))
  return {
    counts: billedUsage(held.model, price, spoken),
    kind: 'estimated',
    reason: estimateReason(held, usage),
  }
}

function bytesTypical({ input, format, speed, wantsEvents }: SpeechRequest): number {
  const each =
    format === 'pcm' || format === 'wav' ? BYTES_PER_CHARACTER.pcm : BYTES_PER_CHARACTER.other
  const bytes = 64 * 1024 + (charactersOf(input) * each) / Math.min(speed, 1)
  // Beside the sound, its base64.
  return Math.ceil(wantsEvents ? bytes * 2.5 : bytes)
}

const MEDIA_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

function sendSpeech(
  { request, limits }: HeldCall<SpeechRequest>,
  { audio }: SpeechAnswer,
  charged: Resolution,
  client: Client,
): void {
  const cost = { 'x-svc-cost-billed-brl': decimalBrl(charged.billedNanoBrl) }
  if (!request.wantsEvents)
    return client.answer(audio, limits, { 'content-type': MEDIA_TYPES[request.format], ...cost })
  const units = JSON.parse(charged.units ?? '{}') as Record<string, number>
  const output = charged.completionTokens + (units.output_audio_tokens ?? 0)
  const done = {
    type: 'speech.audio.done',
    usage: {
      input_tokens: charged.promptTokens,
      output_tokens: output,
      total_tokens: charged.promptTokens + output,
    },
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  }
  const delta = `{"type":"speech.audio.delta","audio":"${audio.toString('base64')}"}`
  client.answer(`data: ${delta}\n\ndata: ${JSON.stringify(done)}\n\n`, limits, {
    'content-type': EVENT_STREAM,
    ...cost,
  })
}
