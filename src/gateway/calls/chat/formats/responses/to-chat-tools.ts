/**
 * Translates the tools of a Responses request to functions. Namespaces are flattened, and tools that the client runs are
 * functions. Of those that the provider itself would run, agents list some in every request and work without them; the
 * others are refused.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { toToolSchema, isWebSearchTool } from '../../../../providers/client-tools.ts'
import { isAbsent } from '../../../field-faults.ts'
import { InvalidField } from '../fields.ts'
import { clientRunTool, type ClientRunTool } from './client-run-tools.ts'
import { sha256 } from '../../../../../platform/lib/ids.ts'

/** The names of tools at upstreams, which know neither namespaces nor tools with free text. */

/** A tool as the client knows it. */
interface ClientTool {
  readonly name: string
  readonly namespace?: string
  /** Takes free text: at the upstream a function with one string argument, `input`. */
  readonly isCustom: boolean
  /** Set if the format has items of its own for its calls. */
  readonly ownItems?: ClientRunTool
}

/** The client's tools by their names at the upstream. */
export type ClientTools = ReadonlyMap<string, ClientTool>

/** The longest name of a function that every upstream takes. */
const NAME_CHARACTERS_MAX = 64
const HASH_CHARACTERS = 8

/**
 * Returns the name of a tool at the upstream. It is the same for the tools of a request and for the calls of earlier
 * turns, whose tools may be gone.
 */
export function upstreamNameOf(name: string, namespace: unknown): string {
  if (typeof namespace !== 'string' || namespace === '') return name
  const joined = `${withoutLastUnderscores(namespace)}__${name}`
  if (joined.length <= NAME_CHARACTERS_MAX) return joined
  const hash = sha256(joined).toString('hex').slice(0, HASH_CHARACTERS)
  return `${joined.slice(0, NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hash}`
}

/** Not by an expression: one that looks for the end from each underscore takes time by the square of their number. */
function withoutLastUnderscores(text: string): string {
  let end = text.length
  while (text.charAt(end - 1) === '_') end -= 1
  return text.slice(0, end)
}

export interface TranslatedTools {
  /** Fields of the chat-completions body; empty without tools. */
  readonly fields: JsonObject
  readonly clientTools: ClientTools
  /** The tools that are not left out, as the client sent them. */
  readonly kept: readonly JsonObject[]
}

/** Translates the tools of a Responses body to chat tools. Throws `InvalidField`. */
export function toChatTools(body: JsonObject): TranslatedTools {
  const clientTools = new Map<string, ClientTool>()
  const kept: JsonObject[] = []
  const functions = listTools(body.tools, 'tools').flatMap((tool, index) => {
    const translated = toFunctions(tool, `tools[${index}]`, clientTools)
    if (translated.length > 0) kept.push(tool)
    return translated
  })
  const { allowed, choice } = readChoice(body.tool_choice, clientTools)
  const tools = allowed ? functions.filter(({ name }) => allowed.has(name)) : functions
  const fields =
    tools.length === 0
      ? {}
      : {
          tools: tools.map((described) => ({ type: 'function', function: described })),
          tool_choice: choice,
          parallel_tool_calls: body.parallel_tool_calls,
        }
  return { fields, clientTools, kept }
}

/** Four times as long as any upstream takes. The name of a namespace is read again for each of its tools. */
const CLIENT_NAME_CHARACTERS_MAX = 256

type Described = JsonObject & { name: string }

