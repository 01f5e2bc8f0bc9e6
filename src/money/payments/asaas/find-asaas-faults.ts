/** The address of the API in production, with the segment of its version. */
export const ASAAS_URL_PRODUCTION = 'https://api.asaas.com/v3'

export interface AsaasSettings {
  readonly baseUrl: string
  readonly apiKey: string
  readonly webhookToken: string | undefined
}

const TOKEN_CHARACTERS_MIN = 32
const TOKEN_CHARACTERS_MAX = 255

/** Lists the faults of the settings, in English, so that they show before the first customer pays. */
export function findAsaasFaults({ baseUrl, apiKey, webhookToken }: AsaasSettings): string[] {
  const faults: string[] = []
  const isProduction = baseUrl.replace(/\/$/, '') === ASAAS_URL_PRODUCTION
  if (!/^https?:\/\/[^/]+\/.*v3\/?$/.test(baseUrl)) faults.push('the base URL does not end in /v3')
  // Shells and environment files expand an unquoted `$` and the word after it.
  if (apiKey.startsWith('aact_'))
    faults.push('the API key has lost its first character, a $: quote it')
  if (apiKey.startsWith('$aact_hmlg_') && isProduction) {
    faults.push('the API key is for the Asaas sandbox, but the base URL is for production')
  }
  if (apiKey.startsWith('$aact_prod_') && !isProduction) {
    faults.push('the API key is for production, but the base URL is not')
  }
  return [...faults, ...findTokenFaults(webhookToken, apiKey)]
}

/** Asaas's own rules for `authToken`. */
function findTokenFaults(token: string | undefined, apiKey: string): string[] {
  if (!token) return ['there is no webhook token, so every webhook will be refused']
  const faults: string[] = []
  if (token.length < TOKEN_CHARACTERS_MIN || token.length > TOKEN_CHARACTERS_MAX) {
    faults.push(
      `the webhook token must have ${TOKEN_CHARACTERS_MIN} to ${TOKEN_CHARACTERS_MAX} characters`,
    )
  }
  if (/\s/.test(token)) faults.push('the webhook token has spaces')
  if (/(.)\1{3}/.test(token)) faults.push('the webhook token has one character four times in a row')
  if (/12345|23456|34567|45678|56789/.test(token))
    faults.push('the webhook token contains a sequence such as 12345')
  if (token === apiKey) faults.push('the webhook token is the same as the API key')
  return faults
}
