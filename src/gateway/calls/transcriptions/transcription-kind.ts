/** The transcriptions kind of call: speech to text, in its language or in English, billed by the second or by the audio token. */
import { operationOf, type Model } from '../../../money/catalog/model.ts'
import type { Price, UnitCounts } from '../../../money/catalog/prices.ts'
import { outputTokensLeast } from '../../../money/catalog/quote.ts'
import type { LeaseView } from '../../../money/ledger/lease.ts'
import type { Resolution } from '../../../money/ledger/resolution.ts'
import type {
  ChatStream,
  Provider,
  ReportedUsage,
  TranscriptionAnswer,
  UpstreamFailure,
} from '../../providers/contract.ts'
import { plainTokens } from '../../providers/plain-tokens.ts'
import { billedUsage, estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallBounds, CallKind, Ending, UpstreamTry } from '../call-kind.ts'
import type { OwnTime } from '../../../platform/admission/own-time.ts'
import type { AnsweredBy, HeldCall, Used } from '../call.ts'
import { chargeHeldCall, releaseHeldCall } from '../charge.ts'
import { beginStream } from '../chat/begin-stream.ts'
import { relayStream } from '../chat/relay-stream.ts'
import {
  BROKEN_REASONS,
  endingOf,
  type BegunStream,
  type RelayedStream,
} from '../chat/streamed-chat.ts'
import type { Client } from '../client.ts'
import type { RunningCall } from '../running-calls.ts'
import {
  readTranscription,
  type IncomingForm,
  type TranscriptFormat,
  type TranscriptionRequest,
  type TranscriptionTask,
  promptBytesOf,
} from './transcription-request.ts'
import {
  createTranscriptWriter,
  writeTranscript,
  writeTranscriptEvents,
} from './write-transcript.ts'
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
/** Twice as many as the fastest speech has. No more is relayed of a stream whose price has no limit of its tokens. */
const TEXT_TOKENS_PER_SECOND_MAX = 12
/**
 * The most bytes of a small file: some ten minutes of speech, whose words with their times take less than
 * `UNCOUNTED_BYTES`.
 */
const SMALL_FILE_BYTES = 512 * 1024

