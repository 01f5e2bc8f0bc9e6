/** A first call with a key, ready to run: the code that is shown is the code that is copied. */
export interface Snippet {
  readonly id: string
  readonly text: string
  readonly code: string
}

interface Call {
  /** Includes the version; no trailing slash. */
  readonly baseUrl: string
  readonly secret: string
  readonly model: string
}

export function snippetsOf({ baseUrl, secret, model }: Call): readonly Snippet[] {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Olá!' }] })
  return [
    {
      id: 'curl',
      text: 'curl',
      code: `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`,
    },
    {
      id: 'python',
      text: 'Python',
      code: `# pip install openai
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}",
    api_key="${secret}",
)
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Olá!"}],
)
print(answer.choices[0].message.content)`,
    },
    {
      id: 'javascript',
      text: 'JavaScript',
      code: `// npm install openai
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${baseUrl}',
  apiKey: '${secret}',
})
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Olá!' }],
})
console.log(answer.choices[0].message.content)`,
    },
  ]
}
