/** A message of PostgreSQL's protocol: its type, a length that counts itself, and the body. */
export function writeMessage(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
