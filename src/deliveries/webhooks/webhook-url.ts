import { isOpenPort, isPublicHost } from '../../platform/lib/public-host.ts'
import type { WebhookSettings } from './webhook-settings.ts'

export const WEBHOOK_URL_MAX = 2_000

/**
 * Returns the address as it is stored, or its fault. Names are not resolved here: a name can point to another address
 * later, so every delivery checks it.
 */
export function readWebhookUrl(
  text: string,
  { allowHttp, allowPrivate }: Pick<WebhookSettings, 'allowHttp' | 'allowPrivate'>,
): { readonly url: string } | { readonly fault: string } {
  const url = URL.parse(text)
  if (!url) return { fault: 'deve ser um endereço como https://example.com/webhooks' }
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    return { fault: `deve começar com ${allowHttp ? 'https:// ou http://' : 'https://'}` }
  if (url.username !== '' || url.password !== '') return { fault: 'não pode ter usuário nem senha' }
  if (text.includes('#')) return { fault: 'não pode ter fragmento (#)' }
  if (url.href.length > WEBHOOK_URL_MAX)
    return { fault: `deve ter no máximo ${WEBHOOK_URL_MAX} caracteres` }
  if (!isOpenPort(url.port)) return { fault: 'deve ter a porta 443, a 80 ou uma a partir de 1024' }
  if (!allowPrivate && !isPublicHost(url.hostname))
    return { fault: 'deve levar a um destino público, e não a uma rede privada' }
  return { url: url.href }
}
