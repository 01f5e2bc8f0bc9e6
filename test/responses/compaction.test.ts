/** The summary of a conversation: how it is asked for, sealed, and read back. */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createReasoningSeals } from '../../src/gateway/calls/chat/formats/responses/reasoning-seal.ts'
import {
  createResponsesFormat,
  type ResponsesRequest,
} from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import { createToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import { isRefusal, refusals, type Refusal } from '../../src/gateway/calls/refusal.ts'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import fc, { anyCharacter } from '../harness/fast-check.ts'
import {
  assertCompacted,
  assertResponse,
  assertStreamIsWhole,
  responseEvents,
} from './assert-response.ts'

const CUSTOMER = 'a customer'
const CHARGED = {
  promptTokens: 20,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 9,
  reasoningTokens: 0,
  billedNanoBrl: 1_234_567n,
}
const seals = createReasoningSeals({ sealingKey: randomBytes(32) })
const seal = seals(CUSTOMER)
const ids = createToolCallIds([randomBytes(32)])
const format = createResponsesFormat(seals, ids)
const compactFormat = createResponsesFormat(seals, ids, true)
const USER = { type: 'message', role: 'user', content: 'Olá' }
const TRIGGER = { type: 'compaction_trigger' }

function ask(body: object, by = format): ResponsesRequest | Refusal {
  return by.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), {
    customerId: CUSTOMER,
  })
}

function read(body: object, by = format): ResponsesRequest {
  const request = ask(body, by)
  if (isRefusal(request)) assert.fail(request.message)
  return request
}

function refusalOf(body: object, by = format): string {
  const refused = ask(body, by)
  assert.ok(isRefusal(refused), 'the request is refused')
  assert.equal(refused.status, 400)
  return refused.message
}

const writerOf = (request: ResponsesRequest, by = format) =>
  by.createWriter({ id: randomUUID(), modelId: 'm', request })

const answerBody = (content: string | null): JsonObject => ({
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
})

const compactionOf = (encrypted_content: unknown): object => ({
  type: 'compaction',
  encrypted_content,
})

test('a summary of any text comes back as one sealed item, plain and streamed, and is read as a message of any model', () => {
  const texts = fc.array(fc.string({ unit: anyCharacter, minLength: 1 }), { minLength: 1 })
  fc.assert(
    fc.property(texts, (parts) => {
      const request = read({ input: [USER, TRIGGER] })
      const whole = JSON.parse(writerOf(request).answer(answerBody(parts.join('')), CHARGED))
      assertResponse(whole)
      const writer = writerOf(request)
      const before = parts
        .map((content) => writer.chunk({ choices: [{ index: 0, delta: { content } }] }) ?? '')
        .join('')
      const streamed = assertStreamIsWhole(responseEvents(before + writer.end(CHARGED)))
      // Nothing of a summary leaves before the charge.
      assert.deepEqual(
        responseEvents(before).map(({ type }) => type),
        ['response.created', 'response.in_progress'],
      )
      for (const { output } of [whole, streamed]) {
        assert.deepEqual(
          output.map(({ type }: JsonObject) => type),
          ['compaction'],
        )
        const { messages } = read({ model: 'other', input: [...output, USER] })
        assert.equal(messages.length, 2)
        assert.equal(messages[0]?.role, 'user')
        const said = messages[0]?.content as string
        assert.equal(said.slice(said.indexOf('\n\n') + 2), parts.join(''))
      }
    }),
  )
})

test('a summary of another account, of another service, or changed, and sealed reasoning are no summary', () => {
  const own = seal.sealSummary('Resumo')
  const bytes = Buffer.from(own, 'base64url')
  const changed = Array.from({ length: bytes.length }, (_, at) => {
    const other = Buffer.from(bytes)
    other[at] = (other[at] as number) ^ 1
    return other.toString('base64url')
  })
  for (const sealed of [
    ...changed,
    seals('another customer').sealSummary('Resumo'),
    createReasoningSeals({ sealingKey: randomBytes(32) })(CUSTOMER).sealSummary('Resumo'),
    seal.seal({ fields: {}, calls: {} }, ['m']),
    own.slice(0, -4),
    'gAAAAAB',
    '',
    7,
    null,
    undefined,
  ])
    assert.match(refusalOf({ input: [USER, compactionOf(sealed)] }), /^input\[1\]: este resumo/)
  assert.equal(seal.open(own, 'm'), undefined, 'and a summary is no reasoning')
  assert.equal(read({ input: [compactionOf(own), USER] }).messages.length, 2)
})

