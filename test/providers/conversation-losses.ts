/**
 * What a conversation loses between a client's format and an upstream's, and how answers come back: the only exceptions
 * of the tests that carry conversations through the gateway, and the list in docs/clients.md.
 */
import { accumulateMessage } from '../harness/accumulate-message.ts'
import { eventsOf } from '../harness/ask.ts'
import { assertStreamIsWhole, responseEvents } from '../responses/assert-response.ts'
import type { Answer, Client, Entry, Kept } from './conversation-formats.ts'
import { assembleChunks } from './weather-conversation.ts'

export const UPSTREAMS = ['chat', 'messages', 'responses'] as const
export type Upstream = (typeof UPSTREAMS)[number]

/** What an upstream reads of these entries of a client's conversation. */
export function withLosses(client: Client, upstream: Upstream, entries: readonly Entry[]): Entry[] {
  if (client === 'messages' && upstream === 'messages') return [...entries]
  return entries.map((entry): Entry => {
    const [who, id, texts] = entry
    if (who !== 'result') return entry
    // Only Messages says that a tool has failed. A result is one text for Anthropic, but where the client wrote it itself.
    const said = texts as string[]
    const isOne = client === 'gemini' || upstream === 'messages'
    return [who, id, isOne ? [said.join('\n')] : said, false]
  })
}

/** What the client keeps of an answer, and sends back as it is. */
export function keptOf(client: Client, written: string, isStream: boolean): Kept {
  if (client === 'chat') {
    if (!isStream) return [JSON.parse(written).choices[0].message]
    const chunks = written.split('\n\n').filter((one) => one.startsWith('data: {'))
    const bodies = chunks.map((one) => JSON.parse(one.slice('data: '.length)))
    return [assembleChunks(bodies).message]
  }
  if (client === 'gemini') {
    const answers = isStream ? eventsOf(written) : [written]
    return answers.flatMap((one) => JSON.parse(one).candidates[0].content.parts)
  }
  if (client === 'messages')
    return (isStream ? accumulateMessage(written).message : JSON.parse(written)).content
  const response = isStream ? assertStreamIsWhole(responseEvents(written)) : JSON.parse(written)
  return response.output
}

/** The texts of an answer are one text in some formats. */
export function withJoinedTexts(entries: readonly Entry[]): Entry[] {
  const joined: Entry[] = []
  for (const entry of entries) {
    const last = joined.at(-1)
    if (last?.[0] === 'assistant' && entry[0] === 'assistant')
      joined[joined.length - 1] = ['assistant', `${String(last[1])}${String(entry[1])}`]
    else joined.push(entry)
  }
  return joined
}

/** As an upstream reached in this format answers it: the thinking of a chat's upstream has no signature. */
export function playable(
  client: Client,
  upstream: Upstream,
  one: Answer,
  signature: string,
): Answer {
  const isChat = upstream === 'chat' || (upstream === 'responses' && client !== 'responses')
  if (!isChat) return one
  const thought = one.thinking.map((each) => each.text).join('')
  const [first, ...others] = one.calls
  return {
    thinking: thought === '' ? [] : [{ text: thought }],
    said: one.said,
    // Of parallel calls, Gemini signs the first.
    calls: first ? [{ ...first, signature }, ...others] : [],
  }
}

/** Every upstream of Responses encrypts, and has nothing hidden apart. */
export function goesBack(entries: readonly Entry[], client: Client, upstream: Upstream): Entry[] {
  if (client !== 'responses' || upstream !== 'responses') return [...entries]
  return entries.map((entry) => (entry[0] === 'hidden' ? ['thinking', '', entry[1]] : entry))
}
