import type { IncomingMessage } from 'node:http'

/** Resolves to undefined if the body is too long or the client leaves while sending it. */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes <= bytesMax) parts.push(part)
      else {
        parts.length = 0
        resolve(undefined)
      }
    })
    // Decoded as a whole, because a part may end within a character.
    request.on('end', () => resolve(Buffer.concat(parts).toString('utf8')))
    request.on('close', () => resolve(undefined))
  })
}
