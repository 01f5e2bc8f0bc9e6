/**
 * Events of a stream that only add text. Almost every event is, byte for byte, the one before it with another text in
 * one field; such an event need not be parsed, nor written as JSON again.
 */
import type { DeltaShape, JsonObject, StreamChunk, TextDelta } from './contract.ts'

/** The events of one format that only add text. */
export interface DeltaForm {
  /** The text of an event that adds no more than that, and its field; undefined for any other event. */
  textOf(event: JsonObject): FieldText | undefined
  /** Fields of the event itself that may differ from event to event, and that nothing reads. */
  readonly varying: readonly string[]
  /** The shape of the events that differ from this one by their text, which is in this field. */
  shapeOf(event: JsonObject, field: string): DeltaShape
}

export interface FieldText {
  readonly field: string
  readonly text: string
}

export interface DeltaReader {
  /** The chunk of an event that equals the last one that was recorded; undefined if it is any other event. */
  read(data: string): StreamChunk | undefined
  /** Records the shape of an event, if it adds nothing but a text. */
  record(data: string, event: JsonObject): void
}

/** A part of an event that differs from event to event: its text, or a value that nothing reads. */
interface Hole {
  readonly kind: 'text' | 'string' | 'number'
  readonly start: number
  readonly end: number
}

interface NamedHole extends Hole {
  readonly name: string
}

const BACKSLASH = 0x5c
/** Characters that cannot stand for themselves in a string of JSON, or that begin an escape. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /[\\\u0000-\u001f]/
/** What is not JSON, or what `JSON.stringify` writes in another way: an answer is written as it would write it. */
// oxlint-disable-next-line no-control-regex
const WRITTEN_OTHERWISE = /[\u0000-\u001f]|\\[^"\\bfnrt]/
const ZERO = 0x30
const NINE = 0x39
/** A number of so many digits is written as it was read. */
const DIGITS_MAX = 15
/**
 * Some upstreams vary a field in every event: after so many shapes of which no second event came, no further one is
 * recorded, because recording parses the event again.
 */
const UNUSED_SHAPES_MAX = 8
/** Values that no event has, to see which field a part of it is in. */
const PROBE = 'catraca probe'
const NUMBER_PROBE = 987_654_321_012

export function createDeltaReader(form: DeltaForm): DeltaReader {
  let like: DeltaShape | undefined
  /** What stands before, between and after the holes. */
  let fixed: readonly string[] = []
  let holes: readonly Hole[] = []
  let unusedShapes = 0

  return {
    read(data) {
      if (!like || !hasAt(data, 0, fixed[0] as string)) return undefined
      let json = ''
      let at = (fixed[0] as string).length
      for (let hole = 0; hole < holes.length; hole++) {
        const { kind } = holes[hole] as Hole
        const end = kind === 'number' ? endOfNumber(data, at) : endOfString(data, at)
        if (end < 0) return undefined
        if (kind === 'text') json = data.slice(at, end)
        else if (kind === 'string' && ESCAPED.test(data.slice(at, end))) return undefined
        const next = fixed[hole + 1] as string
        if (!hasAt(data, end, next)) return undefined
        at = end + next.length
      }
      if (at !== data.length || json === '') return undefined
      const isPlain = !ESCAPED.test(json)
      if (!isPlain && WRITTEN_OTHERWISE.test(json)) return undefined
      unusedShapes = 0
      return new DeltaChunk(like, isPlain ? json : (JSON.parse(`"${json}"`) as string), json)
    },
    record(data, event) {
      if (unusedShapes >= UNUSED_SHAPES_MAX) return
      const found = form.textOf(event)
      if (!found) return
      const { field } = found
      const text = holeOf(data, field)
      if (text?.kind !== 'string') return
      const all: NamedHole[] = [{ ...text, kind: 'text', name: field }]
      for (const name of form.varying) {
        const hole = holeOf(data, name)
        if (hole) all.push({ ...hole, name })
      }
      if (all.length > 1) all.sort((one, other) => one.start - other.start)
      const parts: string[] = []
      let at = 0
      let probing = ''
      for (const { kind, start, end } of all) {
        const part = data.slice(at, start)
        parts.push(part)
        probing += part + probeOf(kind)
        at = end
      }
      parts.push(data.slice(at))
      const probed = JSON.parse(probing + data.slice(at)) as JsonObject
      const isProbed = all.every(
        ({ name, kind }) =>
          kind === 'text' || probed[name] === (kind === 'number' ? NUMBER_PROBE : PROBE),
      )
      const probe = form.textOf(probed)
      if (!isProbed || probe?.field !== field || probe.text !== PROBE) return
      unusedShapes += 1
      fixed = parts
      holes = all
      like = form.shapeOf(probed, field)
    },
  }
}

class DeltaChunk implements StreamChunk, TextDelta {
  readonly usage = undefined
  readonly like: DeltaShape
  readonly text: string
  readonly json: string
  constructor(like: DeltaShape, text: string, json: string) {
    this.like = like
    this.text = text
    this.json = json
  }
  get delta(): TextDelta {
    return this
  }
  get body(): JsonObject {
    return this.like.bodyWith(this.text)
  }
  get native(): readonly JsonObject[] | undefined {
    return this.like.nativeWith && [this.like.nativeWith(this.text)]
  }
}

/** As `startsWith`, which compares character by character: it was measured to take most of the time of a delta. */
function hasAt(data: string, at: number, part: string): boolean {
  return data.slice(at, at + part.length) === part
}

/** The value of the first field of this name. It is not inside of a text, where its quotation marks would be escaped. */
function holeOf(data: string, field: string): Hole | undefined {
  const name = `"${field}":`
  const at = data.indexOf(name)
  if (at < 0) return undefined
  let start = at + name.length
  while (data.charCodeAt(start) === 0x20) start += 1
  if (data[start] !== '"') {
    const end = endOfNumber(data, start)
    return end < 0 ? undefined : { kind: 'number', start, end }
  }
  start += 1
  const end = endOfString(data, start)
  return end < 0 ? undefined : { kind: 'string', start, end }
}

function probeOf(kind: Hole['kind']): string {
  return kind === 'number' ? String(NUMBER_PROBE) : PROBE
}

/** The place of the quotation mark that ends the string of JSON which begins here; -1 without any. */
function endOfString(data: string, start: number): number {
  let end = data.indexOf('"', start)
  while (end > start && isEscaped(data, start, end)) end = data.indexOf('"', end + 1)
  return end
}

function isEscaped(data: string, start: number, at: number): boolean {
  let first = at
  while (first > start && data.charCodeAt(first - 1) === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}

/** The place after a whole number; -1 if there is none here, or none that is written as it is read. */
function endOfNumber(data: string, start: number): number {
  let end = start
  for (let code = data.charCodeAt(end); code >= ZERO && code <= NINE; code = data.charCodeAt(end))
    end += 1
  const digits = end - start
  const isPadded = digits > 1 && data.charCodeAt(start) === ZERO
  return digits === 0 || digits > DIGITS_MAX || isPadded ? -1 : end
}
