/**
 * Puts spans around the parts of a call: admit, hold, each try of an upstream, relay and settle. The money path knows
 * nothing of it. Attributes follow OpenTelemetry's conventions for generative AI; prompts, answers, keys and customers
 * are never among them.
 */
import type { CallKind } from '../calls/call-kind.ts'
import type { CallRequest } from '../calls/call.ts'
import type { GatewayDeps, GatewayObserver } from '../calls/gateway-deps.ts'
import type { ServeCall } from '../calls/serve-call.ts'
import type { Ledger } from '../../money/ledger/open-ledger.ts'
import type { Provider, UpstreamFailure } from '../providers/contract.ts'
import type { CallSpans, Spans } from './spans.ts'

/** The convention's names of the operations. */
export type Operation = 'chat' | 'embeddings' | 'generate_content' | 'transcription'

export function tracedGateway(spans: Spans, deps: GatewayDeps): GatewayDeps {
  return {
    ...deps,
    ledger: tracedLedger(spans, deps.ledger),
    observer: tracedObserver(spans, deps.observer),
  }
}

export function tracedServeCall<Body>(spans: Spans, serveCall: ServeCall<Body>): ServeCall<Body> {
  return (incoming, client) =>
    spans.call(incoming.traceparent, async (call) => {
      call.span.setAttribute('catraca.request_id', incoming.requestId)
      if (incoming.facts) incoming.facts.traceId = call.span.spanContext().traceId
      call.admit = call.begin('admit')
      await serveCall(incoming, client)
    })
}

function tracedLedger(spans: Spans, ledger: Ledger): Ledger {
  const parts: Pick<Ledger, 'hold' | 'resolve'> = {
    async hold(attempt) {
      const call = spans.current()
      if (!call) return ledger.hold(attempt)
      const span = call.begin('hold', {
        'catraca.hold_id': attempt.id,
        'gen_ai.request.model': attempt.modelId,
      })
      const verdict = await ledger.hold(attempt)
      span.setAttribute('catraca.verdict', verdict.kind)
      if (verdict.kind === 'unavailable') call.fail(span, verdict.kind)
      span.end()
      return verdict
    },
    async resolve(resolution, running) {
      const call = spans.current()
      if (!call) return ledger.resolve(resolution, running)
      const span = call.begin('settle', {
        'catraca.hold_id': resolution.id,
        'catraca.outcome': resolution.outcome,
        'catraca.usage': resolution.usageKind,
        ...(resolution.reason === null ? {} : { 'catraca.reason': resolution.reason }),
      })
      if (resolution.outcome === 'charged')
        call.span.setAttributes({
          'gen_ai.usage.input_tokens': resolution.promptTokens,
          'gen_ai.usage.output_tokens': resolution.completionTokens,
        })
      const resolved = await ledger.resolve(resolution, running)
      span.setAttribute('catraca.resolved', resolved.kind)
      if (resolved.kind === 'unavailable' || resolved.kind === 'missing')
        call.fail(span, resolved.kind)
      span.end()
      return resolved
    },
  }
  // The rest stays the ledger's own, with the getters that read its state.
  return Object.assign(Object.create(ledger) as Ledger, parts)
}

function tracedObserver(spans: Spans, observer: GatewayObserver): GatewayObserver {
  return {
    ...observer,
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

export function tracedKind<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  spans: Spans,
  operation: Operation,
  providers: ReadonlyMap<string, Provider>,
  kind: CallKind<Body, Request, Outcome>,
): CallKind<Body, Request, Outcome> {
  const ids = new Map([...providers].map(([id, provider]) => [provider, id]))
  return {
    ...kind,
    bound(model, request, among) {
      const call = spans.current()
      call?.admit?.end()
      if (call) call.admit = undefined
      return kind.bound(model, request, among)
    },
    async call(provider, attempt) {
      const call = spans.current()
      if (!call) return kind.call(provider, attempt)
      const { held, upstreamModel } = attempt
      const attributes = {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': held.model.vendor,
        'gen_ai.request.model': upstreamModel,
        'catraca.upstream': ids.get(provider) ?? '',
      }
      const span = call.begin(`${operation} ${upstreamModel}`, attributes, 'upstream')
      try {
        const outcome = await kind.call(provider, attempt)
        if (isFailure(outcome)) failTry(call, span, outcome)
        return outcome
      } catch (error) {
        call.fail(span, 'internal_error')
        throw error
      } finally {
        span.end()
      }
    },
    async relay(held, called, answeredBy, client, running) {
      const call = spans.current()
      const span = call?.begin('relay')
      try {
        const ending = await kind.relay(held, called, answeredBy, client, running)
        if (ending.brokenBy && call && span) call.fail(span, ending.brokenBy.reason)
        return ending
      } finally {
        span?.end()
      }
    },
  }
}

function failTry(
  call: CallSpans,
  span: CallSpans['span'],
  { reason, status }: UpstreamFailure,
): void {
  if (status !== undefined) span.setAttribute('http.response.status_code', status)
  call.fail(span, reason)
}

function isFailure(outcome: { kind: string }): outcome is UpstreamFailure {
  return outcome.kind === 'failure'
}