test('a compaction is a chat with the whole conversation, the tools that none may call, and a limit', () => {
  const tools = [{ type: 'function', name: 'clima', parameters: { type: 'object' } }]
  const text = { format: { type: 'json_object' } }
  const settings = { tools, tool_choice: 'required', text, instructions: 'Seja breve.' }
  for (const [by, input] of [
    [format, [USER, TRIGGER]],
    [compactFormat, [USER]],
    [compactFormat, 'Olá'],
    [compactFormat, [USER, TRIGGER]],
  ] as const) {
    const request = read({ ...settings, input, stream: true }, by)
    const { body, messages } = request
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['system', 'user', 'user'],
    )
    assert.match(messages[2]?.content as string, /summary/)
    assert.equal(body.tool_choice, 'none')
    assert.equal((body.tools as unknown[]).length, 1)
    assert.equal(body.response_format, undefined)
    assert.equal(request.native, undefined, 'no upstream gets the trigger')
    assert.equal(request.outputTokensMax, 32_768)
    assert.equal(request.isStream, by === format)
    assert.equal(read({ input, max_output_tokens: 50 }, by).outputTokensMax, 50)
  }
})

test('the trigger of a compaction stands last, behind a conversation', () => {
  assert.match(refusalOf({ input: [TRIGGER, USER] }), /^input\[0\]: .*como último item/)
  assert.match(refusalOf({ input: [TRIGGER, USER, TRIGGER] }), /^input\[0\]: /)
  for (const by of [format, compactFormat])
    assert.match(refusalOf({ input: [TRIGGER] }, by), /a conversa a resumir/)
  assert.match(refusalOf({}, compactFormat), /"input" é obrigatório/)
  assert.match(refusalOf({ input: [7] }, compactFormat), /input\[0\] deve ser um objeto/)
})

test('/v1/responses/compact gives back the newest messages of the user and the summary', () => {
  const long = { role: 'user', content: [{ type: 'input_text', text: 'x'.repeat(200_000) }] }
  const input = [
    { role: 'user', content: 'Primeira' },
    long,
    { role: 'system', content: 'Seja breve.' },
    compactionOf(seal.sealSummary('Antes')),
    { role: 'assistant', content: 'Oi' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'sol' },
    long,
    { ...USER, id: 'msg_meu' },
  ]
  const request = read({ input }, compactFormat)
  const answer = JSON.parse(
    writerOf(request, compactFormat).answer(answerBody('Um resumo'), CHARGED),
  )
  assertCompacted(answer)
  assert.equal(answer.object, 'response.compaction')
  assert.deepEqual(
    answer.output.map(({ type, role }: JsonObject) => [type, role]),
    [
      ['message', 'user'],
      ['message', 'user'],
      ['compaction', undefined],
    ],
  )
  assert.equal(answer.output[1].id, 'msg_meu')
  assert.equal(answer.usage.total_tokens, 29)
  assert.equal(answer.cost_billed_brl, 0.001234567)
  // It is the input of the next turn as it is.
  assert.equal(read({ input: [...answer.output, USER] }).messages.length, 4)
})

test('a compaction without a text has no item, and one that breaks off neither', () => {
  const request = read({ input: [USER, TRIGGER] })
  for (const content of ['', null])
    assert.deepEqual(JSON.parse(writerOf(request).answer(answerBody(content), CHARGED)).output, [])
  const writer = writerOf(request)
  const begun = writer.chunk({ choices: [{ index: 0, delta: { content: 'Metade' } }] }) ?? ''
  const events = responseEvents(begun + writer.broken(refusals.streamBroken()))
  assert.equal(events.at(-1)?.type, 'response.failed')
  assert.ok(!JSON.stringify(events).includes('compaction'))
})

test('summaries within summaries, and many of them, are as large as they are and no larger', () => {
  let text = 'Olá'
  for (let depth = 0; depth < 20; depth++)
    text = JSON.stringify([compactionOf(seal.sealSummary(text))])
  const item = compactionOf(seal.sealSummary(text))
  const body = { input: [...Array.from({ length: 50 }, () => item), USER] }
  const request = read(body)
  // What is in a summary is text, whatever it looks like.
  assert.equal(request.messages.length, 51)
  assert.ok(JSON.stringify(request.messages).length < JSON.stringify(body).length * 1.1)
})
