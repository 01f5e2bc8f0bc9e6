// Calls of `@google/genai` as its users write them. Prints what came back as JSON.
import { ApiError, GoogleGenAI } from '@google/genai'

const { MODEL: model, VECTORS: vectors, IMAGE: image, POOR_KEY: poorKey } = process.env
// Its address and its key are in the variables that the library reads.
const ai = new GoogleGenAI({})
const ask = { model, contents: 'Olá, catraca!' }
const functionDeclarations = [
  {
    name: 'clima',
    description: 'O tempo de uma cidade.',
    parameters: {
      type: 'OBJECT',
      properties: { cidade: { type: 'STRING' } },
      required: ['cidade'],
    },
  },
]

const plain = await ai.models.generateContent(ask)

let text = ''
let last
for await (const chunk of await ai.models.generateContentStream(ask)) {
  text += chunk.text ?? ''
  last = chunk
}

/** A loop of tools in a chat, streamed; the library keeps its history. */
const chat = ai.chats.create({ model, config: { tools: [{ functionDeclarations }] } })
const asked = []
let message = 'Faça:\nchame clima {"cidade":"Recife"}\nchame clima {"cidade":"Belém"}'
let answered
for (;;) {
  const calls = []
  answered = ''
  for await (const chunk of await chat.sendMessageStream({ message })) {
    calls.push(...(chunk.functionCalls ?? []))
    answered += chunk.text ?? ''
  }
  if (calls.length === 0) break
  asked.push(...calls.map(({ name, args }) => [name, args]))
  message = calls.map(({ id, name }) => ({
    functionResponse: { id, name, response: { output: 'sol' } },
  }))
}

const seen = await ai.models.generateContent({
  model,
  contents: [{ text: 'Olá' }, { inlineData: { mimeType: 'image/png', data: image } }],
})
const shaped = await ai.models.generateContent({
  ...ask,
  config: {
    responseMimeType: 'application/json',
    responseSchema: {
      type: 'OBJECT',
      properties: { nome: { type: 'STRING' } },
      required: ['nome'],
    },
  },
})
const counted = await ai.models.countTokens(ask)
const embedded = await ai.models.embedContent({
  model: vectors,
  contents: ['um', 'dois'],
  config: { outputDimensionality: 8 },
})
const models = []
for await (const { name } of await ai.models.list({ config: { pageSize: 10 } })) models.push(name)
const one = await ai.models.get({ model })

async function errorOf(call) {
  try {
    await call()
    return undefined
  } catch (error) {
    const isKnown = error instanceof ApiError
    return { isKnown, code: error.status, status: /"status":"(\w+)"/.exec(error.message)?.[1] }
  }
}
const stranger = new GoogleGenAI({ apiKey: 'sk-svc-none' })
const poor = new GoogleGenAI({ apiKey: poorKey })
const errors = [
  await errorOf(() => ai.models.generateContent({ ...ask, model: 'gemini-99' })),
  await errorOf(() =>
    ai.models.generateContent({ ...ask, config: { cachedContent: 'cachedContents/1' } }),
  ),
  await errorOf(() => stranger.models.generateContent(ask)),
  await errorOf(() => poor.models.generateContent(ask)),
  await errorOf(() => poor.models.generateContentStream(ask)),
]

process.stdout.write(
  JSON.stringify({
    plain: [plain.text, plain.candidates[0].finishReason, plain.usageMetadata],
    streamed: [text, last.candidates[0].finishReason, last.usageMetadata],
    asked,
    answered,
    imageTokens: seen.usageMetadata.promptTokenCount,
    shaped: JSON.parse(shaped.text),
    counted: counted.totalTokens,
    lengths: embedded.embeddings.map(({ values }) => values.length),
    models,
    one,
    errors,
  }),
)
