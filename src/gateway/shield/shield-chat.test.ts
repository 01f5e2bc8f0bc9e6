import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { restoreChat, shieldChat, type ChatBody, type ShieldOptions } from './shield-chat.ts'

const MASK: ShieldOptions = { action: 'mask', uuids: 'near_pix' }
const BLOCK: ShieldOptions = { action: 'block', uuids: 'near_pix' }

function masked(body: ChatBody) {
  const outcome = shieldChat(body, MASK)
  assert.ok(outcome.kind === 'masked')
  return outcome
}

const CLEAN = { role: 'user', content: 'Qual é a capital do Acre?' }

test('a request without documents is clear', () => {
  assert.deepEqual(shieldChat({ model: 'm', messages: [CLEAN] }, MASK), { kind: 'clear' })
  assert.deepEqual(shieldChat({}, MASK), { kind: 'clear' })
})

test('all texts of messages are masked; ids, images and files stay', () => {
  const messages = [
    { role: 'system', content: 'Atenda joao@exemplo.com' },
    {
      role: 'user',
      name: 'cliente_52998224725',
      content: [
        { type: 'text', text: 'CPF 529.982.247-25' },
        { type: 'image_url', image_url: { url: 'https://exemplo.com/52998224725.png' } },
        { type: 'file', file: { filename: '52998224725.pdf', file_data: 'data:,52998224725' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Busco 52998224725.',
      tool_calls: [
        {
          id: 'call_52998224725',
          type: 'function',
          function: { name: 'busca', arguments: '{"cpf":52998224725,"para":"joao@exemplo.com"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_52998224725', content: '{"email":"joao@exemplo.com"}' },
  ]
  const { body, counts } = masked({ model: 'm', messages })
  assert.deepEqual(body.messages, [
    { role: 'system', content: 'Atenda EMAIL1QZ' },
    {
      role: 'user',
      name: 'cliente_CPF1QZ',
      content: [
        { type: 'text', text: 'CPF CPF1V2QZ' },
        { type: 'image_url', image_url: { url: 'https://exemplo.com/52998224725.png' } },
        { type: 'file', file: { filename: 'CPF1QZ.pdf', file_data: 'data:,52998224725' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Busco CPF1QZ.',
      tool_calls: [
        {
          id: 'call_52998224725',
          type: 'function',
          function: { name: 'busca', arguments: '{"cpf":"CPF1V3QZ","para":"EMAIL1QZ"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_52998224725', content: '{"email":"EMAIL1QZ"}' },
  ])
  assert.deepEqual(counts, { email: 3, cpf: 5 })
})

test('nothing is copied that has nothing to mask, and the request itself stays as it was', () => {
  const dirty = { role: 'user', content: 'CPF 529.982.247-25' }
  const request = { model: 'm', messages: [CLEAN, dirty], tools: [{ type: 'function' }] }
  const before = structuredClone(request)
  const { body } = masked(request)
  assert.deepEqual(request, before)
  assert.equal((body.messages as unknown[])[0], CLEAN)
  assert.equal(body.tools, request.tools)
  assert.deepEqual(Object.keys(body), Object.keys(request))
})

test('tools, schemas and settings are masked, whatever their fields are called', () => {
  const { body } = masked({
    model: 'm',
    messages: [{ role: 'user', content: 'oi, ana@exemplo.com' }],
    user: 'joao@exemplo.com',
    tools: [
      {
        type: 'function',
        function: {
          name: 'busca',
          parameters: { properties: { id: { description: 'como 52998224725' } } },
        },
      },
    ],
  })
  assert.equal(body.user, 'EMAIL1QZ')
  assert.match(JSON.stringify(body.tools), /como CPF1QZ/)
  // The fields besides the messages are the same in each turn, so they are numbered first.
  assert.match(JSON.stringify(body.messages), /EMAIL2QZ/)
})

test('properties that a schema names are masked, as in the list of the required ones', () => {
  const name = 'joao@exemplo.com'
  const { body, placeholders } = masked({
    tools: [{ function: { parameters: { properties: { [name]: {} }, required: [name] } } }],
  })
  const text = JSON.stringify(body.tools)
  assert.equal(
    text,
    '[{"function":{"parameters":{"properties":{"EMAIL1QZ":{}},"required":["EMAIL1QZ"]}}}]',
  )
  const call = { function: { arguments: '{"EMAIL1QZ":1}' } }
  const answer = restoreChat({ choices: [{ message: { tool_calls: [call] } }] }, placeholders)
  assert.match(JSON.stringify(answer), /joao@exemplo\.com/)
})

test('the next turn of a conversation keeps the placeholders of the first', () => {
  const first = [{ role: 'user', content: 'a@exemplo.com e 52998224725' }]
  const next = [...first, { role: 'assistant', content: '52998224725, b@exemplo.com' }]
  const [one, other] = [masked({ messages: first }), masked({ messages: next })]
  assert.deepEqual((other.body.messages as unknown[]).slice(0, 1), one.body.messages)
})

test('placeholders are never texts that the request contains in any of its strings', () => {
  const { body, placeholders } = masked({
    messages: [
      { role: 'user', content: 'cpf1qz CPF1V2ZK email3QK 52998224725' },
      { role: 'user', content: 'CPF9KWX' },
    ],
    stop: ['CPF1WX'],
  })
  const text = (body.messages as { content: string }[])[0]?.content as string
  const placeholder = text.split(' ').at(-1) as string
  assert.match(placeholder, /^CPF1[QZKWX]+$/)
  assert.ok(!['CPF1QZ', 'CPF1ZK', 'CPF1QK', 'CPF1KW', 'CPF1WX'].includes(placeholder))
  const answer = { choices: [{ message: { content: text } }] }
  assert.match(
    JSON.stringify(restoreChat(answer, placeholders)),
    /cpf1qz CPF1V2ZK email3QK 52998224725/,
  )
})

test('an answer gets its values back, numbers in arguments as numbers', () => {
  const { placeholders } = masked({
    messages: [
      { role: 'user', content: String.raw`{"cnpj":"11.222.333\/0001-81"} o'brien@exemplo.com` },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"cpf": 52998224725}' } }],
      },
    ],
  })
  const answer = {
    id: 'chatcmpl-CPF1QZ',
    choices: [
      {
        message: {
          content: 'CNPJ1QZ, **EMAIL1QZ**, cpf1qz, CPF2QZ, CPF1V2QZ',
          tool_calls: [
            {
              id: 'b',
              function: {
                name: 'f',
                arguments: '{"cpf": "CPF1QZ", "cnpj": "CNPJ1QZ", "nota": "x CPF1QZ"}',
              },
            },
          ],
        },
      },
    ],
  }
  const restored = restoreChat(answer, placeholders) as typeof answer
  const message = restored.choices[0]?.message
  assert.equal(restored.id, answer.id)
  assert.equal(
    message?.content,
    `11.222.333/0001-81, **o'brien@exemplo.com**, 52998224725, CPF2QZ, CPF1V2QZ`,
  )
  assert.equal(
    message?.tool_calls[0]?.function.arguments,
    String.raw`{"cpf": 52998224725, "cnpj": "11.222.333\/0001-81", "nota": "x 52998224725"}`,
  )
  const without = { choices: [{ message: { content: 'nada' } }] }
  assert.equal(restoreChat(without, placeholders), without)
})

test('a number of JSON is masked as a whole, in lists and within strings', () => {
  const maskedAs = (text: string): string => {
    const { body } = masked({ messages: [{ role: 'tool', content: text }] })
    return (body.messages as { content: string }[])[0]?.content as string
  }
  assert.equal(maskedAs('{"n":52998224725.0}'), '{"n":"CPF1QZ"}')
  assert.equal(maskedAs('{"n":-5.2998224725e10}'), '{"n":"CPF1QZ"}')
  assert.equal(maskedAs('{"52998224725": [ 52998224725 ]}'), '{"CPF1QZ": [ "CPF1V2QZ" ]}')
  assert.equal(maskedAs('[529,982,247,25] 529,982,247-25'), '[529,982,247,25] CPF1QZ')
  const nested = maskedAs(JSON.stringify({ a: JSON.stringify({ n: 52998224725 }) }))
  assert.deepEqual(JSON.parse(JSON.parse(nested).a), { n: 'CPF1QZ' })
  assert.equal(maskedAs('O CPF é 52998224725.'), 'O CPF é CPF1QZ.')
})

test('a number of the request is masked as a number, and comes back within arguments', () => {
  const { body, placeholders } = masked({
    seed: 52998224725,
    tools: [{ function: { parameters: { enum: [11144477735, 12], minimum: 5.2998224725e10 } } }],
  })
  assert.equal(body.seed, 700_000_000_000_001)
  assert.equal(
    JSON.stringify(body.tools),
    '[{"function":{"parameters":{"enum":[700000000000002,12],"minimum":700000000000001}}}]',
  )
  const call = { function: { arguments: '{"n":700000000000002}' } }
  const answer = restoreChat({ choices: [{ message: { tool_calls: [call] } }] }, placeholders)
  assert.match(JSON.stringify(answer), /\{\\"n\\":11144477735\}/)
})

test('a value with a tab comes back escaped into JSON, and as it stood into text', () => {
  const { placeholders } = masked({ messages: [{ role: 'user', content: 'fone 11\t98765-4321' }] })
  const contents = ['{"fone":"TELEFONE1QZ"}', 'é TELEFONE1QZ', '"TELEFONE1QZ" {']
  const choices = contents.map((content) => ({ message: { content } }))
  const answer = restoreChat({ choices }, placeholders) as { choices: typeof choices }
  const [json = '', text, quoted] = answer.choices.map(({ message }) => message.content)
  assert.deepEqual(JSON.parse(json), { fone: '11\t98765-4321' })
  assert.equal(text, 'é 11\t98765-4321')
  assert.ok(quoted?.startsWith(JSON.stringify('11\t98765-4321')))
})

test('blocking says what was found and where, and never a value', () => {
  const outcome = shieldChat(
    {
      messages: [CLEAN, { role: 'user', content: '52998224725 e 52998224725, a@exemplo.com' }],
      'x 52998224725': '529.982.247-25',
      user: 'a@exemplo.com',
    },
    BLOCK,
  )
  assert.deepEqual(outcome, {
    kind: 'blocked',
    counts: { cpf: 3, email: 2 },
    places: ['request', 'user', 'messages[1]'],
  })
})

test('what is kept for the answer shows no value when it is printed', () => {
  const { placeholders } = masked({ messages: [{ role: 'user', content: '52998224725' }] })
  assert.doesNotMatch(inspect(placeholders, { depth: 9 }), /52998224725/)
  assert.equal(JSON.stringify(placeholders), '{}')
})

test('a field named __proto__ stays a field', () => {
  const tools = JSON.parse('[{"__proto__": {"x": "52998224725"}}]') as unknown[]
  const { body } = masked({ messages: [CLEAN], tools })
  assert.equal(JSON.stringify(body.tools), '[{"__proto__":{"x":"CPF1QZ"}}]')
})
