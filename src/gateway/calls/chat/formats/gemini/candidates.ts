/**
 * The candidates of an answer, from the choices of a chat. Calls of functions are written whole, at the end, as in
 * Google's own answers. What an upstream requires back (its reasoning and signatures) is sealed as the `thoughtSignature`
 * of the first call, or of the last text: clients send signatures back as they are.
 */
import { parseExactly } from '../../../../../platform/lib/exact-json.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { shallowInput } from '../../../../providers/parse-answer.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { textOfDetail } from '../messages/message-parts.ts'
import { reasoningFieldOf } from '../messages/sealed-thinking.ts'
import type { KeptReasoning, SealReasoning } from '../responses/reasoning-seal.ts'

export interface Candidates {
  /** What the choices of a chunk, or of a whole answer, add; empty if the client sees nothing of them. */
  add(choices: unknown, part: 'message' | 'delta'): JsonObject[]
  /** The last of each candidate. */
  end(): JsonObject[]
}

interface CandidateOptions {
  readonly ids: Pick<ToolCallIds, 'hide'>
  readonly seal: SealReasoning
  /** The client asked for thoughts. */
  readonly showsThoughts: boolean
}

export function createCandidates(options: CandidateOptions): Candidates {
  const byIndex = new Map<number, Candidate>()
  const candidateAt = (index: number): Candidate => {
    const known = byIndex.get(index) ?? createCandidate(options)
    byIndex.set(index, known)
    return known
  }
  return {
    add(choices, part) {
      const shown: JsonObject[] = []
      for (const choice of Array.isArray(choices) ? choices.filter(isObject) : []) {
        const index = typeof choice.index === 'number' ? choice.index : 0
        const said = choice[part]
        const parts = candidateAt(index).add(isObject(said) ? said : {}, choice.finish_reason)
        if (parts.length > 0) shown.push({ content: { role: 'model', parts }, index })
      }
      return shown
    },
    end() {
      if (byIndex.size === 0) candidateAt(0)
      return [...byIndex].map(([index, candidate]) => ({ ...candidate.end(), index }))
    },
  }
}

/** The candidates of an answer that is not streamed. */
export function wholeCandidates(options: CandidateOptions, choices: unknown): JsonObject[] {
  const candidates = createCandidates(options)
  const added = new Map(candidates.add(choices, 'message').map((each) => [each.index, each]))
  return candidates.end().map((last) => {
    const before = partsOf(added.get(last.index))
    const after = partsOf(last).filter((part) => before.length === 0 || !isEmpty(part))
    return { ...last, content: { role: 'model', parts: [...before, ...after] } }
  })
}

function isEmpty({ text, thoughtSignature }: JsonObject): boolean {
  return text === '' && thoughtSignature === undefined
}

function partsOf(candidate: JsonObject | undefined): JsonObject[] {
  return isObject(candidate?.content) ? (candidate.content.parts as JsonObject[]) : []
}

interface Candidate {
  /** The parts that a delta adds. */
  add(delta: JsonObject, finishReason: unknown): JsonObject[]
  end(): JsonObject
}

function createCandidate({ ids, seal, showsThoughts }: CandidateOptions): Candidate {
  const calls = createCalls()
  const reasoning: JsonObject = {}
  const details: unknown[] = []
  let extra: unknown
  let finish: unknown

  /** The text of thoughts. Upstreams that send it in both places send the same. */
  function think(delta: JsonObject): string {
    const field = reasoningFieldOf(delta)
    const list = Array.isArray(delta.reasoning_details)
      ? (delta.reasoning_details as unknown[])
      : []
    details.push(...list)
    if (field !== undefined) {
      const text = delta[field] as string
      reasoning[field] = `${(reasoning[field] as string | undefined) ?? ''}${text}`
      return text
    }
    const isRepeated = Object.keys(reasoning).length > 0
    return isRepeated ? '' : list.filter(isObject).map(textOfDetail).join('')
  }

  function kept(): KeptReasoning {
    return {
      fields: {
        ...reasoning,
        ...(details.length > 0 ? { reasoning_details: details } : {}),
        ...(extra === undefined ? {} : { extra_content: extra }),
      },
      calls: calls.signatures,
    }
  }

  return {
    add(delta, finishReason) {
      ids.hide(delta)
      if (typeof finishReason === 'string') finish = finishReason
      extra = delta.extra_content ?? extra
      calls.add(delta.tool_calls)
      const thought = think(delta)
      return [
        ...(showsThoughts && thought !== '' ? [{ text: thought, thought: true }] : []),
        ...[delta.content, delta.refusal]
          .filter((text) => typeof text === 'string' && text !== '')
          .map((text) => ({ text })),
      ]
    },
    end() {
      const made = calls.list.map(toFunctionCall)
      const whole = made.filter((part) => part !== undefined)
      // Clients read the text of the first part of every chunk.
      const [first = { text: '' }, ...others] = whole
      const parts = [{ ...first, ...signatureOf(kept(), seal) }, ...others]
      return {
        content: { role: 'model', parts },
        finishReason: finishReasonOf(finish, whole.length < made.length),
      }
    },
  }
}

/** Google's clients decode signatures as base64. */
function signatureOf(kept: KeptReasoning, seal: SealReasoning): JsonObject {
  const isNothing = Object.values(kept).every((each) => Object.keys(each).length === 0)
  if (isNothing) return {}
  return { thoughtSignature: Buffer.from(seal(kept), 'base64url').toString('base64') }
}

const FINISH_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['length', 'MAX_TOKENS'],
  ['content_filter', 'SAFETY'],
])

function finishReasonOf(reason: unknown, isMalformed: boolean): string {
  return FINISH_REASONS.get(reason) ?? (isMalformed ? 'MALFORMED_FUNCTION_CALL' : 'STOP')
}

interface Call {
  readonly id: unknown
  readonly name: unknown
  text: string
}

interface Calls {
  readonly list: readonly Call[]
  /** By the ids of the calls. */
  readonly signatures: JsonObject
  add(deltas: unknown): void
}

function createCalls(): Calls {
  const list: Call[] = []
  const byIndex = new Map<unknown, Call>()
  const signatures: JsonObject = {}
  return {
    list,
    signatures,
    add(deltas) {
      for (const [position, each] of (Array.isArray(deltas) ? deltas : []).entries()) {
        if (!isObject(each)) continue
        const { name, arguments: text } = isObject(each.function) ? each.function : {}
        // A whole answer has no indexes.
        const index = each.index ?? position
        let call = byIndex.get(index)
        // Some upstreams number no calls, and some repeat the id in each delta.
        if (!call || (typeof each.id === 'string' && each.id !== '' && each.id !== call.id)) {
          call = { id: each.id, name, text: '' }
          byIndex.set(index, call)
          list.push(call)
        }
        if (each.extra_content !== undefined) signatures[String(call.id)] = each.extra_content
        if (typeof text === 'string') call.text += text
      }
    },
  }
}

/** A call as a part; undefined if its arguments are no JSON object, as in an answer that was cut off. */
function toFunctionCall({ id, name, text }: Call): JsonObject | undefined {
  try {
    const input = text === '' ? {} : parseExactly(text)
    return isObject(input)
      ? { functionCall: { id, name, args: shallowInput(input, () => text) } }
      : undefined
  } catch {
    return undefined
  }
}