/** Makes the transcriptions kind. A stream waits for a slow client for at most half of `callTimeoutMs`, as a chat. */
export function createTranscriptionKind(
  defaultModelId: string,
  {
    time,
    lease,
    callTimeoutMs,
  }: { readonly time: OwnTime; readonly lease: LeaseView; readonly callTimeoutMs: number },
  task: TranscriptionTask = 'transcribe',
): CallKind<IncomingForm, TranscriptionRequest, TranscriptionAnswer | BegunStream> {
  return {
    operation: 'transcription',
    shieldRequest: shieldTranscriptionRequest,
    read: (form, { customerId }) => readTranscription(form, customerId, defaultModelId, time, task),
    findFault: findModelFault,
    bound: boundTranscription,
    mayBeLarge: ({ request }) => request.file.bytes > SMALL_FILE_BYTES,
    can: (provider) => provider[task] !== undefined,
    call: (provider, attempt) => transcribe(provider, attempt, task),
    async relay(held, { outcome }, answeredBy, client, running) {
      if (outcome.kind === 'stream') {
        const waitMsMax = callTimeoutMs / 2
        return relayEvents({ held, lease, stream: outcome, client, running, waitMsMax }, answeredBy)
      }
      const resolution = resolveAnswer(held, outcome, answeredBy())
      const { body, headers } = held.request.isStream
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
  provider: Provider,
  { held, upstreamModel, client, signal, takeBytes }: UpstreamTry<TranscriptionRequest>,
  task: TranscriptionTask,
): Promise<TranscriptionAnswer | BegunStream | UpstreamFailure> {
  const { file, fields, format, isStream } = held.request
  if (isStream) client.expectStream(held.limits)
  const call = {
    model: upstreamModel,
    file,
    fields,
    detail: needsTimestamps(held.request) ? ('segments' as const) : ('text' as const),
    // The format knows no streamed translations.
    stream:
      isStream && task === 'transcribe' ? { outputTokensMax: textTokensMax(held) } : undefined,
    callId: held.holdId,
    takeBytes,
  }
  const outcome = await (provider[task] as NonNullable<Provider['transcribe']>)(call, signal)
  if (outcome.kind === 'stream') return beginStream(outcome)
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

/** The most tokens that a stream may have. A price by the second holds none. */
function textTokensMax({ quote }: HeldCall): number {
  const seconds = quote.unitsMax?.audio_seconds ?? 0
  return Math.max(quote.outputTokensMax, seconds * TEXT_TOKENS_PER_SECOND_MAX)
}

/** The whole sound was sent, and is billed: a client that leaves cancels nothing. */
async function relayEvents(
  call: {
    held: HeldCall<TranscriptionRequest>
    lease: LeaseView
    stream: ChatStream
    client: Client
    running: RunningCall
    waitMsMax: number
  },
  answeredBy: () => AnsweredBy,
): Promise<Ending> {
  const { held, client } = call
  const writer = createTranscriptWriter()
  const relayed = await relayStream({ ...call, writer, tokensMax: textTokensMax(held) }, false)
  const resolution = resolveStream(held, relayed, answeredBy())
  return endingOf(relayed, resolution, writer, client)
}

function resolveAnswer(
  held: HeldCall<TranscriptionRequest>,
  { usage, text, durationSeconds }: TranscriptionAnswer,
  by: AnsweredBy,
): Resolution {
  const least = outputTokensLeast(Buffer.byteLength(text))
  const used =
    plausibleUsage(held, usage, least, by) ??
    estimateWhole(held, { usage, least, durationSeconds }, by)
  return chargeHeldCall(held, used, by)
}

/** As of a chat: what is reported, else the sound and the received text; nothing, if there was none. */
function resolveStream(
  held: HeldCall<TranscriptionRequest>,
  { ending, reported, hasFinished, outputTokensSeen: seen, outputTokensLeast }: RelayedStream,
  by: AnsweredBy,
): Resolution {
  const isReported = hasFinished && ending !== 'lapsed'
  const used = isReported ? plausibleUsage(held, reported, outputTokensLeast, by) : undefined
  if (used) return chargeHeldCall(held, used, by)
  if (ending === 'whole') {
    const answer = { usage: reported, least: outputTokensLeast }
    return chargeHeldCall(held, estimateWhole(held, answer, by), by)
  }
  const reason = BROKEN_REASONS[ending]
  if (seen === 0) return releaseHeldCall(held, reason, by)
  return chargeHeldCall(held, estimate(held, secondsOf(held), seen, by, reason), by)
}

function plausibleUsage(
  held: HeldCall,
  reported: ReportedUsage | undefined,
  leastTokens: number,
  { price }: AnsweredBy,
): Used | undefined {
  const isBySecond = price.units?.audio_seconds !== undefined
  // A file has a length, and a text has tokens.
  const least = {
    ...(isBySecond ? { audioSeconds: 1 } : {}),
    ...(isByToken(price) ? { completionTokens: leastTokens } : {}),
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

/** Where nothing tells how much was said, it is typical speech. */
function estimateWhole(
  held: HeldCall<TranscriptionRequest>,
  {
    usage,
    least,
    durationSeconds,
  }: {
    readonly usage: ReportedUsage | undefined
    readonly least: number
    readonly durationSeconds?: number | undefined
  },
  by: AnsweredBy,
): Used {
  const seconds = secondsOf(held, durationSeconds)
  const spoken = Math.min(seconds * TEXT_TOKENS_PER_SECOND, held.model.outputTokensMax)
  return estimate(held, seconds, Math.max(spoken, least), by, estimateReason(held, usage))
}

function secondsOf(
  { model, request }: HeldCall<TranscriptionRequest>,
  durationSeconds = 0,
): number {
  const { secondsMax, secondsTypical } = request.audioLength
  // A length that the file cannot have says nothing about it.
  const isPossible = durationSeconds > 0 && durationSeconds <= secondsWithin(model, secondsMax)
  return secondsWithin(model, isPossible ? Math.ceil(durationSeconds) : secondsTypical)
}

function estimate(
  { model }: HeldCall,
  seconds: number,
  textTokens: number,
  { price }: AnsweredBy,
  reason: string,
): Used {
  return {
    counts: {
      ...plainTokens(0, isByToken(price) ? textTokens : 0),
      units: unitsOf(model, price, seconds),
    },
    kind: 'estimated',
    reason,
  }
}
