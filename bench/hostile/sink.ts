/**
 * The target of the attackers in turns without an attack: `node sink.ts <port>`. It refuses each request at once, so that
 * generating the load takes the same processors in both kinds of turns, and the gateway gets none of it.
 */
import { createServer } from 'node:http'

createServer((request, response) => {
  request.resume()
  response.on('error', () => {})
  response.writeHead(429, { connection: 'close', 'content-type': 'application/json' }).end('{}')
}).listen(Number(process.argv[2]), '127.0.0.1')
