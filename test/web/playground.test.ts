/** The playground's treatment of a conversation: messages, text with code, tools, and the request as code. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { AnswerTurn, ToolCall, Turn } from '../../web/src/pages/playground/conversation.ts'
import { messagesOf } from '../../web/src/pages/playground/conversation.ts'
import { pythonLiteral } from '../../src/lib/python-literal.ts'
import { requestSnippets } from '../../web/src/pages/playground/request-snippets.ts'
import { blocksOf, piecesOf } from '../../web/src/pages/playground/rich-text.ts'
import { readTools, TOOLS_EXAMPLE } from '../../web/src/pages/playground/tools-text.ts'

const user = (text: string): Turn => ({ kind: 'user', id: text, text })
const answer = (text: string, toolCalls: readonly ToolCall[] = []): AnswerTurn => ({
  kind: 'answer',
  id: text,
  model: 'sandbox-chat',
  text,
  reasoning: 'não se manda',
  toolCalls,
  state: 'done',
})
const call = (id: string): ToolCall => ({ id, name: 'clima', arguments: '{"cidade":"Recife"}' })

test('a model gets the conversation, with only the tool calls that have a result', () => {
  const turns = [
    user('Oi'),
    answer('Olá'),
    user('Tempo?'),
    answer('', [call('a'), call('b')]),
    { kind: 'tool', id: 't', call: call('a'), text: '30' } as const,
    answer('', [call('c')]),
    user('Deixe.'),
  ]
  assert.deepEqual(messagesOf(turns, ' Seja breve. '), [
    { role: 'system', content: 'Seja breve.' },
    { role: 'user', content: 'Oi' },
    { role: 'assistant', content: 'Olá' },
    { role: 'user', content: 'Tempo?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          function: { name: 'clima', arguments: '{"cidade":"Recife"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '30' },
    { role: 'user', content: 'Deixe.' },
  ])
})

test('fenced code is kept verbatim, also before its closing fence arrives', () => {
  assert.deepEqual(blocksOf('Veja:\n```python x\na  <b>\n\n``\n```\n\nFim\n\n~~~\n```\naberto'), [
    { kind: 'text', text: 'Veja:' },
    { kind: 'code', language: 'python', code: 'a  <b>\n\n``' },
    { kind: 'text', text: 'Fim' },
    { kind: 'code', language: '', code: '```\naberto' },
  ])
  assert.deepEqual(blocksOf(' \n\n'), [])
})

test('bold, code and headings are recognized in a line, and single stars and tildes are text', () => {
  assert.deepEqual(piecesOf('## Como\nUse `a ** b` ou **isto**: 2 ** 3 ** 4, ``x`y``'), [
    { kind: 'bold', text: 'Como' },
    { kind: 'text', text: '\nUse ' },
    { kind: 'code', text: 'a ** b' },
    { kind: 'text', text: ' ou ' },
    { kind: 'bold', text: 'isto' },
    { kind: 'text', text: ': 2 ** 3 ** 4, ' },
    { kind: 'code', text: 'x`y' },
  ])
})

test('tools are read, and their faults are reported with the position', () => {
  assert.deepEqual(readTools(' '), { tools: [] })
  assert.deepEqual(readTools(TOOLS_EXAMPLE), { tools: JSON.parse(TOOLS_EXAMPLE) })
  const faults: readonly (readonly [string, RegExp])[] = [
    ['[\n  {,}\n]', /JSON válido \(linha 2\)/],
    ['{}', /lista/],
    ['[1]', /Ferramenta 1: precisa ser um objeto/],
    ['[{"type":"web"}]', /"type": "function"/],
    ['[{"type":"function"}]', /"function": \{/],
    ['[{"type":"function","function":{"name":"olá"}}]', /"name"/],
    ['[{"type":"function","function":{"name":"a","parameters":[]}}]', /JSON Schema/],
    [
      '[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]',
      /duas ferramentas com o nome a/,
    ],
  ]
  for (const [text, expected] of faults) {
    const read = readTools(text)
    assert.ok('fault' in read, text)
    assert.match(read.fault, expected)
  }
})

test('the curl command of a request sends exactly that request, whatever its text', () => {
  const body = {
    model: 'sandbox-chat',
    messages: [{ role: 'user' as const, content: 'É "d\'água" $HOME `id` \\n\n fim' }],
    temperature: 0.5,
  }
  const [curl] = requestSnippets('http://localhost/v1', body)
  assert.ok(curl)
  // Stands in for curl: prints the last argument, as the shell passes it on.
  const script = `curl() { for last; do :; done; printf %s "$last"; }\n${curl.code}`
  const sent = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
  assert.deepEqual(JSON.parse(sent), { ...body, stream: true })
})

test("Python code uses Python's words for true, false and null", () => {
  assert.equal(
    pythonLiteral({ a: [true, false, null], b: 'null "é"', c: {}, d: [] }),
    '{\n    "a": [\n        True,\n        False,\n        None,\n    ],\n    "b": "null \\"é\\"",\n    "c": {},\n    "d": [],\n}',
  )
})
