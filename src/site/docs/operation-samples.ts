/** The request of an operation in curl, Python and JavaScript. */
import { pythonLiteral } from '../../platform/lib/python-literal.ts'
import {
  audioSamples,
  chatSamples,
  curlSample,
  embeddingSamples,
  imageSamples,
  PLACE_OF_SECRET,
  type CodeSample,
} from '../pages/code-samples.ts'
import type { Operation } from './api-document.ts'
import type { GuideFacts } from './doc-page.ts'
import { exampleBodies } from './example-bodies.ts'

const ID = '1f81eb52-5198-4599-803e-771906343485'

export function operationSamples(operation: Operation, facts: GuideFacts): readonly CodeSample[] {
  return clientSamples(operation, facts) ?? plainSamples(operation, facts)
}

/** Operations that client libraries have are called by them. */
function clientSamples(
  { name }: Operation,
  { origin, models }: GuideFacts,
): readonly CodeSample[] | undefined {
  const use = (model: string) => ({ origin, secret: PLACE_OF_SECRET, model })
  switch (name) {
    case 'POST /chat/completions':
      return chatSamples(use(models.chat))
    case 'POST /embeddings':
      return embeddingSamples(use(models.embedding))
    case 'POST /images/generations':
      return imageSamples(use(models.image))
    case 'POST /audio/transcriptions':
      return audioSamples(use(models.audio))
    default:
      return undefined
  }
}

interface Request {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object | undefined
}

function plainSamples(operation: Operation, { origin, models }: GuideFacts): CodeSample[] {
  const { name, method, parameters } = operation
  const body = exampleBodies(models)[name]
  const repeats = parameters.some((each) => each.name === 'idempotency-key')
  const request: Request = {
    method,
    url: `${origin}/v1${pathOf(operation, models.chat)}`,
    headers: {
      ...credentials(operation),
      ...(repeats ? { 'Idempotency-Key': ID } : {}),
    },
    body,
  }
  return [curl(request), python(request), javascript(request)]
}

/** No operation needs a query. */
function pathOf({ path }: Operation, model: string): string {
  return path.replace(/\{(\w+)\}/g, () => (path.startsWith('/models/') ? model : ID))
}

function credentials({ access, isForOperators, method }: Operation): Record<string, string> {
  if (access === 'public') return {}
  if (!isForOperators) return { Authorization: `Bearer ${PLACE_OF_SECRET}` }
  return {
    Cookie: '__Host-catraca.session_token=SUA_SESSAO',
    ...(method === 'GET' ? {} : { 'x-csrf-token': 'SEU_TOKEN' }),
  }
}

function curl({ method, url, headers, body }: Request): CodeSample {
  const usual = method === (body ? 'POST' : 'GET')
  const lines = [
    `curl ${usual ? '' : `-X ${method} `}${url}`,
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
  ]
  if (body) {
    const [, ...rest] = curlSample({ origin: '', secret: '' }, '', body).code.split(' \\\n')
    lines.push(...rest.slice(1).map((line) => line.trim()))
  }
  return { id: 'curl', client: 'curl', code: lines.join(' \\\n  ') }
}

function python({ method, url, headers, body }: Request): CodeSample {
  const sent = Object.keys(headers).length > 0
  const code = `# pip install requests
import requests

resposta = requests.${method.toLowerCase()}(
    "${url}",${sent ? `\n    headers=${pythonLiteral(headers, '    ')},` : ''}${body ? `\n    json=${pythonLiteral(body, '    ')},` : ''}
)
resposta.raise_for_status()
print(resposta.text)`
  return { id: 'python', client: 'Python', code }
}

function javascript({ method, url, headers, body }: Request): CodeSample {
  const all = { ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) }
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(Object.keys(all).length > 0 ? [`  headers: ${indented(all)},`] : []),
    ...(body ? [`  body: JSON.stringify(${indented(body)}),`] : []),
  ]
  const given = options.length > 0 ? `, {\n${options.join('\n')}\n}` : ''
  const code = `const resposta = await fetch('${url}'${given})
if (!resposta.ok) throw new Error(await resposta.text())
console.log(await resposta.text())`
  return { id: 'javascript', client: 'JavaScript', code }
}

function indented(value: object): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
}
