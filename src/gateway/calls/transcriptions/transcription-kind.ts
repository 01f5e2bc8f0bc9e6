/** The transcriptions kind of call: speech to text, in its language or in English, billed by the second or by the audio token. */
import { operationOf, type Model } from '../../../money/catalog/model.ts'
import type { Price, UnitCounts } from '../../../money/catalog/prices.ts'
import { outputTokensLeast } from '../../../money/catalog/quote.ts'
import type { Provider, TranscriptionAnswer, UpstreamFailure } from '../../providers/contract.ts'
import { plainTokens } from '../../providers/plain-tokens.ts'
import { billedUsage, estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallBounds, CallKind, UpstreamTry } from '../call-kind.ts'
import type { OwnTime } from '../../../platform/admission/own-time.ts'
import type { AnsweredBy, HeldCall, Used } from '../call.ts'
import { chargeHeldCall } from '../charge.ts'
import {
  readTranscription,
  type IncomingForm,
  type TranscriptFormat,
  type TranscriptionRequest,
  type TranscriptionTask,
  promptBytesOf,
} from './transcription-request.ts'
import { writeTranscript, writeTranscriptEvents } from './write-transcript.ts'
import { createTextShield, type ShieldRequest } from '../shield/text-shield.ts'

/** Reads the fields and the name of the file; the speech is not read. */
const shieldTranscriptionRequest: ShieldRequest<TranscriptionRequest> = (request, options) => {
  const shield = createTextShield(options)
  const fields = request.fields.map(([name, value]) => [name, shield.read(name, value)] as const)
  const name = shield.read('file', request.file.name)
  return shield.outcome({
    ...request,
    fields,
    file: name === request.file.name ? request.file : { ...request.file, name },
    promptBytes: promptBytesOf(fields),
  })
}

/** Tokens that a model adds around the prompt, with a margin. */
const TEMPLATE_TOKENS = 64
/** Output tokens per second of speech, for estimates only. */
const TEXT_TOKENS_PER_SECOND = 4
/**
 * The most bytes of a small file: some ten minutes of speech, whose words with their times take less than
 * `UNCOUNTED_BYTES`.
 */
const SMALL_FILE_BYTES = 512 * 1024

export function createTranscriptionKind(
  defaultModelId: string,
  time: OwnTime,
  task: TranscriptionTask = 'transcribe',
): CallKind<IncomingForm, TranscriptionRequest, TranscriptionAnswer> {
  return {
    operation: 'transcription',
    shieldRequest: shieldTranscriptionRequest,
    read: (form, { customerId }) => readTranscription(form, customerId, defaultModelId, time, task),
    findFault: findModelFault,
    bound: boundTranscription,
    mayBeLarge: ({ request }) => request.file.bytes > SMALL_FILE_BYTES,
    can: (provider) => provider[task] !== undefined,
    call: (provider, attempt) =>
      transcribe(provider[task] as NonNullable<Provider['transcribe']>, attempt),
    async relay(held, { outcome }, answeredBy, client) {
      const by = answeredBy()
      const used = plausibleUsage(held, outcome, by) ?? estimate(held, outcome, by)
      const resolution = chargeHeldCall(held, used, by)
      const { body, headers } = held.request.wantsEvents
        ? writeTranscriptEvents(outcome, resolution)
        : writeTranscript(held.request.format, outcome, resolution, task)
      return {
        resolution,
        write: () => body,
        send: (text) => client.answer(text, held.limits, headers),
      }
    },
    dispose: ({ file }) => file.dispose(),
  }
}

async function transcribe(
  send: NonNullable<Provider['transcribe']>,
  { held, upstreamModel, signal, takeBytes }: UpstreamTry<TranscriptionRequest>,
): Promise<TranscriptionAnswer | UpstreamFailure> {
  const { file, fields, format } = held.request
  const call = {
    model: upstreamModel,
    file,
    fields,
    detail: needsTimestamps(held.request) ? ('segments' as const) : ('text' as const),
    callId: held.holdId,
    takeBytes,
  }
  const outcome = await send(call, signal)
  const isLacking =
    outcome.kind === 'transcription' && isOfCues(format) && outcome.segments === undefined
  return isLacking
    ? { kind: 'failure', reason: 'bad_answer', detail: 'the transcript has no times' }
    : outcome
}

