/** Reads server-sent events from bytes that may be cut anywhere, also inside a character or a line ending. */

/** The data of each event, in order. Comments (`: ping`) and an event that never ended are left out. */
export async function* readServerSentEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<string> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  const parse = createEventParser()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield* parse(decoder.decode(value, { stream: true }))
    }
  } finally {
    // Stops the download when the reader stops early; a stream that ended or failed ignores it.
    reader.cancel().catch(() => {})
  }
}

/** Takes the text piece by piece; returns the data of the events that each piece completes. */
export function createEventParser(): (piece: string) => readonly string[] {
  // A carriage return at the end may be the first half of a line ending.
  const lineEnd = /\r\n|\n|\r(?!$)/g
  let pending = ''
  let data: string[] = []
  return (piece) => {
    pending += piece
    const events: string[] = []
    let start = 0
    lineEnd.lastIndex = 0
    for (let end = lineEnd.exec(pending); end; end = lineEnd.exec(pending)) {
      const line = pending.slice(start, end.index)
      start = lineEnd.lastIndex
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      if (line !== '' || data.length === 0) continue
      events.push(data.join('\n'))
      data = []
    }
    pending = pending.slice(start)
    return events
  }
}
