/** The ids of responses and of their items, which begin with the id of the call. */

/** Returns what the id of a call's response ends with, and the ids of its items before their number. */
export function idTailOf(callId: string): string {
  return callId.replaceAll('-', '')
}

export function responseIdOf(idTail: string): string {
  return `resp_${idTail}`
}

/** Returns the id of the call that made a response; undefined for an id that this service has never given. */
export function callIdOfResponse(responseId: unknown): string | undefined {
  return typeof responseId === 'string' ? callIdIn(/^resp_([0-9a-f]{32})$/, responseId) : undefined
}

/** Returns the id of the call that made an item of an output. */
export function callIdOfItem(itemId: unknown): string | undefined {
  return typeof itemId === 'string'
    ? callIdIn(/^[a-z]{2,4}_([0-9a-f]{32})\d{1,6}$/, itemId)
    : undefined
}

function callIdIn(pattern: RegExp, id: string): string | undefined {
  const digits = pattern.exec(id)?.[1]
  return digits?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
