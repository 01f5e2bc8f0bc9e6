/** A collector of traces: reads OTLP over HTTP as JSON, as OpenTelemetry's own collector does. */
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
  close(): void
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const texts: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => (text += part))
    request.on('end', () => {
      if (request.url !== '/v1/traces') return void response.writeHead(404).end()
      texts.push(text)
      spans.push(...readSpans(JSON.parse(text)))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, spans, texts, close: () => server.close() }
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
