/** The playground's request as program code; the code that is shown is the code that is copied. */
import type { ChatBody } from '../../api/stream-chat.ts'
import type { Snippet } from '../keys/snippets.ts'

/** The dashboard never has the secret: programs read it from their environment. */
const SECRET = 'CATRACA_API_KEY'

export function requestSnippets(baseUrl: string, body: ChatBody): readonly Snippet[] {
  const request = { ...body, stream: true }
  return [
    { id: 'curl', text: 'curl', code: curl(baseUrl, request) },
    { id: 'python', text: 'Python', code: python(baseUrl, request) },
    { id: 'javascript', text: 'JavaScript', code: javascript(baseUrl, request) },
  ]
}

function curl(baseUrl: string, request: object): string {
  // Escaped in JSON, an apostrophe cannot end the shell's quoted text.
  const json = JSON.stringify(request, null, 2).replaceAll("'", String.raw`\u0027`)
  return `curl -N ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $${SECRET}" \\
  -H "Content-Type: application/json" \\
  -d '${json}'`
}

function python(baseUrl: string, request: object): string {
  const fields = Object.entries(request).map(
    ([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},`,
  )
  return `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key=os.environ["${SECRET}"])
stream = client.chat.completions.create(
${fields.join('\n')}
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

/** Python writes strings and numbers as JSON does, but has other words for true, false and null. */
export function pythonLiteral(value: unknown, indent = ''): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  const inner = `${indent}    `
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${pythonLiteral(item, inner)},`)
    return items.length === 0 ? '[]' : `[\n${items.join('\n')}\n${indent}]`
  }
  if (typeof value === 'object') {
    const items = Object.entries(value).map(
      ([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonLiteral(item, inner)},`,
    )
    return items.length === 0 ? '{}' : `{\n${items.join('\n')}\n${indent}}`
  }
  return JSON.stringify(value)
}
