/**
 * A pooler in transaction mode that is as unkind as its kind may be: it refuses settings in the start-up message, like
 * PgBouncer, and runs each transaction in a session chosen by chance, with what earlier ones left there. Anybody may
 * connect.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import pg from 'pg'
import { withParameter } from '../../src/platform/db/database-address.ts'
import { splitMessages } from './split-messages.ts'
import { writeMessage } from './write-message.ts'

export interface TransactionPooler {
  /** The address for clients, which says that it is a pooler. */
  readonly databaseUrl: string
  /** Transactions that were run. */
  readonly transactions: number
  close(): Promise<void>
}

const SSL_REQUEST = 80_877_103
const SYNC = 'S'.charCodeAt(0)
const QUERY = 'Q'.charCodeAt(0)
const READY = 'Z'.charCodeAt(0)
const TERMINATE = 'X'.charCodeAt(0)
const IDLE = 'I'.charCodeAt(0)

export async function openTransactionPooler(
  databaseUrl: string,
  { sessions = 3 } = {},
): Promise<TransactionPooler> {
  const idle: Socket[] = []
  const waiting: ((session: Socket) => void)[] = []
  const sockets = new Set<Socket>()
  let transactions = 0
  for (let count = 0; count < sessions; count++) giveBack(await openSession(databaseUrl))

  function giveBack(session: Socket): void {
    const next = waiting.shift()
    if (next) next(session)
    else idle.push(session)
  }

  async function take(): Promise<Socket> {
    const place = Math.floor(Math.random() * idle.length)
    const [session] = idle.splice(place, 1)
    return session ?? new Promise<Socket>((resolve) => waiting.push(resolve))
  }

  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    client.on('close', () => sockets.delete(client))
    client.setNoDelay(true)
    void serve(client).catch(() => client.destroy())
  })

  async function serve(client: Socket): Promise<void> {
    let startup = await readStartup(client)
    if (startup.readInt32BE(4) === SSL_REQUEST) {
      client.write('N')
      startup = await readStartup(client)
    }
    if (startup.toString('utf8', 8).split('\0').includes('options')) {
      client.end(errorOf('unsupported startup parameter: options'))
      return
    }
    client.write(GREETING)
    let session: Socket | undefined
    let owed = 0
    let taking: Promise<void> | undefined
    const held: Buffer[] = []
    const fromSession = splitMessages((message) => {
      client.write(message)
      if (message[0] !== READY) return
      owed -= 1
      if (owed > 0 || message[5] !== IDLE || !session) return
      transactions += 1
      session.removeAllListeners('data')
      giveBack(session)
      session = undefined
    })
    const send = (message: Buffer): void => {
      if (message[0] === SYNC || message[0] === QUERY) owed += 1
      session?.write(message)
    }
    const fromClient = splitMessages((message) => {
      if (message[0] === TERMINATE) return
      if (session) return send(message)
      held.push(message)
      taking ??= take().then((taken) => {
        taking = undefined
        if (client.destroyed) return giveBack(taken)
        session = taken
        session.on('data', fromSession)
        for (const each of held.splice(0)) send(each)
      })
    })
    client.on('data', fromClient)
    client.on('close', () => {
      if (!session) return
      // In the middle of a transaction: the server rolls it back, unless it is committed already.
      session.destroy()
      void openSession(databaseUrl).then(giveBack, () => {})
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { user, database } = new pg.Client({ connectionString: databaseUrl })
  return {
    databaseUrl: withParameter(
      `postgres://${user}@127.0.0.1:${port}/${database}`,
      'pgbouncer',
      'true',
    ),
    get transactions() {
      return transactions
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      for (const session of idle) session.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function openSession(databaseUrl: string): Promise<Socket> {
  const client = new pg.Client({ connectionString: databaseUrl })
  // Over TLS it notices the end of its stream all the same.
  client.on('error', () => {})
  await client.connect()
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.removeAllListeners()
  stream.on('error', () => {})
  return stream
}

async function readStartup(client: Socket): Promise<Buffer> {
  const [bytes] = (await once(client, 'data')) as [Buffer]
  return bytes
}

function errorOf(text: string): Buffer {
  return writeMessage('E', Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${text}\0\0`))
}

/** Authenticated, the key to cancel statements, ready. */
const GREETING = Buffer.concat([
  writeMessage('R', Buffer.alloc(4)),
  writeMessage('K', Buffer.alloc(8)),
  writeMessage('Z', Buffer.from('I')),
])
