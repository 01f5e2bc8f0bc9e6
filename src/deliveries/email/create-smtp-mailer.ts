import { createTransport } from 'nodemailer'
import type { DeliveryOutcome, Mailer, OutgoingMail } from './mailer.ts'
import type { SmtpServer } from './smtp-url.ts'

export interface SmtpTimeouts {
  readonly connectMs: number
  /** The longest pause between two bytes from the server. */
  readonly silenceMs: number
  /** The limit of a whole delivery: a server that trickles its answers is never silent. */
  readonly deliveryMs: number
}

export const SMTP_CONNECTIONS_MAX = 3
const MESSAGES_PER_CONNECTION = 50
const TIMEOUTS: SmtpTimeouts = { connectMs: 10_000, silenceMs: 15_000, deliveryMs: 30_000 }

/** Sends by SMTP, over a few connections that are kept for the next mails. */
export function createSmtpMailer(server: SmtpServer, timeouts: SmtpTimeouts = TIMEOUTS): Mailer {
  const transport = openTransport(server, timeouts)
  const closing = new AbortController()
  return {
    async deliver(mail) {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeouts.deliveryMs)])
      try {
        await transport.sendMail({ ...messageOf(mail), signal })
        return { kind: 'delivered' }
      } catch (error) {
        return outcomeOf(error as SmtpError)
      }
    },
    close() {
      closing.abort()
      transport.close({ force: true })
    },
  }
}

/** Connects, greets and signs in, and sends nothing. The fault of it, if there is one. */
export async function verifySmtp(server: SmtpServer): Promise<string | undefined> {
  const transport = openTransport(server, TIMEOUTS)
  try {
    await transport.verify()
    return undefined
  } catch (error) {
    const outcome = outcomeOf(error as SmtpError)
    return outcome.kind === 'delivered' ? undefined : outcome.error
  } finally {
    transport.close({ force: true })
  }
}

function openTransport(server: SmtpServer, timeouts: SmtpTimeouts) {
  return createTransport({
    pool: true,
    maxConnections: SMTP_CONNECTIONS_MAX,
    maxMessages: MESSAGES_PER_CONNECTION,
    // The outbox counts the tries, so the transport must not retry on its own.
    maxRequeues: 1,
    host: server.host,
    port: server.port,
    secure: server.tls === 'direct',
    requireTLS: server.tls === 'required',
    ignoreTLS: server.tls === 'off',
    ...(server.user === undefined
      ? {}
      : { auth: { user: server.user, pass: server.password ?? '' } }),
    connectionTimeout: timeouts.connectMs,
    dnsTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.silenceMs,
    socketTimeout: timeouts.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

function messageOf(mail: OutgoingMail) {
  const { from, to, listUnsubscribe, listUnsubscribePost } = mail
  return {
    // Passed separately from the headers, so that no header can add a recipient.
    envelope: { from: from.address, to: [to] },
    from: { name: from.name, address: from.address },
    to: { name: '', address: to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: `<${mail.id}@${from.address.split('@')[1]}>`,
    headers: {
      // Prevents automatic replies.
      'Auto-Submitted': 'auto-generated',
      'Content-Language': 'pt-BR',
      ...(listUnsubscribe === undefined ? {} : { 'List-Unsubscribe': listUnsubscribe }),
      ...(listUnsubscribePost === undefined
        ? {}
        : { 'List-Unsubscribe-Post': listUnsubscribePost }),
    },
  }
}

interface SmtpError extends Error {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
}

/**
 * A refusal of one of these commands concerns the one mail; a refusal of any other concerns the connection or
 * our credentials.
 */
const OF_THE_MAIL = new Set(['MAIL FROM', 'RCPT TO', 'DATA'])
const TIMED_OUT = new Set(['ETIMEDOUT', 'EABORT'])
/**
 * Authentication required (530) and service closing (421) concern the connection, whichever command they
 * answer.
 */
const OF_THE_CONNECTION = new Set([421, 530])

function outcomeOf(error: SmtpError): DeliveryOutcome {
  const { code = '', command = '', responseCode } = error
  const isEnvelope = code === 'EENVELOPE' || code === 'EMESSAGE'
  const isOfMail = isEnvelope || OF_THE_MAIL.has(command)
  if (responseCode && isOfMail && !OF_THE_CONNECTION.has(responseCode)) {
    const named = `smtp_${responseCode}${enhancedCode(error.response)}`
    return responseCode >= 500
      ? { kind: 'refused', error: named }
      : { kind: 'unavailable', error: named, isServerUnavailable: false }
  }
  // Refused by the transport before it asked the server: mostly characters that the server does not support.
  if (code === 'EENVELOPE' && !responseCode) return { kind: 'refused', error: 'invalid_address' }
  const kind = TIMED_OUT.has(code)
    ? 'timed_out'
    : code === 'EAUTH'
      ? 'not_authorized'
      : 'unreachable'
  return { kind: 'unavailable', error: `mail_server_${kind}`, isServerUnavailable: true }
}

/** The enhanced status code of an answer: `550 5.1.1 <somebody@…> unknown` -> ` 5.1.1` (RFC 3463). */
function enhancedCode(response = ''): string {
  const match = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)
  return match ? ` ${match[1]}` : ''
}
