/**
 * Reads Server-Sent Events from bytes that may be cut anywhere: in a character, a line or an event. Only the
 * `data` field is read; the chat-completions format uses no other.
 */
export interface SseReader {
  /**
   * Returns the data of each event that these bytes complete. Throws a RangeError when an event is too long.
   */
  push(bytes: Uint8Array): string[]
}

export function createSseReader(eventCharactersMax: number): SseReader {
  const decoder = new TextDecoder('utf-8')
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
  }

  return {
    push(bytes) {
      const text = rest + decoder.decode(bytes, { stream: true })
      const events: string[] = []
      let start = 0
      for (;;) {
        const end = text.indexOf('\n', start)
        if (end === -1) break
        const isCrLf = end > start && text.charCodeAt(end - 1) === 13
        takeLine(text.slice(start, isCrLf ? end - 1 : end), events)
        start = end + 1
      }
      rest = start === 0 ? text : text.slice(start)
      if (rest.length + (data?.length ?? 0) > eventCharactersMax) {
        throw new RangeError('an event of the stream is too long')
      }
      return events
    },
  }
}