function needsTimestamps({ format }: TranscriptionRequest): boolean {
  return format === 'verbose_json' || isOfCues(format)
}

function isOfCues(format: TranscriptFormat): boolean {
  return format === 'srt' || format === 'vtt'
}

function findModelFault(model: Model, request: TranscriptionRequest): string | undefined {
  const { id, audio } = model
  if (operationOf(model) !== 'transcriptions' || !audio)
    return `O modelo "${id}" não transcreve áudio; use o endpoint da categoria dele.`
  if (!audio.hasTimestamps && needsTimestamps(request))
    return `O modelo "${id}" não informa tempos: use response_format json ou text.`
  return undefined
}

function boundTranscription(
  model: Model,
  { audioLength, promptBytes }: TranscriptionRequest,
): CallBounds {
  const seconds = secondsWithin(model, audioLength.secondsMax)
  return {
    promptTokensMax: promptBytes + TEMPLATE_TOKENS,
    promptTokensEstimated: 0,
    outputTokensMax: isByToken(model.price) ? model.outputTokensMax : 0,
    choices: 1,
    unitsMax: unitsOf(model, model.price, seconds),
    tokensCounted: 0,
    canLowerOutput: false,
  }
}

/** The seconds that the model bills: at least its minimum, at most the longest file that it accepts. */
function secondsWithin({ audio }: Model, seconds: number): number {
  const { secondsMin = 0, secondsMax = Infinity } = audio ?? {}
  return Math.min(Math.max(seconds, secondsMin), secondsMax)
}

/** Converts seconds to the units of the price. */
function unitsOf({ audio, contextTokens }: Model, price: Price, seconds: number): UnitCounts {
  const perSecond = audio?.tokensPerSecondMax
  return {
    ...(price.units?.audio_seconds === undefined ? {} : { audio_seconds: seconds }),
    ...(isByToken(price)
      ? { input_audio_tokens: perSecond ? seconds * perSecond : contextTokens }
      : {}),
  }
}

function isByToken({ units }: Price): boolean {
  return units?.input_audio_tokens !== undefined
}

function plausibleUsage(
  held: HeldCall,
  { usage: reported, text }: TranscriptionAnswer,
  { price }: AnsweredBy,
): Used | undefined {
  const isBySecond = price.units?.audio_seconds !== undefined
  // A file has a length, and a text has tokens.
  const least = {
    ...(isBySecond ? { audioSeconds: 1 } : {}),
    ...(isByToken(price) ? { completionTokens: outputTokensLeast(Buffer.byteLength(text)) } : {}),
  }
  const usage = possibleUsage(held, reported, least)
  if (!usage) return undefined
  const counts = billedUsage(held.model, price, usage)
  const { audio_seconds: seconds, input_audio_tokens: tokens } = counts.units ?? {}
  // A report that lacks the units that the price bills is ignored.
  const isBilled =
    (!isBySecond || seconds !== undefined) && (!isByToken(price) || tokens !== undefined)
  return isBilled ? { counts, kind: 'exact', reason: null } : undefined
}

function estimate(
  held: HeldCall<TranscriptionRequest>,
  { durationSeconds = 0, usage, text }: TranscriptionAnswer,
  { price }: AnsweredBy,
): Used {
  const { model, request } = held
  const { secondsMax, secondsTypical } = request.audioLength
  // A length that the file cannot have says nothing about it.
  const isPossible = durationSeconds > 0 && durationSeconds <= secondsWithin(model, secondsMax)
  const seconds = secondsWithin(model, isPossible ? Math.ceil(durationSeconds) : secondsTypical)
  const spoken = Math.min(seconds * TEXT_TOKENS_PER_SECOND, model.outputTokensMax)
  const textTokens = Math.max(spoken, outputTokensLeast(Buffer.byteLength(text)))
  return {
    counts: {
      ...plainTokens(0, isByToken(price) ? textTokens : 0),
      units: unitsOf(model, price, seconds),
    },
    kind: 'estimated',
    reason: estimateReason(held, usage),
  }
}
