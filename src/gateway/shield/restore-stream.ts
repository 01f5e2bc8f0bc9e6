import { isObject } from '../../platform/lib/is-object.ts'
import { OPAQUE } from './map-chat-texts.ts'
import type { Encoding, Placeholders } from './placeholders.ts'
import { createTextRestorer, restoreText, type TextRestorer } from './restore-text.ts'
import type { ChatBody } from './shield-chat.ts'

export interface StreamRestorer {
  /** Restores a chunk; a second one comes before it if a choice ends while a text is held back. */
  push(chunk: ChatBody): ChatBody[]
  /** Returns chunks with the texts that are still held back. */
  end(): ChatBody[]
}

/** Texts that arrive in pieces, and are joined by the client. All others arrive whole. */
const IN_PIECES: ReadonlySet<string> = new Set([
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'thinking',
  'arguments',
  'input',
  'text',
  'summary',
])
const WHOLE_BELOW = 'annotations'

/** A step from a delta to a text: a field, or an element of a list with the fields that identify it. */
type Step = string | ChatBody

interface Slot {
  readonly choice: number
  readonly path: readonly Step[]
  readonly restorer: TextRestorer
}

/**
 * Puts the values back into the chunks of a streamed chat. Each text of each choice has a restorer of its own, so texts
 * may alternate. Less than a placeholder is held back, until the text goes on or its choice ends.
 */
export function createStreamRestorer(placeholders: Placeholders): StreamRestorer {
  const slots = new Map<string, Slot>()

  function slotAt(choice: number, path: readonly Step[], encoding: Encoding): Slot {
    const name = JSON.stringify([choice, ...path.map(nameOf)])
    let slot = slots.get(name)
    if (!slot) {
      slot = { choice, path, restorer: createTextRestorer(placeholders, encoding) }
      slots.set(name, slot)
    }
    return slot
  }

  function restoreChoice(choice: unknown, position: number, before: ChatBody[]): unknown {
    if (!isObject(choice)) return choice
    const index = typeof choice.index === 'number' ? choice.index : position
    const isLast = typeof choice.finish_reason === 'string'
    const delta = restoreDelta(choice.delta, index, isLast)
    if (isLast) before.push(...takeRests(index))
    return delta === choice.delta ? choice : { ...choice, delta }
  }

  function restoreDelta(delta: unknown, choice: number, isLast: boolean): unknown {
    return mapPieces(
      delta,
      [],
      (text, path, encoding) => {
        const { restorer } = slotAt(choice, path, encoding)
        return isLast ? restorer.push(text) + restorer.end() : restorer.push(text)
      },
      (text, encoding) => restoreText(text, placeholders, encoding),
    )
  }

  function takeRests(choice: number | undefined): ChatBody[] {
    const rests: ChatBody[] = []
    for (const slot of slots.values()) {
      if (choice !== undefined && slot.choice !== choice) continue
      const rest = slot.restorer.end()
      if (rest === '') continue
      const delta = slot.path.reduceRight<unknown>(wrap, rest)
      rests.push({ choices: [{ index: slot.choice, delta, finish_reason: null }] })
    }
    return rests
  }

  return {
    push(chunk) {
      if (!Array.isArray(chunk.choices)) return [chunk]
      const before: ChatBody[] = []
      const choices = chunk.choices.map((choice: unknown, position) =>
        restoreChoice(choice, position, before),
      )
      return [...before, { ...chunk, choices }]
    },
    end: () => takeRests(undefined),
  }
}

function wrap(inner: unknown, step: Step): unknown {
  return typeof step === 'string' ? { [step]: inner } : [{ ...step, ...(inner as object) }]
}

/** The elements of a list are known by their `index`, which each chunk repeats. */
function nameOf(step: Step): unknown {
  return typeof step === 'string' ? step : [step.index]
}

type MapPiece = (text: string, path: readonly Step[], encoding: Encoding) => string

function mapPieces(
  value: unknown,
  path: readonly Step[],
  mapPiece: MapPiece,
  mapWhole: (text: string, encoding: Encoding) => string,
): unknown {
  if (Array.isArray(value))
    return value.map((element: unknown, position) =>
      mapPieces(element, [...path, identify(element, position)], mapPiece, mapWhole),
    )
  if (!isObject(value)) return value
  const isWhole = path.includes(WHOLE_BELOW)
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      if (OPAQUE.has(key)) return [key, field]
      const at = [...path, key]
      if (typeof field !== 'string') return [key, mapPieces(field, at, mapPiece, mapWhole)]
      const encoding = key === 'arguments' ? 'json' : 'text'
      const isPiece = !isWhole && IN_PIECES.has(key)
      return [key, isPiece ? mapPiece(field, at, encoding) : mapWhole(field, encoding)]
    }),
  )
}

function identify(element: unknown, position: number): ChatBody {
  if (!isObject(element)) return { index: position }
  const { index = position, type } = element
  return type === undefined ? { index } : { index, type }
}
