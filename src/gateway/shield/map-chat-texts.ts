import { isObject } from '../../platform/lib/is-object.ts'
import { largeDigitsOf } from '../../platform/lib/exact-json.ts'
import type { Encoding } from './placeholders.ts'

export type MapText = (text: string, encoding: Encoding) => string

/** What becomes of the texts of a value, and of its numbers, which stay if nothing is said of them. */
export interface Mapping {
  readonly text: MapText
  readonly number?: (value: number) => number
}

/**
 * Within messages: ids, and what a provider reads as bytes or has signed. A changed one would make the request
 * invalid. Free objects do not occur there, so a name always means this field.
 */
export const OPAQUE: ReadonlySet<string> = new Set([
  'id',
  'tool_call_id',
  'image_url',
  'file_data',
  'input_audio',
  'cache_control',
  'extra_content',
  'signature',
  'data',
  'logprobs',
])

/**
 * Maps the texts of a message, of a list of messages or of the choices of an answer: contents, parts, tool results,
 * reasoning, names, and the arguments of tool calls, which are JSON. Returns the same object if no text changed.
 */
export function mapMessageTexts(value: unknown, map: Mapping): unknown {
  return mapDeep(value, map, OPAQUE, 'text')
}

/**
 * Maps every text of a value that has no opaque fields: tools, schemas, the other fields of a request. The names of
 * fields are texts there, because schemas name properties as the customer does.
 */
export function mapAllTexts(value: unknown, map: Mapping): unknown {
  return mapDeep(value, map, NOTHING, 'text')
}

const NOTHING: ReadonlySet<string> = new Set()
/** The shortest value is an address such as `a@b.co`. */
const NAME_MIN = 6

function mapDeep(
  value: unknown,
  map: Mapping,
  opaque: ReadonlySet<string>,
  encoding: Encoding,
): unknown {
  if (typeof value === 'string') return map.text(value, encoding)
  if (typeof value === 'number') return map.number?.(value) ?? value
  if (Array.isArray(value)) return mapList(value, map, opaque)
  if (!isObject(value)) return value
  const digits = largeDigitsOf(value)
  if (digits !== undefined) {
    const mapped = map.text(digits, 'text')
    return mapped === digits ? value : mapped
  }
  let changed: Map<string, unknown> | undefined
  const names = new Map<string, string>()
  for (const key of Object.keys(value)) {
    if (opaque.has(key)) continue
    const field = value[key]
    const isArguments = key === 'arguments' && opaque !== NOTHING
    const name = opaque === NOTHING && key.length >= NAME_MIN ? map.text(key, 'text') : key
    if (name !== key) names.set(key, name)
    const mapped = mapDeep(field, map, opaque, isArguments ? 'json' : 'text')
    if (mapped === field) continue
    changed ??= new Map()
    changed.set(key, mapped)
  }
  if (changed === undefined && names.size === 0) return value
  const fields = changed ?? new Map<string, unknown>()
  // Not by assignment: a client may have sent a field named __proto__.
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      names.get(key) ?? key,
      fields.has(key) ? fields.get(key) : field,
    ]),
  )
}

function mapList(
  list: readonly unknown[],
  map: Mapping,
  opaque: ReadonlySet<string>,
): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    const mapped = mapDeep(list[index], map, opaque, 'text')
    if (mapped === list[index]) continue
    copy ??= [...list]
    copy[index] = mapped
  }
  return copy ?? list
}
