/**
 * Requests with documents in all usual spellings through the gateway's own functions: the body for the upstream has none
 * of them, and the answer is to the byte the one that an upstream without the shield would have caused.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort, seedOr } from '../../../../test/harness/effort.ts'
import fc from '../../../../test/harness/fast-check.ts'
import { leaksOf, prompt } from '../../../../test/harness/personal-texts.ts'
import type { ActiveKey } from '../../../customers/key-cache.ts'
import type { ShieldNote } from '../../../customers/shield-counts.ts'
import { readChatRequest, type ChatRequest } from '../chat/chat-request.ts'
import { createChatCompletionsFormat } from '../chat/formats/chat-completions/chat-completions-format.ts'
import type { ChatWriter } from '../chat/chat-format.ts'
import { createChatKind, createRestoringWriter } from '../chat/chat-kind.ts'
import { createToolCallIds } from '../chat/tool-call-ids.ts'
import { createOwnTime } from '../../../platform/admission/own-time.ts'
import { isRefusal, type Refusal } from '../refusal.ts'
import { coverRequest } from './cover-request.ts'

const CHARGED = {
  promptTokens: 1,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 1,
  reasoningTokens: 0,
  billedNanoBrl: 1n,
}
const notes: ShieldNote[] = []
const format = createChatCompletionsFormat(createToolCallIds([Buffer.alloc(32)]), readChatRequest)
const kind = createChatKind(format, { lease: undefined as never, callTimeoutMs: 1 })
const deps = {
  ownTime: createOwnTime(1),
  shieldCounts: { note: (note: ShieldNote) => void notes.push(note) },
}

function keyWith(action: 'off' | 'mask' | 'block'): ActiveKey {
  return { id: 'key', shield: { action, uuids: 'near_pix' } } as ActiveKey
}

async function read(
  text: string,
  action: 'off' | 'mask' | 'block',
): Promise<ChatRequest | Refusal> {
  const tool = {
    id: 'c1',
    type: 'function',
    function: { name: 'f', arguments: JSON.stringify({ text }) },
  }
  const messages = [
    { role: 'user', content: [{ type: 'text', text }] },
    { role: 'assistant', content: null, tool_calls: [tool] },
    {
      role: 'tool',
      tool_call_id: 'c1',
      content: JSON.stringify({ result: JSON.stringify({ text }) }),
    },
  ]
  const key = keyWith(action)
  const request = await kind.read(Buffer.from(JSON.stringify({ model: 'm', messages })), key)
  if (isRefusal(request)) return request
  const covered = await coverRequest(deps, kind, request, key)
  return isRefusal(covered) ? covered : covered.request
}

/** Writes one answer plain and one streamed, as an upstream that repeats these texts. */
function write(
  writer: ChatWriter,
  content: string,
  args: string,
  sizes: readonly number[],
): string[] {
  const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }]
  const message = { role: 'assistant', content, reasoning_content: content, tool_calls }
  const plain = writer.answer({ choices: [{ index: 0, message, finish_reason: 'stop' }] }, CHARGED)
  const events: (string | undefined)[] = []
  const chunk = (delta: object, finish_reason: string | null = null): void =>
    void events.push(writer.chunk({ choices: [{ index: 0, delta, finish_reason }] }))
  for (const piece of pieces(content, sizes)) chunk({ content: piece })
  for (const piece of pieces(args, sizes))
    chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
  chunk({}, 'stop')
  events.push(writer.end(CHARGED))
  const joined = { content: '', args: '' }
  for (const line of events.join('').split('\n\n')) {
    if (line === '' || line.endsWith('[DONE]')) continue
    const [choice] = JSON.parse(line.slice('data: '.length)).choices
    joined.content += choice?.delta.content ?? ''
    joined.args += choice?.delta.tool_calls?.[0].function.arguments ?? ''
  }
  return [plain.replace(/"created":\d+/, ''), joined.content, joined.args]
}

function pieces(text: string, sizes: readonly number[]): string[] {
  const cut: string[] = []
  for (let index = 0, turn = 0; index < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number
    cut.push(text.slice(index, index + size))
    index += size
  }
  return cut
}

const writerOf = (request: ChatRequest): ChatWriter =>
  format.createWriter({ id: 'x', modelId: 'm', request })

test('no document leaves in a body, and answers are to the byte those of an open call, at any cut', async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(prompt, cuts, async ({ documents, text }, sizes) => {
      const open = await read(text, 'off')
      const request = await read(text, 'mask')
      assert.ok(!isRefusal(open) && !isRefusal(request))
      const sent = JSON.stringify(request.body)
      assert.deepEqual(leaksOf(sent, documents), [], sent)
      if (documents.length === 0) return assert.equal(request.placeholders, undefined)
      assert.ok(request.placeholders)
      const [user, assistant] = request.body.messages as any[]
      const args = assistant.tool_calls[0].function.arguments
      const restoring = createRestoringWriter(writerOf(request), request.placeholders)
      assert.deepEqual(
        write(restoring, user.content, args, sizes),
        write(writerOf(open), text, JSON.stringify({ text }), sizes),
      )
    }),
    { numRuns: effort({ ordinary: 120, full: 10_000 }), seed: seedOr(1016) },
  )
})

test('a blocked request is a refusal without values, and notes its counts', async () => {
  notes.length = 0
  const refused = await read('CPF 529.982.247-25', 'block')
  assert.ok(isRefusal(refused))
  assert.equal(refused.code, 'personal_data_found')
  assert.doesNotMatch(JSON.stringify(refused), /529|982/)
  assert.deepEqual(notes, [{ keyId: 'key', action: 'block', counts: { cpf: 3 } }])
})

test('a request with more text than the shield reads in time is refused, not sent open', async () => {
  for (const action of ['mask', 'block'] as const) {
    const refused = await read('a '.repeat(1_100_000), action)
    assert.ok(isRefusal(refused))
    assert.deepEqual([refused.status, refused.code], [413, 'invalid_request'])
  }
  assert.ok(!isRefusal(await read('a '.repeat(1_100_000), 'off')))
})

test('a request with more values than can be masked in time is refused; to block it needs no masks', async () => {
  const addresses = (count: number): string =>
    Array.from({ length: count }, (_, index) => `ana${index}@exemplo.com`).join(' ')
  // The text stands in three places of the request.
  const refused = await read(addresses(7_000), 'mask')
  assert.ok(isRefusal(refused))
  assert.deepEqual([refused.status, refused.code], [413, 'invalid_request'])
  assert.ok(!isRefusal(await read(addresses(6_000), 'mask')))
  const blocked = await read(addresses(7_000), 'block')
  assert.ok(isRefusal(blocked))
  assert.equal(blocked.status, 400)
})
