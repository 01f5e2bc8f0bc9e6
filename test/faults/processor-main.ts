/**
 * The sandbox processor as a program behind TLS, which live mode demands: `node processor-main.ts '<settings>'`. It sends
 * its events to one node after the other; an event that a node does not take goes to the next one.
 */
import { readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { once } from 'node:events'
import { startSandboxProcessor } from '../../src/sandbox/processor/start-sandbox-processor.ts'
import { PROCESSOR_EVENTS_PATH } from '../../src/http/processor-events/processor-event-routes.ts'
import type { ProcessorSettings } from './processor-process.ts'

const RETRY_MS = 1_000
/** A processor that gives up needs a person. */
const TRIES = 1_000

const settings = JSON.parse(process.argv[2] ?? '{}') as ProcessorSettings
const { port, certFile, keyFile, stateFile, webhookToken, nodePorts } = settings
let next = 0
const balancer = createServer((from) => {
  join(from, connect(nodePorts[next++ % nodePorts.length] as number, '127.0.0.1'))
})
balancer.listen(0, '127.0.0.1')
await once(balancer, 'listening')
const sandbox = await startSandboxProcessor({
  apiKey: settings.apiKey,
  webhookToken,
  webhookUrl: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}${PROCESSOR_EVENTS_PATH}`,
  stateFile,
  settleAfterMs: 500,
  hasDuplicateEvents: true,
  retryDelaysMs: Array.from({ length: TRIES }, () => RETRY_MS),
})
const plainPort = Number(new URL(sandbox.baseUrl).port)
const front = createTlsServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  (from) => join(from, connect(plainPort, '127.0.0.1')),
)
front.on('tlsClientError', () => {})
front.listen(port, '127.0.0.1')
await once(front, 'listening')
process.stdout.write('ready\n')

function join(from: Socket, to: Socket): void {
  for (const [one, other] of [
    [from, to],
    [to, from],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
}
