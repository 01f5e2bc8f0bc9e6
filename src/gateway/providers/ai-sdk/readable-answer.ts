/**
 * Answers as the packages can read them. They parse with numbers of 53 bits, fail on events without data, and refuse a
 * whole answer for one part of Anthropic's that is newer than they are; Anthropic says that clients must ignore those.
 */
import { markIntegers } from '../../../platform/lib/large-integers.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'

/** `unmarkIntegers` writes the integers of a tool's arguments again. */
export function toReadableAnswer(response: Response, kind: AiSdkOptions['kind']): Response {
  const type = response.headers.get('content-type') ?? ''
  const isClaude = kind === 'anthropic' || kind === 'google-vertex'
  if (!response.ok || !response.body) return response
  const readable = /^text\/event-stream\b/i.test(type)
    ? response.body.pipeThrough(new TextDecoderStream()).pipeThrough(readLines(isClaude))
    : /^application\/json\b/i.test(type)
      ? response.body.pipeThrough(new TextDecoderStream()).pipeThrough(readWhole(isClaude))
      : undefined
  return readable ? new Response(readable.pipeThrough(new TextEncoderStream()), response) : response
}

function readLines(isClaude: boolean): TransformStream<string, string> {
  let rest = ''
  const read = (line: string): string => {
    if (!line.startsWith('data:')) return line
    const data = line.slice('data:'.length).trim()
    // A comment in its place keeps the empty line behind it from ending an event.
    if (data === '') return ':'
    const marked = markIntegers(data)
    const known = isClaude && EVENTS_WITH_USAGE.test(marked) ? withoutNewParts(marked) : marked
    return known === data ? line : `data: ${known}`
  }
  return new TransformStream({
    transform(text, controller) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) controller.enqueue(`${lines.map(read).join('\n')}\n`)
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(read(rest))
    },
  })
}

function readWhole(isClaude: boolean): TransformStream<string, string> {
  let whole = ''
  return new TransformStream({
    transform(text) {
      whole += text
    },
    flush(controller) {
      const marked = markIntegers(whole)
      controller.enqueue(isClaude ? withoutNewParts(marked) : marked)
    },
  })
}

/** Only these have the parts below, and a stream has one of each. */
const EVENTS_WITH_USAGE = /^\{\s*"type"\s*:\s*"message_(?:start|delta)"/
const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])

/**
 * Removes the newer parts of a message, or of an event that has one or its usage. Nothing of them was asked for, and the
 * usage beside them counts all that is billed.
 */
function withoutNewParts(text: string): string {
  try {
    const event: unknown = JSON.parse(text)
    if (!isObject(event)) return text
    for (const carrier of [event, event.message].filter(isObject)) {
      delete carrier.context_management
      if (isObject(carrier.usage)) delete carrier.usage.iterations
      if (Array.isArray(carrier.content)) carrier.content = carrier.content.filter(isKnownBlock)
    }
    return JSON.stringify(event)
  } catch {
    // No JSON, or arguments that are too deep to be written: the package reads it as it is.
    return text
  }
}

function isKnownBlock(block: unknown): boolean {
  return !isObject(block) || BLOCKS.has(block.type)
}
