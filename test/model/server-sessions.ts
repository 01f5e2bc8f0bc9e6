/**
 * The sessions of a world at the database. Schedules break many connections, and a new session costs more than the
 * rest of a schedule: its process compiles and plans every function of the ledger again. So a session whose client is
 * gone ends its statements, rolls back an open transaction, forgets what its client set, and serves another client.
 * Rows and locks are as if the server had noticed the end of the connection.
 */
import { connect, type NetConnectOpts } from 'node:net'
import { splitMessages } from '../harness/split-messages.ts'
import { writeMessage } from '../harness/write-message.ts'

export interface ServerSessions {
  /** For a connection of a client, which begins with the start-up message. */
  open(client: SessionClient): Session
  /** The statements that lost a deadlock since the last call, also those whose client was gone. */
  takeDeadlocks(): number
  close(): void
}

export interface SessionClient {
  receive(bytes: Buffer): void
  /** The session is over. */
  end(): void
}

export interface Session {
  write(bytes: Buffer): void
  /** The client is gone; the server still carries out the messages that were written whole. */
  leave(): void
}

/** A session, with a client or without one. */
interface Connection {
  client: SessionClient | undefined
  /** The server's messages up to the first ReadyForQuery; a later client gets them, too. */
  greeting: Buffer | undefined
  write(messages: readonly Buffer[]): void
  leave(): void
}

const PORT = 5432
/** Version 3.0; the model has no TLS. */
const PROTOCOL = 196_608
const [QUERY, SYNC, PASSWORD, TERMINATE] = ['Q', 'S', 'p', 'X'].map((type) => type.charCodeAt(0))
const [AUTHENTICATION, ERROR, READY] = ['R', 'E', 'Z'].map((type) => type.charCodeAt(0))
const IDLE = 'I'.charCodeAt(0)
/** The field of an ErrorResponse with the SQLSTATE of a deadlock. */
const DEADLOCK = 'C40P01\0'
/** DISCARD ALL, but without the plans of functions, which the next client would have to make again. */
const RESET = `close all; reset all; deallocate all; unlisten *; select pg_advisory_unlock_all(); discard temp`

export function openServerSessions(databaseUrl: string): ServerSessions {
  const target = addressOf(databaseUrl)
  /** By their start-up message: the user, the database and the settings. */
  const idle = new Map<string, Connection[]>()
  const sockets = new Set<{ destroy(): void }>()
  let deadlocks = 0

  function begin(startup: Buffer): Connection {
    const key = startup.toString('latin1')
    const socket = connect(target)
    sockets.add(socket)
    const greeting: Buffer[] = []
    /** ReadyForQuery messages that the server owes. */
    let owed = 1
    let isInTransaction = false
    /** Messages were written without the Sync that ends them. */
    let isUnsynced = false
    let isResetting = false
    const connection: Connection = {
      client: undefined,
      greeting: undefined,
      write(messages) {
        for (const { 0: type } of messages) {
          const isWhole = type === QUERY || type === SYNC
          if (isWhole) owed += 1
          if (type !== PASSWORD) isUnsynced = !isWhole
        }
        socket.write(messages.length === 1 ? (messages[0] as Buffer) : Buffer.concat(messages))
      },
      leave() {
        connection.client = undefined
        // Only the end of its connection tells the server to roll back a statement without its Sync.
        if (isUnsynced || !connection.greeting) socket.destroy()
        else if (owed === 0) reset()
      },
    }

    function reset(): void {
      isResetting = true
      owed = 1
      const text = isInTransaction ? `rollback; ${RESET}` : RESET
      socket.write(writeMessage('Q', Buffer.from(`${text}\0`)))
    }

    function ready(isIdle: boolean): void {
      owed -= 1
      isInTransaction = !isIdle
      connection.greeting ??= Buffer.concat(greeting)
      if (connection.client || owed > 0) return
      if (!isResetting) return reset()
      isResetting = false
      const others = idle.get(key)
      if (others) others.push(connection)
      else idle.set(key, [connection])
    }

    const answers = splitMessages((message) => {
      const type = message[0]
      if (type === ERROR) {
        if (message.includes(DEADLOCK, 0, 'latin1')) deadlocks += 1
        if (isResetting) socket.destroy()
      }
      // Of the authentication, a later client gets only the last message, that it has succeeded.
      const isOfGreeting = type !== AUTHENTICATION || message.readInt32BE(5) === 0
      if (!connection.greeting && isOfGreeting) greeting.push(message)
      if (type === READY) ready(message[5] === IDLE)
    })
    socket.on('data', (bytes: Buffer) => {
      connection.client?.receive(bytes)
      answers(bytes)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      const others = idle.get(key)
      if (others?.includes(connection)) others.splice(others.indexOf(connection), 1)
      connection.client?.end()
    })
    socket.write(startup)
    return connection
  }

  function open(client: SessionClient): Session {
    let connection: Connection | undefined
    let isLeft = false
    let startup = Buffer.alloc(0)

    function leave(): void {
      if (isLeft) return
      isLeft = true
      connection?.leave()
    }

    function start(): void {
      const used = idle.get(startup.toString('latin1'))?.pop()
      connection = used ?? begin(startup)
      connection.client = client
      if (used?.greeting) client.receive(used.greeting)
    }

    const whole: Buffer[] = []
    const split = splitMessages((message) => whole.push(message))

    /** Together, as the client wrote them. */
    function pass(bytes: Buffer): void {
      split(bytes)
      const messages = whole.splice(0)
      if (isLeft || messages.length === 0) return
      const isEnd = messages.at(-1)?.[0] === TERMINATE
      if (isEnd) messages.pop()
      if (messages.length > 0) connection?.write(messages)
      if (!isEnd) return
      leave()
      client.end()
    }

    return {
      write(bytes) {
        if (connection) return pass(bytes)
        startup = Buffer.concat([startup, bytes])
        if (startup.length < 8 || startup.length < startup.readInt32BE(0)) return
        if (startup.readInt32BE(4) !== PROTOCOL) throw new Error('the model speaks without TLS')
        start()
      },
      leave,
    }
  }

  return {
    open,
    takeDeadlocks() {
      const taken = deadlocks
      deadlocks = 0
      return taken
    },
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function addressOf(databaseUrl: string): NetConnectOpts {
  const url = new URL(databaseUrl.replace(/@\//, '@placeholder/'))
  const folder = url.searchParams.get('host')
  const port = Number(url.searchParams.get('port') ?? (url.port || PORT))
  if (folder?.startsWith('/')) return { path: `${folder}/.s.PGSQL.${port}` }
  return { host: folder ?? url.hostname, port }
}
