/**
 * Reads Server-Sent Events from bytes that may be cut anywhere: in a character, a line or an event. Only the
 * `data` field is read; the chat-completions format uses no other.
 */
export interface SseReader {
  /**
   * Returns the data of each event that these bytes complete. Throws a RangeError when an event or a line is too long,
   * and loses the events before it.
   */
  push(bytes: Uint8Array): string[]
}

export function createSseReader(eventCharactersMax: number): SseReader {
  const decoder = new TextDecoder('utf-8')
  /**
   * The line that has no end yet. It is not searched again and not copied: V8 keeps its pieces until the line is read.
   */
  let rest = ''
  let data: string | undefined

  function takeLine(line: string, events: string[]): void {
    if (line === '') {
      if (data !== undefined) events.push(data)
      data = undefined
    } else if (line.startsWith('data:')) {
      const value = line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5)
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
        const line = rest + text.slice(start, end)
        rest = ''
        takeLine(line.charCodeAt(line.length - 1) === 13 ? line.slice(0, -1) : line, events)
        start = end + 1
      }
      rest += start === 0 ? text : text.slice(start)
      checkLength()
      return events
    },
  }
}
