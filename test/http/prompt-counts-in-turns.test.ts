// deep: an attack
/** The count of a prompt by its tokenizer keeps nobody else waiting, and runs for no account that cannot pay. */
import assert from 'node:assert/strict'
import { after, before, mock, test, type TestContext } from 'node:test'
import { countTokens } from '../../src/gateway/calls/count-tokens.ts'
import { askChat, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** Built in, with a public tokenizer. */
const MODEL = 'gpt-5-mini'
/** Below the size from which the balance is read before the body. */
const CHARACTERS = 85_000
const CALLS = 4
/** The tokenizer gets a long run in parts of this size. */
const PART = 400
const PARTS = Math.ceil(CHARACTERS / PART)
/** Covers the shortest answer to an empty prompt, and not the prompt. */
const LITTLE_BRL = '0.01'

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [
      { id: 'openai', kind: 'openai', base_url: upstream.baseUrl, api_key_env: 'UPSTREAM_KEY' },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path, UPSTREAM_KEY: 'key' })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

/** Different Chinese characters without a break: none of their pairs is one token. */
function ideographs(seed: number): string {
  let state = seed
  let text = ''
  for (let place = 0; place < CHARACTERS; place++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    text += String.fromCharCode(0x4e00 + ((state >>> 8) % 20_000))
  }
  return text
}

/** The parts that the tokenizer merges; it encodes each of them first. */
function spyOnMerges(t: TestContext): { count: number } {
  const merges = { count: 0 }
  t.mock.method(TextEncoder.prototype, 'encode', (text?: string) => {
    if (text !== undefined && /^[\u4e00-\u9fff]{1,400}$/.test(text)) merges.count += 1
    return Buffer.from(text ?? '')
  })
  return merges
}

/** Each step of work takes a whole slice of the time that a count may take at once. */
function slowClock(): { restore: () => void } {
  let at = performance.now()
  const { mock: clock } = mock.method(performance, 'now', () => (at += 10))
  return clock
}

/** Answers to calls at once, each with a text of its own. */
async function askAll(
  firstSeed: number,
  balanceBrl: string,
  { headers = {}, calls = CALLS }: { headers?: Record<string, string>; calls?: number } = {},
): Promise<string> {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl })
  const asked = await Promise.all(
    Array.from({ length: calls }, (_, place) => {
      const content = ideographs(firstSeed + place)
      const body = { model: MODEL, max_tokens: 64, messages: [{ role: 'user', content }] }
      return askChat(gateway.node.baseUrl, secret, body, headers)
    }),
  )
  return asked.map(({ status, json }: Asked) => `${status} ${json.error?.code}`).join()
}

const all = (answer: string): string => Array<string>(CALLS).fill(answer).join()

test('a prompt is not counted for an account without balance', async (t) => {
  const merges = spyOnMerges(t)
  assert.equal(await askAll(1, '0'), all('402 insufficient_balance'))
  assert.equal(merges.count, 0)
})

test('a prompt is not counted for a balance that no count could make enough', async (t) => {
  const merges = spyOnMerges(t)
  assert.equal(await askAll(11, '0.0001'), all('402 insufficient_balance'))
  assert.equal(merges.count, 0)
})

test('a prompt is not counted for an account without balance that caps the call', async (t) => {
  const merges = spyOnMerges(t)
  const headers = { 'x-svc-max-cost-brl': LITTLE_BRL }
  assert.equal(await askAll(21, '0', { headers }), all('402 max_cost_exceeded'))
  assert.equal(merges.count, 0)
})

test('a prompt is counted for a balance that could be enough, and for a cap that could', async (t) => {
  const merges = spyOnMerges(t)
  assert.equal(await askAll(31, LITTLE_BRL, { calls: 1 }), '402 insufficient_balance')
  assert.ok(merges.count >= PARTS, `${merges.count} parts`)
  const headers = { 'x-svc-max-cost-brl': LITTLE_BRL }
  assert.equal(await askAll(41, '100', { headers, calls: 1 }), '402 max_cost_exceeded')
  assert.ok(merges.count >= 2 * PARTS, `${merges.count} parts`)
})

test('counts of slow prompts together let the event loop turn after each slice', async (t) => {
  await countTokens(['Oi'])
  const texts = Array.from({ length: CALLS }, (_, place) =>
    ideographs(51 + place).slice(0, 50 * PART),
  )
  const merges = spyOnMerges(t)
  const clock = slowClock()
  let atTurn = 0
  let most = 0
  let isOver = false
  const turn = (): void => {
    most = Math.max(most, merges.count - atTurn)
    atTurn = merges.count
    if (!isOver) setImmediate(turn)
  }
  turn()
  const shortFirst: string[] = []
  const long = texts.map(async (text) => {
    await countTokens([text])
    shortFirst.push('long')
  })
  const short = countTokens(['Oi']).then(() => shortFirst.push('short'))
  await Promise.all([...long, short]).finally(() => {
    isOver = true
    clock.restore()
  })
  assert.ok(merges.count >= CALLS * 50, `${merges.count} parts`)
  assert.ok(most <= 2, `${most} parts in one turn`)
  assert.equal(shortFirst[0], 'short')
})

test('the tokenizer keeps few of the texts that it has counted', async (t) => {
  const { clearMergeCache } = await import('gpt-tokenizer/encoding/o200k_base')
  clearMergeCache()
  const merges = spyOnMerges(t)
  const distinct = Array.from({ length: 5_000 }, (_, place) =>
    String.fromCharCode(0x4e00 + place, 0x4e00 + 3 * place + 1),
  )
  await countTokens(distinct)
  const first = merges.count
  await countTokens(distinct)
  assert.equal(merges.count, 2 * first)
  assert.ok(first > 2_000, `${first} texts`)
})
