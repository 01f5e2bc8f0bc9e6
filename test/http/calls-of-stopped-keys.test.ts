// deep: an attack
/** What stops a key also ends the calls that it runs, on every node; the books stay right. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { changeSuspension } from '../../src/customers/suspend-customer.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { pauseKeyByOperator } from '../../src/customers/key-acts.ts'
import { closeTeam } from '../../src/customers/teams.ts'
import { inTransaction } from '../../src/platform/db/open.ts'
import { ask, sound } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import {
  eventOf,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** What the documentation promises. */
const STOPPED_WITHIN_MS = 60_000
const REPORTED = { prompt_tokens: 11, completion_tokens: 222, total_tokens: 233 }

let upstream: ScriptedUpstream
let gateway: TestGateway
/** Another node than the one that is told. */
let other: LocalNode
let config: ConfigFile
const ending = new AbortController()

before(async () => {
  upstream = await startScriptedUpstream()
  upstream.play('endless', async (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const choice = (delta: object, finish_reason: string | null = null): string =>
      eventOf({ choices: [{ index: 0, delta, finish_reason }] })
    for (; !ending.signal.aborted && !response.destroyed; await sleep(100))
      response.write(choice({ content: 'ah ' }))
    response.write(choice({}, 'stop'))
    response.end(`${eventOf({ choices: [], usage: REPORTED })}data: [DONE]\n\n`)
  })
  config = await writeConfigFile({
    upstreams: [{ id: 'own', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      {
        id: 'endless',
        category: 'llm',
        prices: { input: 1, output: 2 },
        markup_multiplier: '1.5',
        routes: [{ upstream: 'own', model: 'endless' }],
        context_tokens: 128_000,
        max_output_tokens: 10_000,
      },
    ],
  })
  const env = { CATRACA_CONFIG: config.path }
  gateway = await startGateway(env)
  other = await startLocalNode({ databaseUrl: gateway.database.databaseUrl, env })
})
after(async () => {
  await other.stop()
  await other.remove()
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

interface Stream {
  readonly name: string
  hasEnded: boolean
  text: string
}

/** Resolves once the stream runs. */
async function begin(name: string, path: string, secret: string, body: object): Promise<Stream> {
  const answer = await fetch(`${other.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.equal(answer.status, 200, name)
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const stream: Stream = { name, hasEnded: false, text: '' }
  const first = await reader.read()
  stream.text += Buffer.from(first.value ?? []).toString()
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      stream.text += Buffer.from(value).toString()
    }
  })()
    .catch(() => {})
    .finally(() => (stream.hasEnded = true))
  return stream
}

const CHAT = sound('endless', { stream: true })
const ASKED = {
  chat: ['/chat/completions', CHAT],
  responses: ['/responses', { model: 'endless', input: 'Oi', stream: true }],
  messages: ['/messages', { ...CHAT, max_tokens: 5_000 }],
} as const satisfies Record<string, readonly [string, object]>

test('whatever stops a key ends its running streams within a minute, in every format and on every node, and they are charged', async () => {
  const { db } = gateway.database
  const { baseUrl } = gateway.node
  const newCustomer = () => seedCustomer(db, { balanceBrl: '50' })
  const spare = await newCustomer()
  const newKey = (customerId: string, more: object = {}) =>
    createApiKey(db, { customerId, name: 'corre', requestsPerMinute: 100, ...more })
  const revoked = await newKey(spare.customerId)
  const paused = await newKey(spare.customerId)
  const byOperator = await newKey(spare.customerId)
  const suspended = await newCustomer()
  const bulk = await newCustomer()
  const teamId = await seedTeam(db, spare.customerId)
  const ofTeam = await newKey(spare.customerId, { teamId })
  const stopped = await Promise.all([
    begin('revoked', ASKED.chat[0], revoked.secret, ASKED.chat[1]),
    begin('paused', ASKED.responses[0], paused.secret, ASKED.responses[1]),
    begin('paused by an operator', ASKED.messages[0], byOperator.secret, ASKED.messages[1]),
    begin('bulk-revoked', ASKED.chat[0], bulk.secret, ASKED.chat[1]),
    begin('of a closed team', ASKED.chat[0], ofTeam.secret, ASKED.chat[1]),
    begin('of a suspended account', ASKED.chat[0], suspended.secret, ASKED.chat[1]),
  ])
  const free = await begin('free', ASKED.chat[0], spare.secret, ASKED.chat[1])

  const { secret } = spare
  const own = (path: string, method: string) =>
    ask(baseUrl, `/api-keys/${path}`, { secret, method })
  assert.equal((await own(revoked.key.id, 'DELETE')).status, 200)
  assert.equal((await own(`${paused.key.id}/pause`, 'POST')).status, 200)
  await pauseKeyByOperator(db, OPERATOR, { keyId: byOperator.key.id })
  const bulkRevoke = { secret: bulk.secret, body: { ids: [bulk.key.id] } }
  assert.equal((await ask(baseUrl, '/api-keys/bulk-revoke', bulkRevoke)).status, 200)
  await inTransaction(db, (trx) => closeTeam(trx, teamId))
  await changeSuspension(db, OPERATOR, { customerId: suspended.customerId, reason: 'teste' })

  const running = () => stopped.filter(({ hasEnded }) => !hasEnded).map(({ name }) => name)
  for (const deadline = Date.now() + STOPPED_WITHIN_MS; running().length > 0; await sleep(100))
    assert.ok(Date.now() < deadline, `still running: ${running().join(', ')}`)
  assert.equal(free.hasEnded, false)
  ending.abort()
  await untilNoHoldIsOpen(gateway.database)
  for (const { name, text } of stopped)
    assert.ok(!/\[DONE\]|message_stop|response\.completed/.test(text), name)
  // As for a client that hangs up: the upstream is read to its end, and what it reports is charged.
  const events = await db.selectFrom('usage_events').select(['completion_tokens']).execute()
  assert.deepEqual(
    events.map(({ completion_tokens: tokens }) => tokens),
    Array.from({ length: 7 }, () => REPORTED.completion_tokens),
  )
  await assertAudit(gateway.database)
})
