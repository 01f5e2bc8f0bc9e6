import { AsyncLocalStorage } from 'node:async_hooks'
import type * as OpenTelemetry from '@opentelemetry/api'
import type { Attributes, Context, Span, SpanKind, Tracer } from '@opentelemetry/api'

export type { Attributes, Span }

/** The spans of calls. The span of a call is known to everything that the call awaits. */
export interface Spans {
  /** Runs `work` as one call. `traceparent`: the caller's header; only its ids are taken. */
  call(traceparent: string | undefined, work: (call: CallSpans) => Promise<void>): Promise<void>
  /** The spans of the call that runs now; undefined outside of calls. */
  current(): CallSpans | undefined
  currentIds(): { readonly traceId: string; readonly spanId: string } | undefined
}

export interface CallSpans {
  readonly span: Span
  /** Begins a part of the call; `upstream`: a request to another service. */
  begin(name: string, attributes?: Attributes, kind?: 'internal' | 'upstream'): Span
  /** Ends a span as failed, with a word of the code: never with the text of an error, which may quote a request. */
  fail(span: Span, reason: string): void
}

/** W3C trace context, version 00; a later version begins with the same fields. */
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-|$)/

type Api = typeof OpenTelemetry

export function createSpans(api: Api, tracer: Tracer): Spans {
  const running = new AsyncLocalStorage<CallSpans>()
  const kinds: Record<'internal' | 'upstream', SpanKind> = {
    internal: api.SpanKind.INTERNAL,
    upstream: api.SpanKind.CLIENT,
  }

  function contextOf(traceparent: string | undefined): Context {
    const [, traceId, spanId] = TRACEPARENT.exec(traceparent ?? '') ?? []
    if (!traceId || !spanId) return api.ROOT_CONTEXT
    const caller = { traceId, spanId, traceFlags: api.TraceFlags.NONE, isRemote: true }
    return api.trace.setSpanContext(api.ROOT_CONTEXT, caller)
  }

  return {
    async call(traceparent, work) {
      const span = tracer.startSpan('call', { kind: api.SpanKind.SERVER }, contextOf(traceparent))
      const inside = api.trace.setSpan(api.ROOT_CONTEXT, span)
      const call: CallSpans = {
        span,
        begin: (name, attributes = {}, kind = 'internal') =>
          tracer.startSpan(name, { attributes, kind: kinds[kind] }, inside),
        fail(failed, reason) {
          failed.setAttribute('error.type', reason)
          failed.setStatus({ code: api.SpanStatusCode.ERROR, message: reason })
        },
      }
      try {
        await running.run(call, () => work(call))
      } catch (error) {
        call.fail(span, 'internal_error')
        throw error
      } finally {
        span.end()
      }
    },
    current: () => running.getStore(),
    currentIds() {
      const context = running.getStore()?.span.spanContext()
      return context && { traceId: context.traceId, spanId: context.spanId }
    },
  }
}
