/**
 * The upstream of the hostile benchmark, in a separate process: `node upstream.ts <port>`. The models `good` and
 * `short` answer a short chat; `endless` streams an event without an end, `huge` answers a plain chat without an end, `picture` with the address of
 * an image in chunks of one byte, and `vectors`
 * answers with as many vectors as were asked for.
 */
import { createServer, type ServerResponse } from 'node:http'

const GOOD = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Oi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
})
const ONE_BYTE = '1\r\nx\r\n'
const PART = Buffer.alloc(64 * 1024, '1')

function writeForEver(response: ServerResponse): void {
  while (!response.destroyed) if (!response.write(PART)) break
  if (!response.destroyed) response.once('drain', () => writeForEver(response))
}

const port = Number(process.argv[2])

createServer((request, response) => {
  if (request.url === '/picture') {
    response.on('error', () => {})
    response.socket?.write(
      `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ntransfer-encoding: chunked\r\n\r\n${ONE_BYTE.repeat(100_000)}`,
    )
    return
  }
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
      model: string
      input?: unknown[]
    }
    response.on('error', () => {})
    if (body.model === 'endless') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"choices":[')
      return writeForEver(response)
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    if (body.model === 'huge') {
      response.write('{"choices":[')
      return writeForEver(response)
    }
    if (body.model === 'picture')
      return response.end(JSON.stringify({ data: [{ url: `http://127.0.0.1:${port}/picture` }] }))
    if (body.model !== 'vectors') return response.end(GOOD)
    const embedding = Array.from({ length: 1_024 }, () => Math.random())
    const data = (body.input ?? []).map((_, index) => ({ index, embedding }))
    return response.end(JSON.stringify({ data, usage: { prompt_tokens: 5, total_tokens: 5 } }))
  })
}).listen(port, '127.0.0.1')
