/** The playground's request as program code; the code that is shown is the code that is copied. */
import type { ChatBody } from '../../api/stream-chat.ts'
import type { CodeSample } from '../../../../src/site/pages/code-samples.ts'
import { pythonLiteral } from '../../../../src/platform/lib/python-literal.ts'

/** The dashboard never has the secret: programs read it from their environment. */
const SECRET = 'CATRACA_API_KEY'

export function requestSnippets(baseUrl: string, body: ChatBody): readonly CodeSample[] {
  const request = { ...body, stream: true }
  return [
    { id: 'curl', client: 'curl', code: curl(`${baseUrl}/chat/completions`, request) },
    { id: 'python', client: 'Python', code: python(baseUrl, request) },
    { id: 'javascript', client: 'JavaScript', code: javascript(baseUrl, request) },
  ]
}

/** The request of a model that draws. */
export function imageSnippets(
  baseUrl: string,
  body: { readonly model: string; readonly prompt: string },
): readonly CodeSample[] {
  const request = { ...body, response_format: 'b64_json' }
  return [
    { id: 'curl', client: 'curl', code: curl(`${baseUrl}/images/generations`, request) },
    { id: 'python', client: 'Python', code: pythonImage(baseUrl, request) },
    { id: 'javascript', client: 'JavaScript', code: javascriptImage(baseUrl, request) },
  ]
}

function curl(address: string, request: object): string {
  // Escaped in JSON, an apostrophe cannot end the shell's quoted text.
  const json = JSON.stringify(request, null, 2).replaceAll("'", String.raw`\u0027`)
  return `curl -N ${address} \\
  -H "Authorization: Bearer $${SECRET}" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`
}

function python(baseUrl: string, request: object): string {
  return `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key=os.environ["${SECRET}"])
stream = client.chat.completions.create(
${pythonFields(request)}
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
}

function javascript(baseUrl: string, request: object): string {
  return `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: process.env.${SECRET} })
const stream = await client.chat.completions.create(${JSON.stringify(request, null, 2)})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
}`
}

function pythonFields(request: object): string {
  return Object.entries(request)
    .map(([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},`)
    .join('\n')
}

function pythonImage(baseUrl: string, request: object): string {
  return `# pip install openai
import base64
import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key=os.environ["${SECRET}"])
answer = client.images.generate(
${pythonFields(request)}
)
with open("imagem.png", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))`
}

function javascriptImage(baseUrl: string, request: object): string {
  return `// npm install openai
import { writeFile } from 'node:fs/promises'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: process.env.${SECRET} })
const answer = await client.images.generate(${JSON.stringify(request, null, 2)})
await writeFile('imagem.png', Buffer.from(answer.data[0].b64_json, 'base64'))`
}
