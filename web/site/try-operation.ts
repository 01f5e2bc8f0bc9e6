/** "Experimentar": calls an operation with a key that stays in this tab's memory and is sent to this server alone. */
import { say } from './say.ts'

interface Field {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly isRequired: boolean
}

/** For all operations of the page. */
let key = ''
let forms = 0

export function openTrial(place: HTMLElement): void {
  const { method = 'GET', path = '', fields = '[]', needsKey } = place.dataset
  const names = JSON.parse(fields) as readonly Field[]
  const form = document.createElement('form')
  form.className = 'card'
  const number = ++forms
  const keyField = inputFor(`chave-${number}`, say('Sua chave de API', 'Your API key'), 'password')
  keyField.input.value = key
  keyField.input.required = needsKey === 'true'
  const inputs = names.map((field) => ({
    field,
    ...inputFor(`campo-${number}-${field.name}`, field.name, 'text'),
  }))
  for (const { field, input } of inputs) input.required = field.isRequired
  const body = method === 'POST' ? bodyFor(number) : undefined
  const output = document.createElement('output')
  const send = document.createElement('button')
  send.className = 'button'
  send.textContent = say('Enviar', 'Send')
  const row = document.createElement('div')
  row.className = 'fields'
  row.append(keyField.label, ...inputs.map(({ label }) => label))
  form.append(row, ...(body ? [body.label] : []), note(method), send, output)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    key = keyField.input.value.trim()
    send.disabled = true
    const values = new Map(inputs.map(({ field, input }) => [field, input.value.trim()]))
    const address = addressOf(path, values)
    output.replaceChildren(...(await call(method, address, body?.area.value)))
    send.disabled = false
  })
  place.replaceChildren(form)
  keyField.input.focus()
}

function inputFor(id: string, text: string, type: string) {
  const [label, input] = [document.createElement('label'), document.createElement('input')]
  input.type = type
  input.id = id
  input.autocomplete = 'off'
  input.spellcheck = false
  label.append(text, input)
  return { label, input }
}

/** The example of the curl above. */
function bodyFor(number: number) {
  const [label, area] = [document.createElement('label'), document.createElement('textarea')]
  area.id = `corpo-${number}`
  area.spellcheck = false
  const shown = document.querySelector('pre[data-sample="curl"]')?.textContent ?? ''
  const [, json = '{}'] = /-d '([^]*)'$/.exec(shown) ?? []
  area.value = JSON.stringify(JSON.parse(json), null, 2)
  label.append(say('Corpo', 'Body'), area)
  return { label, area }
}

function note(method: string): HTMLElement {
  const text = document.createElement('p')
  text.className = 'small muted'
  text.textContent =
    method === 'GET'
      ? say(
          'A chave fica só nesta aba, na memória, e some ao sair da página.',
          'The key stays in the memory of this tab, and is gone when you leave the page.',
        )
      : say(
          'A chave fica só nesta aba, na memória. A chamada é de verdade, e sai do saldo.',
          'The key stays in the memory of this tab. The call is real, and is charged to the balance.',
        )
  return text
}

function addressOf(path: string, values: ReadonlyMap<Field, string>): string {
  let filled = path
  const query = new URLSearchParams()
  for (const [field, value] of values) {
    if (field.in === 'path') filled = filled.replace(`{${field.name}}`, encodeURIComponent(value))
    else if (value !== '') query.set(field.name, value)
  }
  return `/v1${filled}${query.size > 0 ? `?${query}` : ''}`
}

async function call(
  method: string,
  address: string,
  body: string | undefined,
): Promise<HTMLElement[]> {
  const startedMs = performance.now()
  try {
    const answer = await fetch(address, {
      method,
      credentials: 'omit',
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.text()
    const took = Math.round(performance.now() - startedMs)
    return [summary(`${answer.status} ${say('em', 'in')} ${took} ms`), shown(text)]
  } catch {
    return [
      summary(
        say(
          'Sem resposta. Confira sua conexão e tente de novo.',
          'No response. Check your connection and try again.',
        ),
      ),
    ]
  }
}

function summary(text: string): HTMLElement {
  const made = document.createElement('p')
  made.textContent = text
  return made
}

/** The text as it came, with line breaks: amounts keep all their digits. */
function shown(text: string): HTMLElement {
  const made = document.createElement('pre')
  made.className = 'code'
  made.tabIndex = 0
  made.setAttribute('role', 'region')
  made.setAttribute('aria-label', say('A resposta', 'The response'))
  made.textContent = text === '' ? say('(sem corpo)', '(no body)') : withLineBreaks(text)
  return made
}

const STRINGS_AND_SIGNS = /"(?:[^"\\]|\\.)*"|\[\]|\{\}|[{}[\],:]/g

function withLineBreaks(json: string): string {
  let depth = 0
  const newLine = () => `\n${'  '.repeat(depth)}`
  return json.replace(STRINGS_AND_SIGNS, (piece) => {
    if (piece === '{' || piece === '[') {
      depth++
      return piece + newLine()
    }
    if (piece === '}' || piece === ']') {
      depth--
      return newLine() + piece
    }
    if (piece === ',') return piece + newLine()
    return piece === ':' ? ': ' : piece
  })
}
