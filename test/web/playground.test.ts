// deep: starts processes
/** The playground's treatment of a conversation: messages, text with code, tools, and the request as code. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { AnswerTurn, ToolCall, Turn } from '../../web/src/pages/playground/conversation.ts'
import { messagesOf, roundsOf } from '../../web/src/pages/playground/conversation.ts'
import { praiseOf } from '../../web/src/pages/playground/answer-facts.ts'
import { pythonLiteral } from '../../src/platform/lib/python-literal.ts'
import { requestSnippets } from '../../web/src/pages/playground/request-snippets.ts'
import { blocksOf } from '../../web/src/pages/playground/markdown-blocks.ts'
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

test('files go before the message that speaks of them: images as data, texts by their name', () => {
  const image = { kind: 'image', name: 'foto.png', content: 'data:image/png;base64,AA' } as const
  const notes = { kind: 'text', name: 'notas.md', content: '# Oi' } as const
  const turn = { ...user('Compare'), attachments: [image, notes] } as Turn
  assert.deepEqual(messagesOf([turn], ''), [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: image.content } },
        { type: 'text', text: 'Arquivo notas.md:\n\n# Oi' },
        { type: 'text', text: 'Compare' },
      ],
    },
  ])
})

test('lanes are shown in rounds, and a lane that joined later shares the earlier answers', () => {
  const first = answer('1')
  const lanes = [
    { id: 'a', model: 'a', turns: [user('Oi'), first, user('E?'), answer('2a')] },
    { id: 'b', model: 'b', turns: [user('Oi'), first, user('E?'), answer('2b')] },
  ]
  assert.deepEqual(
    roundsOf(lanes).map(({ user: said, parts }) => [
      said?.text,
      parts.map(({ laneId, turns }) => [laneId, turns.map(({ text }) => text)]),
    ]),
    [
      ['Oi', [['a', ['1']]]],
      [
        'E?',
        [
          ['a', ['2a']],
          ['b', ['2b']],
        ],
      ],
    ],
  )
})

test('the cheapest and the fastest answer are named once all are complete, and no ties', () => {
  const of = (id: string, costBrl: number, wholeMs: number): AnswerTurn => ({
    ...answer(id),
    wholeMs,
    charge: { promptTokens: 1, completionTokens: 1, reasoningTokens: 0, costBrl },
  })
  assert.deepEqual(
    [...praiseOf([of('a', 1, 30), of('b', 2, 20), of('c', 2, 20)])],
    [['a', ['mais barata']]],
  )
  assert.equal(praiseOf([of('a', 1, 30), { ...of('b', 2, 20), state: 'running' }]).size, 0)
  assert.equal(praiseOf([of('a', 1, 30)]).size, 0)
})

const textsOf = (text: string): readonly string[] => blocksOf(text).map((block) => block.text)

test('an answer is cut where a paragraph begins, never in a list, a fence or an indented part', () => {
  assert.deepEqual(textsOf('Oi\nvocê\n\n\n- a\n\n- b\n\n  mais b\n\nFim'), [
    'Oi\nvocê\n\n',
    '- a\n\n- b\n\n  mais b\n',
    'Fim',
  ])
  assert.deepEqual(textsOf('```py\na\n\nb\n``\n```\n\n~~~\n```\n\naberto'), [
    '```py\na\n\nb\n``\n```',
    '~~~\n```\n\naberto',
  ])
  assert.deepEqual(textsOf(' \n\n'), [])
})

test('a block has the definitions of its links, and text too long to be parsed is plain', () => {
  assert.deepEqual(textsOf('Veja [a][1].\n\nSem.\n\n[1]: https://a.example'), [
    'Veja [a][1].\n\n\n[1]: https://a.example',
    'Sem.\n',
    '[1]: https://a.example',
  ])
  const long = blocksOf(`${'> '.repeat(11_000)}\n${'x\n'.repeat(4_000)}`)
  assert.ok(long.every(({ kind }) => kind === 'plain'))
  assert.ok(long.length > 1, 'so that its rendered part is not rendered again')
})

const HOSTILE: Readonly<Record<string, string>> = {
  'a table with a cell for each pipe of its rule in every line':
    '|a'.repeat(2_000) + '\n' + '|-'.repeat(2_000) + '\n' + '|\n'.repeat(3_000),
  'the same in a quote': `> ${'|a'.repeat(500)}\n> ${'|-'.repeat(500)}\n${'> |\n'.repeat(4_000)}`,
  'lists in lists': `${'- '.repeat(5_000)}a`,
  'numbered lists in quotes': `${'> 1. '.repeat(2_000)}a`,
  'emphasis that never ends': '*a_'.repeat(6_000),
  'depth after code that has ended': `\`\`\`\n\`\`\`\n${'- '.repeat(5_000)}a`,
  'depth in a paragraph that begins like code': `    \`\`\`\na\n${'> '.repeat(50_000)}`,
}

for (const [name, text] of Object.entries(HOSTILE)) {
  test(`hostile Markdown is shown as plain text: ${name}`, () => {
    const rendered = blocksOf(text).filter(({ kind }) => kind === 'markdown')
    assert.ok(rendered.reduce((sum, block) => sum + block.text.length, 0) < 100)
  })
}

test('a long answer has a bounded number of rendered blocks, and loses nothing', () => {
  const paragraphs = blocksOf('a\n\n'.repeat(330_000))
  assert.ok(paragraphs.length < 2_500, `${paragraphs.length} blocks`)
  const count = paragraphs.reduce((sum, { text }) => sum + text.replaceAll(/[^a]/g, '').length, 0)
  assert.equal(count, 330_000)
  const line = blocksOf('a'.repeat(1_000_000))
  assert.deepEqual(
    line.map(({ kind, text }) => [kind, text.length]),
    [['plain', 1_000_000]],
  )
})

test('definitions are repeated only where a block refers to them, and not without end', () => {
  assert.deepEqual(textsOf('[A  b] [z]\n\n[a B]: https://a.example\n\n[c]: https://c.example'), [
    '[A  b] [z]\n\n\n[a B]: https://a.example',
    '[a B]: https://a.example\n',
    '[c]: https://c.example',
  ])
  const address = `https://a.example/${'x'.repeat(2_000)}`
  const text = `[a]: ${address}\n\n${'[a]\n\n'.repeat(2_000)}`
  const length = textsOf(text).reduce((sum, block) => sum + block.length, 0)
  assert.ok(length < text.length + 100_000, `${length}`)
})

test('an ordinary long answer is rendered', () => {
  const table = `| a | b | c |\n| --- | --- | --- |\n${'| 1 | **2** | `3` |\n'.repeat(200)}`
  const list = Array.from(
    { length: 200 },
    (_, i) => `${i + 1}. **Item** com _ênfase_ e [link](https://a.example)`,
  )
  const nested = Array.from({ length: 10 }, (_, depth) => `${'  '.repeat(depth)}- item`)
  for (const text of [table, list.join('\n'), nested.join('\n'), '-'.repeat(200), '* '.repeat(20)])
    assert.ok(
      blocksOf(text).every(({ kind }) => kind === 'markdown'),
      text.slice(0, 40),
    )
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
