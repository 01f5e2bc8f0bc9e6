/** A real SMTP server on a socket, which behaves as the test says and keeps the mails it accepted. */
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface TakenMail {
  readonly from: string
  readonly to: readonly string[]
  /** As it came over the wire. */
  readonly source: string
}

export interface MailServer {
  readonly port: number
  readonly taken: readonly TakenMail[]
  close(): Promise<void>
}

export async function startMailServer(
  options: SMTPServerOptions & {
    /** Called before it accepts a mail; the thrown error is its answer. */
    onMail?: (mail: TakenMail) => Promise<void> | void
  } = {},
): Promise<MailServer> {
  const { onMail, ...own } = options
  const taken: TakenMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    ...own,
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString('utf8'),
        }
        Promise.resolve(onMail?.(mail)).then(
          () => {
            taken.push(mail)
            callback()
          },
          (error: Error) => callback(error),
        )
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {
    port: (server.server.address() as AddressInfo).port,
    taken,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** The answer of a server that refuses a command. */
export function answer(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

export function headerOf(source: string, name: string): string | undefined {
  const head = (source.split('\r\n\r\n', 1)[0] ?? '').replaceAll(/\r\n[ \t]+/g, ' ')
  const line = head.split('\r\n').find((each) => each.toLowerCase().startsWith(`${name}: `))
  return line?.slice(name.length + 2)
}

/** `=?UTF-8?Q?...?=` and `=?UTF-8?B?...?=`, as readers show them. */
export function decodeWords(header: string): string {
  return header
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : decodeQuoted(word.replaceAll('_', ' ')),
    )
}

export function decodeQuoted(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
