import { isOpenPort, isPublicHost } from '../lib/public-host.ts'
import type { WebhookSettings } from './webhook-settings.ts'

export const WEBHOOK_URL_MAX = 2_000

/**
 * The address as it is stored, or its fault. Names are not resolved here: a name can point to another address later, so
 * every delivery checks it.
 */
export function readWebhookUrl(
  text: string,
  { allowHttp, allowPrivate }: Pick<WebhookSettings, 'allowHttp' | 'allowPrivate'>,
): { readonly url: string } | { readonly fault: string } {
  const url = URL.parse(text)
  if (!url) return { fault: 'must be an address such as https://example.com/webhooks' }
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    return { fault: `must begin with ${allowHttp ? 'https:// or http://' : 'https://'}` }
  if (url.username !== '' || url.password !== '') return { fault: 'must hold no credentials' }
  if (text.includes('#')) return { fault: 'must have no fragment' }
  if (url.href.length > WEBHOOK_URL_MAX)
    return { fault: `must be at most ${WEBHOOK_URL_MAX} characters long` }
  if (!isOpenPort(url.port)) return { fault: 'the port must be 443, 80, or from 1024 on' }
  if (!allowPrivate && !isPublicHost(url.hostname))
    return { fault: 'the host must be a public one' }
  return { url: url.href }
}
