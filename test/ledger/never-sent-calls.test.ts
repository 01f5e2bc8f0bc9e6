// deep: an attack
/** A call that never reached an upstream. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { findWaitingSpoolFiles } from '../../src/money/ledger/audit/audit-spool.ts'
import { resolutionsOf } from '../http/resolutions-of.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { hang, startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'

let upstream: ScriptedUpstream
let gateway: TestGateway
let config: ConfigFile

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [
      {
        id: 'stops',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        cancel_stops_billing: true,
        connections_max: 1,
        retries: 0,
      },
    ],
    models: [
      {
        id: 'narrow',
        category: 'llm',
        prices: { input: 1, output: 2 },
        markup_multiplier: '1.5',
        routes: [{ upstream: 'stops', model: 'narrow' }],
        context_tokens: 128_000,
        max_output_tokens: 1_000,
        can_reason: false,
      },
    ],
  } as never)
  upstream.play('narrow', hang)
  gateway = await startGateway({ CATRACA_CONFIG: config.path })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

function call(): { requestId: string; leave(): void } {
  const requestId = randomUUID()
  const leaving = new AbortController()
  fetch(`${gateway.node.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.secret}`,
      'content-type': 'application/json',
      'x-svc-request-id': requestId,
    },
    body: JSON.stringify(sound('narrow', { stream: true })),
    signal: leaving.signal,
  }).catch(() => {})
  return { requestId, leave: () => leaving.abort() }
}

async function isHeld(requestId: string): Promise<boolean> {
  const holds = await gateway.database.db
    .selectFrom('holds')
    .select('id')
    .where('request_id', '=', requestId)
    .execute()
  return holds.length > 0
}

test('J1 a call that was never sent to an upstream is not charged its prompt', async () => {
  const first = call()
  while (upstream.callsOf('narrow').length === 0) await sleep(20)
  const second = call()
  while (!(await isHeld(second.requestId))) await sleep(20)
  // Enough time to send it, if it were sent.
  await sleep(500)
  assert.equal(upstream.callsOf('narrow').length, 1, 'the second waits for a connection')
  second.leave()
  const [event] = await resolutionsOf(gateway.database, second.requestId)
  const sent = upstream.callsOf('narrow').length
  first.leave()
  assert.equal(sent, 1)
  assert.equal(event?.outcome, 'released')
})

test('J2 the audit reports acknowledged charges that became unreadable', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'catraca-spool-'))
  await mkdir(join(dir, 'set-aside'))
  await writeFile(
    join(dir, 'set-aside', '1.2-a.0.spool@0'),
    'a record that was acknowledged and is damaged',
  )
  assert.notDeepEqual(await findWaitingSpoolFiles(dir, Date.now() + 3_600_000), [])
})
