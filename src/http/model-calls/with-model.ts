const OPENS = 0x7b
const ENDS = 0x7d

/**
 * Returns the bytes of a JSON object with this `model`, which goes before one that the object may have: of several
 * fields of one name, the last counts. Bytes that are no object are returned as they are, to be refused as such.
 */
export function withModel(body: Buffer, model: string): Buffer {
  const end = lastByte(body, body.length)
  if (body[end] !== ENDS) return body
  const isEmpty = body[lastByte(body, end)] === OPENS
  const field = `${isEmpty ? '' : ','}"model":${JSON.stringify(model)}}`
  return Buffer.concat([body.subarray(0, end), Buffer.from(field)])
}

/** The place of the last byte before `end` that is not white space. */
function lastByte(body: Buffer, end: number): number {
  let index = end - 1
  while (index >= 0 && (body[index] as number) <= 0x20) index--
  return index
}
