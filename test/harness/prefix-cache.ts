/** A provider of the Messages format that caches prefixes, as far as its prices go. */
import { isObject } from '../../src/platform/lib/is-object.ts'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'

interface Block {
  readonly text: string
  readonly isMarked: boolean
}

/** The prompt of a body as the provider reads it, block by block. A deferred tool is where it is referred to. */
function blocksOf({ system, tools, messages }: any): Block[] {
  const deferred = new Map<unknown, JsonObject>()
  const listed = (tools as JsonObject[]).filter((one) => {
    const { defer_loading: isDeferred, ...rest } = one
    if (isDeferred === true) deferred.set(one.name, rest)
    return isDeferred !== true
  })
  const inner = (one: JsonObject): JsonObject =>
    Array.isArray(one.content)
      ? { ...one, content: one.content.map((each) => deferred.get(each.tool_name) ?? each) }
      : one
  const list = (content: unknown): JsonObject[] =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content as JsonObject[])
  const block = (where: string, { cache_control: mark, ...one }: JsonObject): Block => ({
    text: JSON.stringify([where, inner(one)]),
    isMarked: isObject(mark),
  })
  return [
    ...listed.map((one) => block('tools', one)),
    ...list(system ?? []).map((one) => block('system', one)),
    ...messages.flatMap(({ role, content }: JsonObject) =>
      list(content).map((one) => block(role as string, one)),
    ),
  ]
}

/** Prices in hundredths of a character's, with a cache that knows the prefixes that were marked. */
const [READ, WRITTEN, PLAIN] = [10, 125, 100]
const LOOKS_BACK = 20

function createCache(): (body: unknown) => number {
  const prefixes = new Set<string>()
  return (body) => {
    const blocks = blocksOf(body)
    const prefixOf = (length: number): string =>
      blocks
        .slice(0, length)
        .map(({ text }) => text)
        .join('\n')
    const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at + 1] : []))
    const looked = marks.flatMap((mark) =>
      Array.from({ length: LOOKS_BACK + 1 }, (_, back) => mark - back).filter((at) => at > 0),
    )
    const found = Math.max(0, ...looked.filter((at) => prefixes.has(prefixOf(at))))
    const [read, marked, all] = [found, marks.at(-1) ?? 0, blocks.length].map(
      (length) => prefixOf(length).length,
    ) as [number, number, number]
    for (const mark of marks) prefixes.add(prefixOf(mark))
    return (
      READ * read + WRITTEN * Math.max(0, marked - read) + PLAIN * (all - Math.max(marked, read))
    )
  }
}

export function costOf(bodies: readonly unknown[]): number {
  const cache = createCache()
  return bodies.reduce<number>((sum, body) => sum + cache(body), 0)
}
