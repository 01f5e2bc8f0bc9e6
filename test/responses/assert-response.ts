/** Checks responses and their streams against the vendor's published schemas, and reads the events of a stream. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } })
ajv.addSchema(readSchemas(), 'openai')

const validators = new Map<string, ValidateFunction>()

export interface StreamEvent extends JsonObject {
  readonly type: string
  readonly sequence_number: number
}

export function assertResponse(response: unknown): void {
  assertSchema('Response', response)
}

/** An answer of `/v1/responses/compact`. */
export function assertCompacted(answer: unknown): void {
  assertSchema('CompactResource', answer)
}

/** The events of a stream; each is named in its `event:` line and follows its published schema. */
export function responseEvents(text: string): StreamEvent[] {
  assert.ok(text.endsWith('\n\n'), 'a stream ends with a whole event')
  return text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => {
      const [named, data, ...more] = event.split('\n')
      assert.deepEqual(more, [])
      const parsed = JSON.parse(data?.slice('data: '.length) as string) as StreamEvent
      assert.equal(named, `event: ${parsed.type}`)
      assertSchema(schemaOf(parsed.type), parsed)
      return parsed
    })
}

/**
 * Checks that the events tell one response: consecutive numbers, each added item and part ended, each text the sum of
 * its deltas, and all of it in the last event. Returns the response of the last event.
 */
export function assertStreamIsWhole(events: readonly StreamEvent[]): JsonObject {
  assert.deepEqual(
    events.map(({ sequence_number: number }) => number),
    events.map((_event, index) => index),
  )
  assert.deepEqual(
    events.slice(0, 2).map(({ type }) => type),
    ['response.created', 'response.in_progress'],
  )
  const added = ofType(events, 'response.output_item.added')
  const done = ofType(events, 'response.output_item.done')
  assert.deepEqual(
    added.map(({ output_index: index }) => index),
    added.map((_event, index) => index),
  )
  const response = events.at(-1)?.response as JsonObject
  const ended = done.toSorted((a, b) => Number(a.output_index) - Number(b.output_index))
  assert.deepEqual(
    ended.map(({ item }) => item),
    response.output,
  )
  for (const { item } of added) assertItem(events, item as JsonObject, response)
  return response
}

function assertItem(events: readonly StreamEvent[], added: JsonObject, response: JsonObject): void {
  const item = (response.output as JsonObject[]).find(({ id }) => id === added.id)
  assert.equal(item?.type, added.type)
  const own = events.filter(({ item_id: id }) => id === added.id)
  const deltas = own
    .filter(({ type }) => type.endsWith('.delta'))
    .map(({ delta }) => delta)
    .join('')
  assert.equal(deltas, item?.arguments === '{}' && deltas === '' ? '' : textOf(item as JsonObject))
  const partsAdded = own.filter(({ type }) => type.endsWith('part.added')).length
  assert.equal(own.filter(({ type }) => type.endsWith('part.done')).length, partsAdded)
}

function textOf(item: JsonObject): string {
  if (typeof item.arguments === 'string') return item.arguments
  if (typeof item.input === 'string') return item.input
  // Sealed: it has no deltas.
  if (item.type === 'compaction') return ''
  return ((item.content ?? item.summary) as JsonObject[])
    .map(({ text, refusal }) => text ?? refusal)
    .join('')
}

export function ofType(events: readonly StreamEvent[], type: string): StreamEvent[] {
  return events.filter((event) => event.type === type)
}

function schemaOf(type: string): string {
  const name = type
    .slice('response.'.length)
    .replace(/^output_text(?=\.d)/, 'text')
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
  return `Response${name}Event`
}

function assertSchema(name: string, value: unknown): void {
  let validate = validators.get(name)
  if (!validate) {
    validate = ajv.compile({ $ref: `openai#/$defs/${name}` })
    validators.set(name, validate)
  }
  if (!validate(value)) assert.fail(`${name}: ${ajv.errorsText(validate.errors)}`)
}

/** The vendor's own API sends `usage: null` before the end, which its schema leaves out. */
function readSchemas(): JsonObject {
  const text = readFileSync(join(import.meta.dirname, './openai-responses.schemas.json'), 'utf8')
  const nullable = '"usage":{"anyOf":[{"$ref":"#/$defs/ResponseUsage"},{"type":"null"}]}'
  return JSON.parse(
    JSON.stringify(JSON.parse(text)).replace('"usage":{"$ref":"#/$defs/ResponseUsage"}', nullable),
  ) as JsonObject
}