function toFunctions(
  tool: JsonObject,
  path: string,
  clientTools: Map<string, ClientTool>,
  namespace?: string,
): Described[] {
  const { type, description } = tool
  if (type === 'namespace' && namespace === undefined) {
    const inside = nameOf(tool, path)
    return listTools(tool.tools, `${path}.tools`).flatMap((inner, index) =>
      toFunctions(inner, `${path}.tools[${index}]`, clientTools, inside),
    )
  }
  const ownItems = namespace === undefined ? clientRunTool(tool) : undefined
  if (ownItems) {
    const name = type as string
    clientTools.set(name, { name, isCustom: false, ownItems })
    return [{ name, description: ownItems.description, parameters: ownItems.parameters }]
  }
  if (type !== 'function' && type !== 'custom') {
    const isLeftOut = isWebSearchTool(tool) || type === 'tool_search' || namespace !== undefined
    if (isLeftOut) return []
    throw new InvalidField(
      `${path}: só o provedor do modelo executa uma ferramenta deste tipo, e ela não está disponível aqui. Envie só ferramentas que o seu programa executa, ou web_search.`,
    )
  }
  const own = nameOf(tool, path)
  const name = upstreamNameOf(own, namespace)
  const isCustom = type === 'custom'
  clientTools.set(name, { name: own, isCustom, ...(namespace === undefined ? {} : { namespace }) })
  if (isCustom) return [{ name, description: describeCustom(tool), parameters: FREE_TEXT }]
  const { parameters, strict } = tool
  return [
    {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      ...(isObject(parameters) ? { parameters: toToolSchema(parameters) } : {}),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  ]
}

const FREE_TEXT = {
  type: 'object',
  properties: {
    input: { type: 'string', description: 'The whole input of the tool, as plain text.' },
  },
  required: ['input'],
  additionalProperties: false,
}

/** The model reads the grammar of the input, but no upstream enforces it. */
function describeCustom({ description, format }: JsonObject): string {
  const about = typeof description === 'string' ? description : ''
  if (!isObject(format) || typeof format.definition !== 'string') return about
  const syntax = typeof format.syntax === 'string' ? `${format.syntax} ` : ''
  return `${about}\n\nThe input follows this ${syntax}grammar:\n${format.definition}`.trim()
}

/** The names that `allowed_tools` permits, and the choice among them. */
function readChoice(
  choice: unknown,
  clientTools: ClientTools,
): { allowed?: ReadonlySet<string>; choice: unknown } {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { choice }
  if (!isObject(choice)) return { choice: undefined }
  if (choice.type === 'allowed_tools') {
    const names = namesOf(listTools(choice.tools, 'tool_choice.tools'), clientTools)
    return { allowed: new Set(names), choice: choice.mode === 'required' ? 'required' : 'auto' }
  }
  const [name] = namesOf([choice], clientTools)
  return { choice: name === undefined ? undefined : { type: 'function', function: { name } } }
}

/** The upstream's names of the tools that are referred to, in one pass over both lists: clients may send long ones. */
function namesOf(references: readonly JsonObject[], clientTools: ClientTools): string[] {
  const isReferredTo = createReferenceTest(references)
  return [...clientTools].filter(([, tool]) => isReferredTo(tool)).map(([name]) => name)
}

/** A reference to a tool may leave out the namespace; one to a namespace stands for all its tools. */
function createReferenceTest(references: readonly JsonObject[]): (tool: ClientTool) => boolean {
  const namespaces = new Set<string>()
  const names = new Set<string>()
  const wholeNames = new Set<string>()
  for (const { type, name, namespace } of references) {
    if (typeof name !== 'string') {
      if (clientRunTool({ type })) names.add(type as string)
      continue
    }
    if (type === 'namespace') namespaces.add(name)
    if (type !== 'function' && type !== 'custom') continue
    if (isAbsent(namespace)) names.add(name)
    else wholeNames.add(JSON.stringify([namespace, name]))
  }
  return ({ name, namespace }) =>
    names.has(name) ||
    (namespace !== undefined &&
      (namespaces.has(namespace) || wholeNames.has(JSON.stringify([namespace, name]))))
}

function nameOf({ name }: JsonObject, path: string): string {
  if (typeof name !== 'string' || name === '')
    throw new InvalidField(`${path}.name é obrigatório e deve ser um texto.`)
  if (name.length > CLIENT_NAME_CHARACTERS_MAX)
    throw new InvalidField(
      `${path}.name deve ter no máximo ${CLIENT_NAME_CHARACTERS_MAX} caracteres.`,
    )
  return name
}

function listTools(tools: unknown, path: string): JsonObject[] {
  if (isAbsent(tools)) return []
  if (!Array.isArray(tools) || !tools.every(isObject))
    throw new InvalidField(`O campo "${path}" deve ser uma lista de objetos.`)
  return tools
}
