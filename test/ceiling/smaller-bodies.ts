/**
 * Smaller forms of a body, the smallest first: without a field or an element, or with half of a list or a
 * text. Many are tried at once, which reduces a failure with hundreds of fields to a few in seconds.
 */
import { isObject } from '../../src/platform/lib/is-object.ts'

type Json = Record<string, unknown>

export function smallerBodies(body: Json): Json[] {
  const found: Json[] = []
  visit(body, (smaller) => found.push(smaller as Json))
  return found
    .map((each) => ({ each, size: JSON.stringify(each).length }))
    .sort((a, b) => a.size - b.size)
    .map(({ each }) => each)
}

/** Without these fields it is a different request. */
const KEPT = new Set(['model', 'role', 'type', 'file'])

/** Yields each form of a value that has one thing less. */
function visit(value: unknown, give: (smaller: unknown) => void): void {
  if (typeof value === 'string') {
    const isKept = /^(data:|https?:|@numeral)/.test(value)
    if (value.length <= 1 || isKept) return
    const half = Math.ceil(value.length / 2)
    give(value.slice(0, half))
    give(value.slice(half))
    give(value.slice(0, -1))
    return
  }
  if (Array.isArray(value)) {
    const list = value as unknown[]
    if (list.length > 3) {
      const half = Math.ceil(list.length / 2)
      give(list.slice(0, half))
      give(list.slice(half))
    }
    for (const [index, each] of list.entries()) {
      give(list.toSpliced(index, 1))
      visit(each, (smaller) => give(list.with(index, smaller)))
    }
    return
  }
  if (!isObject(value)) return
  for (const [key, each] of Object.entries(value)) {
    if (KEPT.has(key)) continue
    const { [key]: _without, ...rest } = value
    if (key !== 'fields') give(rest)
    visit(each, (smaller) => give({ ...value, [key]: smaller }))
  }
}
