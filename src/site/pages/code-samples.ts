import type { ModelOperation } from '../../money/catalog/model.ts'

/**
 * How programs and agents call the service. The pages of the site, the documentation and the dashboard show these same
 * texts, and what is shown is what is copied.
 */
export interface CodeSample {
  readonly id: string
  readonly client: string
  readonly code: string
}

export interface Use {
  /** Without the version and without a trailing slash. */
  readonly origin: string
  /** The secret of a key, or a text in its place. */
  readonly secret: string
  readonly model: string
}

/** Longer bodies of curl are written over several lines. */
const LINE_LENGTH_MAX = 90

/** The text that stands where the secret belongs. */
export const PLACE_OF_SECRET = 'SUA_CHAVE'

export function chatSamples(use: Use): readonly CodeSample[] {
  const name = JSON.stringify(use.model)
  const body = { model: use.model, messages: [{ role: 'user', content: 'Olá!' }] }
  return [
    curlSample(use, '/chat/completions', body),
    pythonSample(
      use,
      `resposta = client.chat.completions.create(
    model=${name},
    messages=[{"role": "user", "content": "Olá!"}],
)
print(resposta.choices[0].message.content)
print(resposta.cost_billed_brl)  # quanto custou, em reais`,
    ),
    javascriptSample(
      use,
      `const resposta = await client.chat.completions.create({
  model: ${name},
  messages: [{ role: 'user', content: 'Olá!' }],
})
console.log(resposta.choices[0].message.content)
console.log(resposta.cost_billed_brl) // quanto custou, em reais`,
    ),
  ]
}

/** Returns, for each agent, the command that starts it here, or the settings to enter. */
export function agentSamples({ origin, secret, model }: Use): readonly CodeSample[] {
  return [
    {
      id: 'claude-code',
      client: 'Claude Code',
      code: `ANTHROPIC_BASE_URL=${origin} \\
ANTHROPIC_AUTH_TOKEN=${secret} \\
ANTHROPIC_MODEL=${model} \\
ANTHROPIC_DEFAULT_OPUS_MODEL=${model} \\
ANTHROPIC_DEFAULT_SONNET_MODEL=${model} \\
ANTHROPIC_DEFAULT_HAIKU_MODEL=${model} \\
CLAUDE_CODE_SUBAGENT_MODEL=${model} \\
CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \\
claude`,
    },
    {
      id: 'codex',
      client: 'Codex',
      code: `CATRACA_API_KEY=${secret} codex -c model=${model} \\
  -c model_provider=catraca \\
  -c 'model_providers.catraca={name="Catraca",base_url="${origin}/v1",env_key="CATRACA_API_KEY",wire_api="responses"}'`,
    },
    {
      id: 'cursor',
      client: 'Cursor',
      code: `# Cursor Settings → Models → API Keys
OpenAI API Key: ${secret}
Override OpenAI Base URL: ${origin}/v1
Add model: ${model}`,
    },
  ]
}

export function embeddingSamples(use: Use): readonly CodeSample[] {
  const name = JSON.stringify(use.model)
  return [
    curlSample(use, '/embeddings', { model: use.model, input: 'Olá!' }),
    pythonSample(
      use,
      `resposta = client.embeddings.create(model=${name}, input="Olá!")
print(len(resposta.data[0].embedding))`,
    ),
    javascriptSample(
      use,
      `const resposta = await client.embeddings.create({ model: ${name}, input: 'Olá!' })
console.log(resposta.data[0].embedding.length)`,
    ),
  ]
}

export function imageSamples(use: Use, size?: string): readonly CodeSample[] {
  const prompt = 'Uma catraca de metrô ao pôr do sol'
  const name = JSON.stringify(use.model)
  return [
    curlSample(use, '/images/generations', { model: use.model, prompt, ...(size && { size }) }),
    pythonSample(
      use,
      `resposta = client.images.generate(
    model=${name},
    prompt="${prompt}",
)
print(resposta.data[0].url)`,
    ),
    javascriptSample(
      use,
      `const resposta = await client.images.generate({
  model: ${name},
  prompt: '${prompt}',
})
console.log(resposta.data[0].url)`,
    ),
  ]
}

