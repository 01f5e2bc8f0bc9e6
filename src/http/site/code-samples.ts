/** The first call with each client. Instead of a key they have `SUA_CHAVE`. */
import type { Model } from '../../catalog/model.ts'

export interface CodeSample {
  readonly client: string
  readonly code: string
}

const KEY = 'SUA_CHAVE'

/** Empty for a model of a kind that has no operation. `origin`: the address of the service without a version. */
export function codeSamples({ id, category, image }: Model, origin: string): CodeSample[] {
  if (category === 'llm') return [...chatSamples(id, origin), ...agentSamples(id, origin)]
  if (category === 'embedding') return embeddingSamples(id, origin)
  if (category === 'image') return imageSamples(id, origin, image?.sizes[0])
  return category === 'audio' ? audioSamples(id, origin) : []
}

export function curlChat(model: string, origin: string): string {
  return curl(`${origin}/v1/chat/completions`, {
    model,
    messages: [{ role: 'user', content: 'Olá!' }],
  })
}

function curl(address: string, body: object): string {
  return `curl ${address} \\
  -H "Authorization: Bearer ${KEY}" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`
}

const python = (origin: string, code: string) => `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${KEY}")
${code}`

const javascript = (origin: string, code: string) => `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${KEY}' })
${code}`

function chatSamples(id: string, origin: string): CodeSample[] {
  const name = JSON.stringify(id)
  return [
    { client: 'curl', code: curlChat(id, origin) },
    {
      client: 'Python',
      code: python(
        origin,
        `resposta = client.chat.completions.create(
    model=${name},
    messages=[{"role": "user", "content": "Olá!"}],
)
print(resposta.choices[0].message.content)
print(resposta.cost_billed_brl)  # quanto custou, em reais`,
      ),
    },
    {
      client: 'JavaScript',
      code: javascript(
        origin,
        `const resposta = await client.chat.completions.create({
  model: ${name},
  messages: [{ role: 'user', content: 'Olá!' }],
})
console.log(resposta.choices[0].message.content)
console.log(resposta.cost_billed_brl) // quanto custou, em reais`,
      ),
    },
  ]
}

function agentSamples(id: string, origin: string): CodeSample[] {
  return [
    {
      client: 'Claude Code',
      code: `ANTHROPIC_BASE_URL=${origin} \\
ANTHROPIC_AUTH_TOKEN=${KEY} \\
ANTHROPIC_MODEL=${id} \\
ANTHROPIC_DEFAULT_HAIKU_MODEL=${id} \\
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \\
claude`,
    },
    {
      client: 'Codex',
      code: `CATRACA_API_KEY=${KEY} codex -c model=${id} \\
  -c model_provider=catraca \\
  -c 'model_providers.catraca={name="Catraca",base_url="${origin}/v1",env_key="CATRACA_API_KEY",wire_api="responses"}'`,
    },
    {
      client: 'Cursor',
      code: `# Cursor Settings → Models → API Keys
OpenAI API Key: ${KEY}
Override OpenAI Base URL: ${origin}/v1
Add model: ${id}`,
    },
  ]
}

function embeddingSamples(model: string, origin: string): CodeSample[] {
  const name = JSON.stringify(model)
  return [
    { client: 'curl', code: curl(`${origin}/v1/embeddings`, { model, input: 'Olá!' }) },
    {
      client: 'Python',
      code: python(
        origin,
        `resposta = client.embeddings.create(model=${name}, input="Olá!")
print(len(resposta.data[0].embedding))`,
      ),
    },
    {
      client: 'JavaScript',
      code: javascript(
        origin,
        `const resposta = await client.embeddings.create({ model: ${name}, input: 'Olá!' })
console.log(resposta.data[0].embedding.length)`,
      ),
    },
  ]
}

function imageSamples(model: string, origin: string, size: string | undefined): CodeSample[] {
  const body = { model, prompt: 'Uma catraca de metrô ao pôr do sol', ...(size && { size }) }
  return [
    { client: 'curl', code: curl(`${origin}/v1/images/generations`, body) },
    {
      client: 'Python',
      code: python(
        origin,
        `resposta = client.images.generate(
    model=${JSON.stringify(model)},
    prompt="${body.prompt}",
)
print(resposta.data[0].url)`,
      ),
    },
  ]
}

function audioSamples(model: string, origin: string): CodeSample[] {
  return [
    {
      client: 'curl',
      code: `curl ${origin}/v1/audio/transcriptions \\
  -H "Authorization: Bearer ${KEY}" \\
  -F model=${model} \\
  -F file=@reuniao.mp3`,
    },
    {
      client: 'Python',
      code: python(
        origin,
        `with open("reuniao.mp3", "rb") as audio:
    resposta = client.audio.transcriptions.create(model=${JSON.stringify(model)}, file=audio)
print(resposta.text)`,
      ),
    },
  ]
}
