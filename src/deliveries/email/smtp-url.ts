/** A mail server, written as `smtps://user:password@host:465` or `smtp://user:password@host:587`. */
export interface SmtpServer {
  readonly host: string
  readonly port: number
  readonly user: string | undefined
  readonly password: string | undefined
  /**
   * `direct`: TLS from the first byte. `required`: STARTTLS, or nothing is sent. `off`: no TLS. With `smtp://`,
   * TLS is required unless the server is on this machine or the URL ends in `?tls=off`.
   */
  readonly tls: 'direct' | 'required' | 'off'
}

const DIRECT_PORT = 465
const SUBMISSION_PORT = 587
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/

/**
 * Reads the address of a mail server; undefined if it is not a valid one. Never log the text: it holds the password.
 */
export function readSmtpUrl(text: string): SmtpServer | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isDirect = url.protocol === 'smtps:'
  if (!isDirect && url.protocol !== 'smtp:') return undefined
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (host === '' || !/^\/?$/.test(url.pathname) || url.hash !== '') return undefined
  if (url.search !== '' && (isDirect || url.search !== '?tls=off')) return undefined
  const isOff = url.search === '?tls=off' || LOOPBACK.test(host)
  try {
    return {
      host,
      port: Number(url.port) || (isDirect ? DIRECT_PORT : SUBMISSION_PORT),
      user: url.username === '' ? undefined : decodeURIComponent(url.username),
      password: url.password === '' ? undefined : decodeURIComponent(url.password),
      tls: isDirect ? 'direct' : isOff ? 'off' : 'required',
    }
  } catch {
    return undefined
  }
}
