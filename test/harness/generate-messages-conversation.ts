/** Conversations in the Messages format as agents send them: tools and their results, signed thinking, images. */
import fc, { anyCharacter } from './fast-check.ts'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'

/** One pixel. */
export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

/** Any text with something in it that is not white space, with odd characters. */
const text = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 24 })
  .filter((one) => one.trim() !== '')

const textBlock = text.map((said) => ({ type: 'text', text: said }))
const image = fc.constant({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 },
})
const thinking = fc.oneof(
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  fc.record({ type: fc.constant('redacted_thinking'), data: text }),
)
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/)
const input = fc.dictionary(text, fc.jsonValue())

const turn = fc.record({
  asked: fc.array(fc.oneof(textBlock, image), { minLength: 1, maxLength: 3 }),
  thinking: fc.array(thinking, { maxLength: 2 }),
  said: fc.array(textBlock, { maxLength: 2 }),
  calls: fc.array(
    fc.record({ name, input, results: fc.array(textBlock, { minLength: 1, maxLength: 2 }) }),
    { maxLength: 3 },
  ),
})

export interface Conversation {
  readonly system: readonly JsonObject[]
  readonly messages: readonly (JsonObject & { role: string; content: readonly JsonObject[] })[]
}

/** Ends with a message of the user. */
export const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    system: fc.array(textBlock, { maxLength: 3 }),
    turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
    last: textBlock,
  })
  .map(({ system, turns, last }) => {
    const messages: { role: string; content: JsonObject[] }[] = []
    let results: JsonObject[] = []
    for (const [index, { asked, thinking, said, calls }] of turns.entries()) {
      messages.push({ role: 'user', content: [...results, ...asked] })
      const ids = calls.map((_call, position) => `toolu_${index}_${position}`)
      const uses = calls.map(({ name, input }, position) => ({
        type: 'tool_use',
        id: ids[position],
        name,
        input,
      }))
      // An answer has something beside its thinking.
      const texts = said.length + calls.length > 0 ? said : [last]
      messages.push({ role: 'assistant', content: [...thinking, ...texts, ...uses] })
      results = calls.map((call, position) => ({
        type: 'tool_result',
        tool_use_id: ids[position],
        content: call.results,
      }))
    }
    messages.push({ role: 'user', content: [...results, last] })
    // Plain objects, as they come of JSON.
    return JSON.parse(JSON.stringify({ system, messages })) as Conversation
  })
