/**
 * Traces by OpenTelemetry's own libraries. They are loaded here and nowhere else, and only if the operator asks for
 * traces: without them the calls run the same code as if this folder did not exist.
 */
import type { Log, LogFacts } from '../../platform/lib/log.ts'
import { createSpans, type Spans } from './spans.ts'

export interface TracingSettings {
  readonly exporter: 'otlp' | 'console'
  /** The address of the collector, without `/v1/traces`. */
  readonly endpoint: string
  /** The part of the calls that is traced, decided here: a caller cannot ask for it. */
  readonly ratio: number
  readonly serviceName: string
}

export interface Tracing {
  readonly spans: Spans
  /** Returns a log that adds the ids of the current trace to its lines. */
  withIds(log: Log): Log
  /** Sends the spans that wait. Never rejects: an unavailable collector holds up no stop. */
  close(): Promise<void>
}

export async function openTracing(settings: TracingSettings, version: string): Promise<Tracing> {
  const [api, sdk, resources, otlp] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ])
  const exporter =
    settings.exporter === 'console'
      ? new sdk.ConsoleSpanExporter()
      : new otlp.OTLPTraceExporter({ url: `${settings.endpoint.replace(/\/$/, '')}/v1/traces` })
  // By chance, not by the trace's id: a caller chooses the id, and so could have every call traced.
  const { RECORD_AND_SAMPLED, NOT_RECORD } = sdk.SamplingDecision
  const decide = {
    shouldSample: () => ({
      decision: Math.random() < settings.ratio ? RECORD_AND_SAMPLED : NOT_RECORD,
    }),
    toString: () => `chance of ${settings.ratio}`,
  }
  const provider = new sdk.TracerProvider({
    // The request decides; its parts follow it. The flag of a caller's trace is not asked.
    sampler: new sdk.ParentBasedSampler({
      root: decide,
      remoteParentSampled: decide,
      remoteParentNotSampled: decide,
    }),
    resource: resources.resourceFromAttributes({
      'service.name': settings.serviceName,
      'service.version': version,
    }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  const spans = createSpans(api, provider.getTracer('catraca', version))
  return {
    spans,
    withIds: (log) => tracedLog(log, () => spans.currentIds()),
    close: () => provider.shutdown().catch(() => {}),
  }
}

/** Adds the ids of the current trace to each line, so that a log leads to its trace and back. */
function tracedLog(log: Log, currentIds: () => LogFacts | undefined): Log {
  const withIds = (facts: LogFacts | undefined): LogFacts | undefined => {
    const ids = currentIds()
    return ids ? { ...facts, ...ids } : facts
  }
  return {
    debug: (event, facts) => log.debug(event, withIds(facts)),
    info: (event, facts) => log.info(event, withIds(facts)),
    warn: (event, facts) => log.warn(event, withIds(facts)),
    error: (event, facts) => log.error(event, withIds(facts)),
  }
}
