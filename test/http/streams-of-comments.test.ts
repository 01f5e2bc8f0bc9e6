// deep: an attack
/** Proxies in front of an upstream keep a stream alive by comments, also when nothing behind them answers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askChat, sound } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  good,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

/** The consecutive failures that close a route. */
const FAILURES = 2

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

const commentForEver: Behaviour = (_call, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => response.write(': PROCESSING\n\n'), 100)
  response.once('close', () => clearInterval(timer))
}

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [
      {
        id: 'only',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        retries: 0,
        breaker: { failures: FAILURES },
      },
    ],
    models: [
      {
        id: 'model',
        category: 'llm',
        prices: { input: 1, output: 2 },
        routes: [
          { upstream: 'only', model: 'dead' },
          { upstream: 'only', model: 'alive' },
        ],
      },
    ],
  } as never)
  upstream.play('dead', commentForEver)
  upstream.play('alive', good)
  gateway = await startGateway({ CATRACA_CONFIG: config.path, CALL_TIMEOUT_SECONDS: '1' })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

test('a route whose streams have nothing but comments until their calls end is closed', async () => {
  const { node, secret } = gateway
  const ask = () => askChat(node.baseUrl, secret, sound('model', { stream: true }))
  for (let call = 0; call < FAILURES; call++) assert.equal((await ask()).status, 502)
  assert.equal((await ask()).status, 200)
  assert.equal(upstream.callsOf('dead').length, FAILURES)
})
