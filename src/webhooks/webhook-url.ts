import { isPrivateHost } from '../lib/guarded-fetch.ts'
import type { WebhookSettings } from './webhook-settings.ts'

export const WEBHOOK_URL_MAX = 2_000

/** Names that resolve to a private host, or to none, on every network. */
const PRIVATE_NAME =
  /^[^.:]+$|(?:^|\.)(?:local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|onion|invalid)$/

/**
 * The address as it is stored, or its fault. Names are not resolved here: a name can point to another address later, so
 * every delivery checks it.
 */
export async function readWebhookUrl(
  text: string,
  { allowHttp, allowPrivate }: Pick<WebhookSettings, 'allowHttp' | 'allowPrivate'>,
): Promise<{ readonly url: string } | { readonly fault: string }> {
  const url = URL.parse(text)
  if (!url) return { fault: 'must be an address such as https://example.com/webhooks' }
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    return { fault: `must begin with ${allowHttp ? 'https:// or http://' : 'https://'}` }
  if (url.username !== '' || url.password !== '') return { fault: 'must hold no credentials' }
  if (text.includes('#')) return { fault: 'must have no fragment' }
  if (url.href.length > WEBHOOK_URL_MAX)
    return { fault: `must be at most ${WEBHOOK_URL_MAX} characters long` }
  if (!isOpenPort(url.port)) return { fault: 'the port must be 443, 80, or from 1024 on' }
  if (!allowPrivate && (await isPrivate(url.hostname)))
    return { fault: 'the host must be a public one' }
  return { url: url.href }
}

async function isPrivate(hostname: string): Promise<boolean> {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  // Nothing is resolved here: only literal addresses and private names are checked.
  return isPrivateHost(hostname, async () => []).then(
    (isPrivate) => isPrivate || (!name.startsWith('[') && PRIVATE_NAME.test(name)),
  )
}

/** Ports below 1024, except those of HTTP, belong to other protocols: mail, name and file servers. */
function isOpenPort(port: string): boolean {
  return port === '' || port === '80' || port === '443' || Number(port) >= 1024
}
