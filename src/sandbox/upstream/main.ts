/** The sandbox upstream as a program: `node src/sandbox/upstream/main.ts --port 4010`. */
import { parseArgs } from 'node:util'
import { startSandboxUpstream } from './start-sandbox-upstream.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
    'api-key': { type: 'string' },
  },
})

const upstream = await startSandboxUpstream({
  port: Number(values.port),
  host: values.host,
  apiKey: values['api-key'],
})
console.log(`Sandbox upstream: ${upstream.baseUrl}`)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    // The exit is explicit, because interrupted answers may have left timers behind.
    void upstream.close().then(() => process.exit(0))
  })
}
