/**
 * Reads Server-Sent Events from bytes that may be cut anywhere: in a character, a line or an event. Only the
 * `data` field is read; the chat-completions format uses no other.
 */
export interface SseReader {
  /**
   * Returns the data of each event that these bytes complete, and that has some. Throws a RangeError when an event or a line is too long,
   * and loses the events before it.
   */
  push(bytes: Uint8Array): string[]
}

const LETTER_D = 0x64
const SPACE = 0x20
const CARRIAGE_RETURN = 0x0d

export function createSseReader(eventCharactersMax: number): SseReader {
  const decoder = new TextDecoder('utf-8')
  /**
   * The line that has no end yet. It is not searched again and not copied: V8 keeps its pieces until the line is read.
   */
  let rest = ''
  let data: string | undefined

  /** Reads the line between two places of `text`, and copies only the data of an event. */
  function takeLine(text: string, from: number, end: number, events: string[]): void {
    const to = end > from && text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end
    if (to === from) {
      // An event without data is not dispatched (HTML standard, 9.2.6); some upstreams keep a connection with it.
      if (data) events.push(data)
      data = undefined
    } else if (text.charCodeAt(from) === LETTER_D && text.startsWith('data:', from)) {
      const value = text.slice(from + (text.charCodeAt(from + 5) === SPACE ? 6 : 5), to)
      data = data === undefined ? value : `${data}\n${value}`
    }
    checkLength()
  }

  function checkLength(): void {
    if (rest.length + (data?.length ?? 0) > eventCharactersMax)
      throw new RangeError('an event of the stream is too long')
  }

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true })
      const events: string[] = []
      let start = 0
      for (;;) {
        const end = text.indexOf('\n', start)
        if (end === -1) break
        if (rest === '') takeLine(text, start, end, events)
        else {
          const line = rest + text.slice(start, end)
          rest = ''
          takeLine(line, 0, line.length, events)
        }
        start = end + 1
      }
      rest += start === 0 ? text : text.slice(start)
      checkLength()
      return events
    },
  }
}
