// Calls of `@anthropic-ai/sdk` as its users write them. Prints what came back as JSON.
import Anthropic, { APIError } from '@anthropic-ai/sdk'

const { MODEL: model } = process.env
const client = new Anthropic()
const ask = { model, max_tokens: 20_000, messages: [{ role: 'user', content: 'Olá, catraca!' }] }
const tools = [
  {
    name: 'clima',
    description: 'O tempo de uma cidade.',
    input_schema: {
      type: 'object',
      properties: { cidade: { type: 'string' } },
      required: ['cidade'],
    },
  },
]

const plain = await client.messages.create(ask)

const stream = client.messages.stream(ask)
let text = ''
stream.on('text', (delta) => (text += delta))
const streamed = await stream.finalMessage()

/** A loop of tools, streamed. */
const messages = [
  {
    role: 'user',
    content: 'Faça:\nchame clima {"cidade":"Recife"}\nchame clima {"cidade":"Belém"}',
  },
]
const asked = []
let answered
for (;;) {
  answered = await client.messages.stream({ ...ask, messages, tools }).finalMessage()
  messages.push({ role: 'assistant', content: answered.content })
  const calls = answered.content.filter(({ type }) => type === 'tool_use')
  if (answered.stop_reason !== 'tool_use') break
  asked.push(...calls.map(({ name, input }) => [name, input]))
  messages.push({
    role: 'user',
    content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'sol' })),
  })
}

const counted = await client.messages.countTokens({ model, messages: ask.messages })
const models = []
for await (const { id, type } of client.models.list({ limit: 30 })) models.push([type, id])

async function errorOf(call) {
  try {
    await call
    return undefined
  } catch (error) {
    const isKnown = error instanceof APIError
    return { isKnown, name: error.constructor.name, status: error.status, type: error.type }
  }
}
const stranger = new Anthropic({ apiKey: 'sk-svc-none', authToken: null, maxRetries: 0 })
const errors = [
  await errorOf(client.messages.create({ ...ask, model: 'claude-99' })),
  await errorOf(client.messages.create({ ...ask, messages: [] })),
  await errorOf(stranger.messages.create(ask)),
  await errorOf(stranger.models.list()),
]

process.stdout.write(
  JSON.stringify({ plain, streamed, text, asked, answered, counted, models, errors }),
)
