/** The sandbox processor as a program: `node src/sandbox/processor/main.ts --port 4020`. */
import { parseArgs } from 'node:util'
import { startSandboxProcessor } from './start-sandbox-processor.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4020' },
    host: { type: 'string', default: '127.0.0.1' },
    'public-url': { type: 'string' },
    'api-key': { type: 'string' },
    'webhook-url': { type: 'string' },
    'webhook-token': { type: 'string' },
    'state-file': { type: 'string' },
  },
})

const sandbox = await startSandboxProcessor({
  port: Number(values.port),
  host: values.host,
  publicUrl: values['public-url'],
  apiKey: values['api-key'],
  webhookUrl: values['webhook-url'],
  webhookToken: values['webhook-token'],
  stateFile: values['state-file'],
})
console.log(`Sandbox processor: ${sandbox.baseUrl}`)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void sandbox.close().then(() => process.exit(0))
  })
}
