import { t } from '../../language/t.ts'

/** Reads the tools of a request from the user's JSON, and explains its faults while the user types. */
export type Tool = Readonly<Record<string, unknown>>

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

export const TOOLS_EXAMPLE = `[
  {
    "type": "function",
    "function": {
      "name": "consultar_clima",
      "description": "Diz como está o tempo numa cidade.",
      "parameters": {
        "type": "object",
        "properties": { "cidade": { "type": "string" } },
        "required": ["cidade"]
      }
    }
  }
]`

export function readTools(text: string): { tools: readonly Tool[] } | { fault: string } {
  if (text.trim() === '') return { tools: [] }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return {
      fault: t('Não é um JSON válido{error}: confira vírgulas, aspas e chaves.', {
        error: placeOf(error, text),
      }),
    }
  }
  if (!Array.isArray(value))
    return { fault: t('Comece com [ e termine com ]: é uma lista de ferramentas.') }
  const tools: readonly unknown[] = value
  for (const [index, tool] of tools.entries()) {
    const fault = faultOf(tool)
    if (fault !== undefined)
      return { fault: t('Ferramenta {index}: {fault}', { index: index + 1, fault }) }
  }
  const names = tools.map((tool) => nameOf(tool as Tool))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return { fault: t('Há duas ferramentas com o nome {twice}.', { twice }) }
  return { tools: tools as readonly Tool[] }
}

function faultOf(tool: unknown): string | undefined {
  if (!isObject(tool)) return t('precisa ser um objeto { … }.')
  if (tool.type !== 'function') return t('falta "type": "function".')
  const { function: described } = tool
  if (!isObject(described)) return t('falta "function": { … }, com nome e parâmetros.')
  const { name, parameters } = described
  if (typeof name !== 'string' || !NAME.test(name))
    return t('o "name" tem de 1 a 64 letras sem acento, dígitos, _ ou -.')
  if (parameters !== undefined && !isObject(parameters))
    return t('"parameters" é um JSON Schema: um objeto { … }.')
  return undefined
}

function nameOf(tool: Tool): string {
  return (tool.function as { name: string }).name
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Browsers report the position in different ways, or not at all. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const line = /line (\d+)/.exec(message)?.[1]
  if (line !== undefined) return t(' (linha {line})', { line })
  const position = /position (\d+)/.exec(message)?.[1]
  if (position === undefined) return ''
  return t(' (linha {split})', { split: text.slice(0, Number(position)).split('\n').length })
}

/** Arguments with line breaks, for people; unchanged when they are not JSON. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
