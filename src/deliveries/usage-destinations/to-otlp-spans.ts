/**
 * Charges as spans, in the body that OTLP over HTTP takes as JSON (`ExportTraceServiceRequest`). Attributes follow
 * OpenTelemetry's conventions for generative AI, and Langfuse's own where it reads others. The ids of a span follow from
 * its charge, so a repeated charge is the same span. Nothing names an upstream.
 */
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { ModelCategory } from '../../money/catalog/model.ts'
import { toMilliseconds } from '../../platform/db/exact-time.ts'
import { sha256 } from '../../platform/lib/ids.ts'
import {
  billedPicoUsd,
  decimalBrl,
  decimalUsd,
  jsonBrl,
  jsonE4,
  jsonUsd,
  type ExactNumber,
} from '../../platform/lib/money.ts'
import type { DestinationKind } from './destination-access.ts'
import type { SentEvent } from './read-unsent.ts'
import { NO_EVENT } from './usage-destinations.ts'

/** The texts of a call whose customer asked for them, as JSON. */
export interface SpanContent {
  readonly input?: string
  readonly output?: string
  /** Why it is not there. */
  readonly omitted?: 'too_large' | 'unreadable'
}

export interface SpanOptions {
  readonly kind: DestinationKind
  readonly catalog: Pick<Catalog, 'findModel'>
  /** By the ids of the charges. */
  readonly contents?: ReadonlyMap<string, SpanContent>
}

type Value = string | boolean | { readonly int: number } | { readonly double: ExactNumber }
/** Those without a value are left out. */
type Attributes = Readonly<Record<string, Value | null | undefined>>

/** `SPAN_KIND_CLIENT` */
const CLIENT = 3
const SERVICE = 'catraca'

export function toOtlpSpans(events: readonly SentEvent[], options: SpanOptions): string {
  return writeSpans(events.map((event) => toSpan(event, options)))
}

/** Returns the span of a test: it costs nothing. */
export function testSpan(kind: DestinationKind, id: string, at: Date): string {
  const time = nanos(at.getTime(), 0)
  const attributes = {
    'catraca.test': true,
    ...(kind === 'langfuse'
      ? { 'langfuse.observation.type': 'event', 'langfuse.trace.name': 'catraca test' }
      : {}),
  }
  return writeSpans([
    {
      traceId: id.replaceAll('-', ''),
      spanId: spanIdOf(id),
      name: 'catraca test',
      kind: CLIENT,
      startTimeUnixNano: time,
      endTimeUnixNano: time,
      attributes: written(attributes),
    },
  ])
}

function writeSpans(spans: readonly object[]): string {
  const resource = { attributes: written({ 'service.name': SERVICE }) }
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: SERVICE }, spans }] }],
  })
}

function toSpan(event: SentEvent, options: SpanOptions): object {
  const model = options.catalog.findModel(event.modelId)
  const operation = OPERATIONS[model?.category ?? 'llm']
  return {
    traceId: traceIdOf(event),
    spanId: spanIdOf(event.id),
    name: `${event.correctsId === null ? operation : 'correction'} ${event.modelId}`,
    kind: CLIENT,
    startTimeUnixNano: exactNanos(event.createdAt, 0),
    endTimeUnixNano: exactNanos(event.createdAt, event.durationMs ?? 0),
    attributes: written({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': model?.vendor,
      'gen_ai.request.model': event.modelId,
      'gen_ai.response.model': event.modelId,
      'gen_ai.conversation.id': event.sessionId,
      'gen_ai.usage.input_tokens': int(event.promptTokens),
      'gen_ai.usage.output_tokens': int(event.completionTokens),
      'gen_ai.usage.cache_read.input_tokens': int(event.cachedTokens),
      'gen_ai.usage.cache_creation.input_tokens': int(event.cacheWriteTokens),
      'gen_ai.usage.reasoning.output_tokens': int(event.reasoningTokens),
      'session.id': event.sessionId,
      ...chargeAttributes(event),
      ...contentAttributes(options.contents?.get(event.id)),
      ...(options.kind === 'langfuse' ? langfuseAttributes(event, operation) : {}),
    }),
  }
}

