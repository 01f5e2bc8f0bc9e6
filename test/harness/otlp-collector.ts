/** A collector of traces and metrics: reads OTLP over HTTP as JSON, as OpenTelemetry's own collector does. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly isError: boolean
  readonly startNanos: string
  readonly endNanos: string
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface OtlpCollector {
  readonly url: string
  /** In the order in which they came. */
  readonly spans: readonly CollectedSpan[]
  /** The requests with spans: their path and headers. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** Answers in place of the collector, which then keeps nothing of the request; false: it answers itself. */
  answer: (response: ServerResponse) => boolean
  /** The bodies as they came. */
  readonly texts: readonly string[]
  /** The last value of each metric, the sum of its series; for a histogram that of its counts. */
  readonly metrics: ReadonlyMap<string, number>
  /** The headers of the last metrics. */
  metricsHeaders(): Readonly<Record<string, unknown>>
  close(): void
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const texts: string[] = []
  const requests: { path: string; headers: IncomingHttpHeaders }[] = []
  const metrics = new Map<string, number>()
  let metricsHeaders = {}
  const collector = {
    url: '',
    spans,
    requests,
    texts,
    answer: (() => false) as OtlpCollector['answer'],
    metrics,
    metricsHeaders: () => metricsHeaders,
    close(): void {
      server.closeAllConnections()
      server.close()
    },
  }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => (text += part))
    request.on('end', () => {
      if (request.url === '/v1/metrics') {
        metricsHeaders = request.headers
        for (const [name, value] of readMetrics(JSON.parse(text))) metrics.set(name, value)
      } else if (request.url?.endsWith('/v1/traces')) {
        requests.push({ path: request.url, headers: request.headers })
        if (collector.answer(response)) return
        texts.push(text)
        spans.push(...readSpans(JSON.parse(text)))
      } else return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  collector.url = `http://127.0.0.1:${port}`
  return collector
}

function readMetrics(body: any): [string, number][] {
  return body.resourceMetrics.flatMap(({ scopeMetrics }: any) =>
    scopeMetrics.flatMap(({ metrics }: any) =>
      metrics.map(({ name, sum, gauge, histogram }: any) => {
        const { dataPoints } = sum ?? gauge ?? histogram
        const valueOf = ({ asDouble, count }: any): number => asDouble ?? Number(count)
        return [name, dataPoints.reduce((total: number, point: any) => total + valueOf(point), 0)]
      }),
    ),
  )
}

function readSpans(body: any): CollectedSpan[] {
  return body.resourceSpans.flatMap(({ scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        ...(span.parentSpanId ? { parentSpanId: span.parentSpanId } : {}),
        name: span.name,
        isError: span.status?.code === 2,
        startNanos: String(span.startTimeUnixNano),
        endNanos: String(span.endTimeUnixNano),
        attributes: Object.fromEntries(
          span.attributes.map(({ key, value }: any) => [key, Object.values(value)[0]]),
        ),
      })),
    ),
  )
}
