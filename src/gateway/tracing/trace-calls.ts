/**
 * Puts spans around the parts of a call: admit, hold, each try of an upstream, relay and settle. The money path knows
 * nothing of it. Attributes follow OpenTelemetry's conventions for generative AI; prompts, answers, keys and customers
 * are never among them.
 */
import type { GatewayObserver, Step } from '../calls/gateway-parts.ts'
import type { ServeCall } from '../calls/serve-call.ts'
import type { CallSpans, Span, Spans } from './spans.ts'

/** The attributes of the steps. */
const NAMES: Readonly<Record<string, string>> = {
  holdId: 'catraca.hold_id',
  modelId: 'gen_ai.request.model',
  verdict: 'catraca.verdict',
  outcome: 'catraca.outcome',
  usageKind: 'catraca.usage',
  reason: 'catraca.reason',
  resolved: 'catraca.resolved',
  status: 'http.response.status_code',
}

export function tracedServeCall<Body>(spans: Spans, serveCall: ServeCall<Body>): ServeCall<Body> {
  return (incoming, client) =>
    spans.call(incoming.traceparent, async (call) => {
      call.span.setAttribute('catraca.request_id', incoming.requestId)
      if (incoming.facts) incoming.facts.traceId = call.span.spanContext().traceId
      await serveCall(incoming, client)
    })
}

/** Returns the same observer with a span for each step. */
export function tracedObserver(spans: Spans, observer: GatewayObserver): GatewayObserver {
  return {
    ...observer,
    begin(name) {
      const call = spans.current()
      return call && stepOf(call, call.begin(name))
    },
    beginTry({ operation, vendor, upstreamId, upstreamModel }) {
      const call = spans.current()
      if (!call) return undefined
      const attributes = {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': vendor,
        'gen_ai.request.model': upstreamModel,
        'catraca.upstream': upstreamId,
      }
      return stepOf(call, call.begin(`${operation} ${upstreamModel}`, attributes, 'upstream'))
    },
    answered(facts) {
      observer.answered(facts)
      const { modelId, status, isStream } = facts
      spans.current()?.span.setAttributes({
        'http.response.status_code': status,
        'gen_ai.request.model': modelId,
        'catraca.stream': isStream,
      })
    },
    refused(facts) {
      observer.refused(facts)
      const call = spans.current()
      if (!call) return
      const { modelId, status, code, isStream } = facts
      call.span.setAttributes({ 'http.response.status_code': status, 'catraca.stream': isStream })
      if (modelId !== undefined) call.span.setAttribute('gen_ai.request.model', modelId)
      if (status >= 500) call.fail(call.span, code)
      else call.span.setAttribute('error.type', code)
    },
  }
}

function stepOf(call: CallSpans, span: Span): Step {
  return {
    set({ promptTokens, completionTokens, ...facts }) {
      for (const [name, value] of Object.entries(facts)) {
        const attribute = NAMES[name]
        if (attribute !== undefined && value !== '') span.setAttribute(attribute, value)
      }
      if (
        facts.outcome === 'charged' &&
        promptTokens !== undefined &&
        completionTokens !== undefined
      )
        call.span.setAttributes({
          'gen_ai.usage.input_tokens': promptTokens,
          'gen_ai.usage.output_tokens': completionTokens,
        })
    },
    fail: (reason) => call.fail(span, reason),
    end: () => span.end(),
  }
}