export function audioSamples(use: Use): readonly CodeSample[] {
  const { origin, secret, model } = use
  return [
    {
      id: 'curl',
      client: 'curl',
      code: `curl ${origin}/v1/audio/transcriptions \\
  -H "Authorization: Bearer ${secret}" \\
  -F model=${model} \\
  -F file=@reuniao.mp3`,
    },
    pythonSample(
      use,
      `with open("reuniao.mp3", "rb") as audio:
    resposta = client.audio.transcriptions.create(model=${JSON.stringify(model)}, file=audio)
print(resposta.text)`,
    ),
    javascriptSample(
      use,
      `import { createReadStream } from 'node:fs'

const resposta = await client.audio.transcriptions.create({
  model: ${JSON.stringify(model)},
  file: createReadStream('reuniao.mp3'),
})
console.log(resposta.text)`,
    ),
  ]
}

/** Writes a call with curl. `flags` are curl's own, such as `-N`. */
export function curlSample(
  { origin, secret }: Pick<Use, 'origin' | 'secret'>,
  path: string,
  body: object,
  flags = '',
): CodeSample {
  const short = JSON.stringify(body)
  const text = short.length > LINE_LENGTH_MAX ? JSON.stringify(body, null, 2) : short
  const json = text.replaceAll("'", String.raw`'\''`)
  return {
    id: 'curl',
    client: 'curl',
    code: `curl ${flags && `${flags} `}${origin}/v1${path} \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`,
  }
}

/** Writes a call in Python. `code` uses the `client` of the library; imports at its beginning come first. */
export function pythonSample(
  { origin, secret }: Pick<Use, 'origin' | 'secret'>,
  code: string,
): CodeSample {
  const [, imports = '', rest = ''] = /^((?:(?:import|from) .*\n)*)\n?([^]*)$/.exec(code) ?? []
  return {
    id: 'python',
    client: 'Python',
    code: `# pip install openai
${imports}from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${secret}")
${rest}`,
  }
}

/** Writes a call in JavaScript. `code` uses the `client` of the library; imports at its beginning come first. */
export function javascriptSample(
  { origin, secret }: Pick<Use, 'origin' | 'secret'>,
  code: string,
): CodeSample {
  const [, imports = '', rest = ''] = /^((?:import .*\n)*)\n?([^]*)$/.exec(code) ?? []
  return {
    id: 'javascript',
    client: 'JavaScript',
    code: `// npm install openai
${imports}import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${secret}' })
${rest}`,
  }
}

function rerankSamples(use: Use): readonly CodeSample[] {
  const documents = ['O reembolso é pedido em Saldo.', 'O saldo não vence.']
  const body = { model: use.model, query: 'Como peço reembolso?', documents, top_n: 1 }
  return [curlSample(use, '/rerank', body)]
}

/** What decides about the call of a model. */
export interface SampledModel {
  readonly id: string
  readonly operation: ModelOperation
  /** The size of a picture that is asked for, where the model knows its sizes. */
  readonly size?: string | undefined
}

/** Returns the first call of a model with each client. */
export function modelSamples(
  { id, operation, size }: SampledModel,
  origin: string,
): readonly CodeSample[] {
  const use = { origin, secret: PLACE_OF_SECRET, model: id }
  const samplesOf: Record<ModelOperation, () => readonly CodeSample[]> = {
    chat: () => [...chatSamples(use), ...agentSamples(use)],
    embeddings: () => embeddingSamples(use),
    rerank: () => rerankSamples(use),
    moderations: () => [curlSample(use, '/moderations', { model: id, input: 'Olá!' })],
    images: () => imageSamples(use, size),
    speech: () => [curlSample(use, '/audio/speech', { model: id, input: 'Olá!', voice: 'alloy' })],
    transcriptions: () => audioSamples(use),
    videos: () => [curlSample(use, '/videos', { model: id, prompt: 'Uma catraca de metrô' })],
  }
  return samplesOf[operation]()
}
