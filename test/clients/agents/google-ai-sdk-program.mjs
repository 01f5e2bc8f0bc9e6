// A loop of tools by `ai` and `@ai-sdk/google` in their default settings, and a stream. Prints what came back as JSON.
import { createGoogle } from '@ai-sdk/google'
import { embedMany, generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'

const { MODEL: model, VECTORS: vectors, ADDRESS: baseURL, KEY: apiKey } = process.env
const google = createGoogle({ baseURL, apiKey })

const tools = {
  clima: tool({
    description: 'O tempo de uma cidade.',
    inputSchema: z.object({ cidade: z.string() }),
    execute: () => 'sol',
  }),
}
const prompt = 'Faça:\nchame clima {"cidade":"Recife"}\nchame clima {"cidade":"Belém"}'
const loop = await generateText({ model: google(model), tools, prompt, stopWhen: isStepCount(5) })
const stream = streamText({ model: google(model), prompt: 'Olá, catraca!' })
let text = ''
for await (const part of stream.textStream) text += part
const { embeddings } = await embedMany({
  model: google.embedding(vectors),
  values: ['um', 'dois'],
})

async function errorOf(call) {
  try {
    await call
    return undefined
  } catch ({ name, statusCode, message }) {
    return { name, statusCode, message }
  }
}
const stranger = createGoogle({ baseURL, apiKey: 'sk-svc-none' })
const error = await errorOf(generateText({ model: stranger(model), prompt, maxRetries: 0 }))

process.stdout.write(
  JSON.stringify({
    asked: loop.steps.flatMap(({ toolCalls }) => toolCalls.map(({ input }) => input.cidade)),
    answered: loop.text,
    text,
    reason: await stream.finishReason,
    usage: await stream.usage,
    count: embeddings.length,
    error,
  }),
)
