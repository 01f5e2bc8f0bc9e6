/**
 * Tool calls as OpenAI sends them: each with an id, a type and, in a stream, a number of its own. Some upstreams number
 * all of them 0 or none, leave the id out, or send another one with each delta; clients would mix up the arguments of two
 * commands, or could not answer a call.
 */
import { isObject } from '../../../platform/lib/is-object.ts'
import { randomText } from '../../../platform/lib/ids.ts'
import type { JsonObject } from '../contract.ts'

/** Completes the calls of a whole answer, in place. */
export function completeCalls({ choices }: JsonObject): void {
  for (const message of partsOf(choices, 'message'))
    for (const [place, call] of callsOf(message).entries()) {
      complete(call)
      if (call.index !== undefined) call.index = place
    }
}

export interface CallNumbers {
  /** Numbers the calls of a chunk, in place. */
  number(chunk: JsonObject): void
  /** A number or an id had to be changed: events that look alike may belong to several calls. */
  readonly isChanged: boolean
}

/** The calls of a choice. With maps, a stream of very many calls costs no more for each of them. */
interface KnownCalls {
  /** By their numbers. */
  readonly ids: unknown[]
  /** The last call of each id, and of each number that its upstream gave. */
  readonly byId: Map<unknown, number>
  readonly byGiven: Map<unknown, number>
}

/** Returns the numbering of the tool calls of one stream. */
export function createCallNumbers(): CallNumbers {
  const choicesSeen = new Map<unknown, KnownCalls>()
  let isChanged = false

  function numberCall(known: KnownCalls, call: JsonObject): void {
    const { id, index: given } = call
    const made = call.function ?? call.custom
    const isNamed = isObject(made) && isText(made.name)
    const number = placeOf(known, id, given)
    const isOther = isNamed && isText(id) && known.ids[number] !== id
    // Without a number and an id, a name begins a call.
    const isNext = isNamed && !isText(id) && typeof given !== 'number'
    // Arguments of no call stay as they are.
    if (number === -1 && !isNamed && !isText(id)) return
    if (number === -1 || isOther || isNext) {
      complete(call)
      setNumber(call, add(known, call.id, given))
      return
    }
    setNumber(call, number)
    if (!isText(id) || known.ids[number] === id) return
    delete call.id
    isChanged = true
  }

  function setNumber(call: JsonObject, number: number): void {
    if (call.index === number) return
    call.index = number
    isChanged = true
  }

  return {
    number({ choices }) {
      for (const choice of listOf(choices)) {
        if (!isObject(choice.delta) || !choice.delta.tool_calls) continue
        let known = choicesSeen.get(choice.index)
        if (!known) {
          known = { ids: [], byId: new Map(), byGiven: new Map() }
          choicesSeen.set(choice.index, known)
        }
        for (const call of callsOf(choice.delta)) numberCall(known, call)
      }
    },
    get isChanged() {
      return isChanged
    },
  }
}

/** Returns the number of the new call. */
function add({ ids, byId, byGiven }: KnownCalls, id: unknown, given: unknown): number {
  const number = ids.push(id) - 1
  byId.set(id, number)
  byGiven.set(given, number)
  return number
}

/** The call with this id, else the last one with the number that its upstream gave; -1 without any. */
function placeOf({ ids, byId, byGiven }: KnownCalls, id: unknown, given: unknown): number {
  const last = byGiven.get(given) ?? -1
  if (!isText(id) || ids[last] === id) return last
  return byId.get(id) ?? last
}

const ID_CHARACTERS = 24

function complete(call: JsonObject): void {
  if (!isText(call.id)) call.id = `call_${randomText(ID_CHARACTERS)}`
  if (!isText(call.type) && isObject(call.function)) call.type = 'function'
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function partsOf(choices: unknown, part: string): JsonObject[] {
  return listOf(choices)
    .map((choice) => choice[part])
    .filter(isObject)
}

function callsOf({ tool_calls: calls }: JsonObject): JsonObject[] {
  return calls ? listOf(calls) : []
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