/** What `GET /usage` says of the charge. */
function chargeAttributes(event: SentEvent): Attributes {
  return {
    'catraca.event_id': event.id,
    'catraca.request_id': event.requestId,
    'catraca.outcome': 'charged',
    'catraca.corrects_id': event.correctsId,
    'catraca.api_key_id': event.apiKeyId,
    'catraca.api_key_name': event.apiKeyName,
    'catraca.team_id': event.teamId,
    'catraca.stream': event.isStream,
    'catraca.first_byte_ms': event.firstByteMs === null ? null : int(event.firstByteMs),
    'catraca.usage_kind': event.usageKind,
    'catraca.units': event.units && JSON.stringify(event.units),
    'catraca.cost_billed_brl': { double: jsonBrl(event.costBilledNanoBrl) },
    'catraca.cost_billed_brl_decimal': decimalBrl(event.costBilledNanoBrl),
    'catraca.cost_upstream_usd': { double: jsonUsd(event.costUpstreamPicoUsd) },
    'catraca.cost_upstream_usd_decimal': decimalUsd(event.costUpstreamPicoUsd),
    'catraca.fx_rate': { double: jsonE4(event.fxRateE4) },
    'catraca.markup_multiplier': { double: jsonE4(event.markupE4) },
  }
}

function contentAttributes({ input, output, omitted }: SpanContent = {}): Attributes {
  return {
    'gen_ai.input.messages': input,
    'gen_ai.output.messages': output,
    'catraca.content_omitted': omitted,
  }
}

/** Langfuse reads these before all others. It knows costs in USD alone, and no negative ones. */
function langfuseAttributes(event: SentEvent, operation: string): Attributes {
  const { isReversal, firstByteMs, createdAt } = event
  return {
    'langfuse.trace.name': `${operation} ${event.modelId}`,
    'langfuse.trace.metadata.api_key_id': event.apiKeyId,
    'langfuse.trace.metadata.api_key_name': event.apiKeyName,
    'langfuse.trace.metadata.team_id': event.teamId,
    'langfuse.session.id': event.sessionId,
    'langfuse.observation.model.name': event.modelId,
    ...(isReversal
      ? {
          'langfuse.observation.type': 'event',
          'langfuse.observation.level': 'WARNING',
          'langfuse.observation.status_message': `reverses the charge ${event.correctsId}`,
        }
      : {
          'langfuse.observation.type': operation === 'embeddings' ? 'embedding' : 'generation',
          'langfuse.observation.usage_details': JSON.stringify(usageDetails(event)),
          'langfuse.observation.cost_details': JSON.stringify({
            total: jsonUsd(billedPicoUsd(event.costUpstreamPicoUsd, event.markupE4)),
          }),
        }),
    'langfuse.observation.completion_start_time':
      event.isStream && firstByteMs !== null
        ? new Date(Date.parse(toMilliseconds(createdAt)) + firstByteMs).toISOString()
        : null,
  }
}

/** Langfuse adds up its kinds of usage, so none contains another one. */
function usageDetails(event: SentEvent): Record<string, number> {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } = event
  const parts = {
    input_cached_tokens: cachedTokens,
    input_cache_creation: cacheWriteTokens,
    output_reasoning_tokens: reasoningTokens,
    ...event.units,
  }
  return {
    input: promptTokens - cachedTokens - cacheWriteTokens,
    output: completionTokens - reasoningTokens,
    ...Object.fromEntries(Object.entries(parts).filter(([, used]) => used !== 0)),
    total: promptTokens + completionTokens,
  }
}

/** The convention's names. */
const OPERATIONS: Readonly<Record<ModelCategory, string>> = {
  llm: 'chat',
  embedding: 'embeddings',
  image: 'generate_content',
  video: 'generate_content',
  audio: 'transcription',
}

function int(value: number): Value {
  return { int: value }
}

function written(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: typed(value) }],
  )
}

/** Whole numbers are JSON numbers, which OTLP allows: Langfuse up to 3 reads those in texts as no number. */
function typed(value: Value): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return 'int' in value ? { intValue: value.int } : { doubleValue: value.double }
}

/** All charges of one request are one trace. Its id may be the client's (`x-svc-request-id`), so it may be all zeros. */
function traceIdOf({ requestId, id }: SentEvent): string {
  return (requestId === NO_EVENT ? id : requestId).replaceAll('-', '')
}

function spanIdOf(id: string): string {
  return sha256(`span ${id}`).subarray(0, 8).toString('hex')
}

/** Nanoseconds since 1970: as text, because a double cannot hold them. */
function exactNanos(exact: string, laterMs: number): string {
  const micros = Number(exact.slice(23, 26))
  return nanos(Date.parse(toMilliseconds(exact)) + laterMs, micros)
}

function nanos(ms: number, micros: number): string {
  return String(BigInt(ms) * 1_000_000n + BigInt(micros) * 1_000n)
}
