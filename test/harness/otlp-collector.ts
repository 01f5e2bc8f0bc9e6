/** A collector of traces and metrics: reads OTLP over HTTP as JSON, as OpenTelemetry's own collector does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly isError: boolean
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface OtlpCollector {
  readonly url: string
  /** In the order in which they came. */
  readonly spans: readonly CollectedSpan[]
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
  const metrics = new Map<string, number>()
  let metricsHeaders = {}
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => (text += part))
    request.on('end', () => {
      if (request.url === '/v1/metrics') {
        metricsHeaders = request.headers
        for (const [name, value] of readMetrics(JSON.parse(text))) metrics.set(name, value)
      } else if (request.url === '/v1/traces') {
        texts.push(text)
        spans.push(...readSpans(JSON.parse(text)))
      } else return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    texts,
    metrics,
    metricsHeaders: () => metricsHeaders,
    close: () => server.close(),
  }
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
        attributes: Object.fromEntries(
          span.attributes.map(({ key, value }: any) => [key, Object.values(value)[0]]),
        ),
      })),
    ),
  )
}
