/** The names of tools at upstreams, which know neither namespaces nor tools with free text. */
import { sha256 } from '../../../../../platform/lib/ids.ts'
import type { ClientRunTool } from './client-run-tools.ts'

/** A tool as the client knows it. */
export interface ClientTool {
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
