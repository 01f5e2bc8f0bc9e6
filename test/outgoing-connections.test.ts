/** Every file that opens connections says whose addresses it opens: those of customers go through one guarded file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from './harness/read-sources.ts'

const OPENERS: Readonly<Record<string, 'the operator' | 'customers and upstreams' | 'nobody'>> = {
  // By better-auth, at the fixed addresses of the providers that are on.
  'src/identity/sign-in/create-auth.ts': 'the operator',
  'src/platform/archive/s3-store.ts': 'the operator',
  'src/deliveries/email/create-smtp-mailer.ts': 'the operator',
  'src/money/fx/fetch-ptax.ts': 'the operator',
  'src/platform/lib/guarded-fetch.ts': 'customers and upstreams',
  'src/money/payments/asaas/call-asaas.ts': 'the operator',
  'src/probe.ts': 'the operator',
  'src/gateway/providers/ai-sdk/open-fetch.ts': 'the operator',
  'src/gateway/providers/ai-sdk/google-videos.ts': 'the operator',
  'src/gateway/providers/ai-sdk/open-vertex.ts': 'the operator',
  'src/gateway/providers/http1/open-origin.ts': 'the operator',
  'src/gateway/providers/openai-compatible/upstream.ts': 'the operator',
  'src/gateway/tracing/open-metrics-export.ts': 'the operator',
  'src/gateway/tracing/open-tracing.ts': 'the operator',
  // Samples for readers.
  'src/site/docs/guides/retry-section.ts': 'nobody',
  'src/site/docs/operation-samples.ts': 'nobody',
}

/** The database's own connections are the driver's. */
const OPENS =
  /import \{[^}]*\b(?:request|get|Pool|Agent|Client|buildConnector|createConnection|connect|createTransport)\b[^}]*\} from '(?:node:https?|node:http2|node:net|node:tls|undici|nodemailer)'|from 'node:dgram'|OTLPTraceExporter\(|(?<![.\w])fetch\(|globalThis\.fetch\(|new (?:WebSocket|EventSource)\(|\bsocialProviders:/

test('only known files open connections, and one opens those to addresses of customers', () => {
  const found = readSources('src/**/*.ts')
    // They play other machines.
    .filter(({ file }) => !file.startsWith('src/sandbox/') && !file.endsWith('.test.ts'))
    .filter(({ text }) => OPENS.test(text))
    .map(({ file }) => file)
  assert.deepEqual(found.toSorted(), Object.keys(OPENERS).toSorted())
})
