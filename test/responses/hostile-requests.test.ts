// deep: an attack
/**
 * Requests of the Responses format that are made to take time. Anybody with a key sends up to 256 kB before the balance
 * is looked at, and a node that reads for seconds serves nobody else and loses its lease.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReasoningSeals } from '../../src/gateway/calls/chat/formats/responses/reasoning-seal.ts'
import { createResponsesFormat } from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import { createToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import { isRefusal } from '../../src/gateway/calls/refusal.ts'

const MODEL = 'sandbox-chat'
const CUSTOMER = 'a customer'
const seals = createReasoningSeals({ sealingKey: Buffer.alloc(32, 1) })
const format = createResponsesFormat(seals, createToolCallIds([Buffer.alloc(32, 2)]))

function list<T>(length: number, of: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => of(index))
}

const custom = (index: number) => ({ type: 'custom', name: `t${index}` })
const user = { role: 'user', content: 'Olá' }
const details = list(10, () => ({ type: 'reasoning.text' }))
const reasoning = {
  type: 'reasoning',
  encrypted_content: seals(CUSTOMER).seal({ fields: { reasoning_details: details }, calls: {} }, [
    MODEL,
  ]),
}

/** Searches by the square of the size took one to twenty seconds for the larger body of each. */
const HOSTILE: Readonly<Record<string, (size: number) => object>> = {
  'a namespace of underscores': (size) => ({
    input: [
      { type: 'function_call', call_id: 'a', name: 'b', namespace: `${'_'.repeat(size * 10)}x` },
      { type: 'function_call_output', call_id: 'a', output: 'c' },
    ],
  }),
  'a long list of allowed tools': (size) => ({
    input: 'Olá',
    tools: list(size, custom),
    tool_choice: { type: 'allowed_tools', tools: list(size, () => custom(-1)) },
  }),
  'a namespace that is allowed again and again': (size) => ({
    input: 'Olá',
    tools: [{ type: 'namespace', name: 'n', tools: list(size, custom) }],
    tool_choice: {
      type: 'allowed_tools',
      tools: list(size, () => ({ type: 'namespace', name: 'n' })),
    },
  }),
  'one turn of many reasoning items': (size) => ({
    input: [user, ...list(size, () => reasoning), { role: 'assistant', content: 'Oi' }, user],
  }),
}

const SMALL = 750
const LARGE = 6_000
/** Eight times the body: 64 times the time if it grows by the square. */
const GROWTH_MAX = 24
/** Shorter times say little. */
const FLOOR_MS = 10

/**
 * The least of up to three times, until one is below the goal. Of this process's processor time, which other processes of
 * a busy machine do not lengthen.
 */
function msOf(body: object, goal = 0): number {
  const raw = Buffer.from(JSON.stringify({ model: MODEL, ...body }))
  let least = Infinity
  for (let round = 0; round < 3 && least >= goal; round += 1) {
    const before = process.cpuUsage()
    const request = format.readRequest(raw, { customerId: CUSTOMER })
    const { user, system } = process.cpuUsage(before)
    assert.ok(!isRefusal(request), 'the request is read')
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

for (const [name, bodyOf] of Object.entries(HOSTILE)) {
  test(`the time to read a request follows its bytes: ${name}`, () => {
    const small = Math.max(msOf(bodyOf(SMALL)), FLOOR_MS)
    const large = msOf(bodyOf(LARGE), GROWTH_MAX * small)
    assert.ok(large < GROWTH_MAX * small, `${small.toFixed(0)} ms became ${large.toFixed(0)} ms`)
  })
}

test('the name of a namespace is bounded, because each of its tools repeats it', () => {
  const tools = [{ type: 'namespace', name: 'n'.repeat(257), tools: [custom(0)] }]
  const refused = format.readRequest(
    Buffer.from(JSON.stringify({ model: MODEL, input: 'Olá', tools })),
    { customerId: CUSTOMER },
  )
  assert.ok(isRefusal(refused), 'the request is refused')
  assert.equal(refused.status, 400)
  assert.match(refused.message, /tools\[0\]\.name deve ter no máximo 256 caracteres/)
})
