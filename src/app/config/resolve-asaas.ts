import { ASAAS_URL_PRODUCTION } from '../../money/payments/asaas/asaas-url.ts'
import { findAsaasFaults } from '../../money/payments/asaas/find-asaas-faults.ts'
import type { Environment } from './environment.ts'

export interface AsaasConfig {
  readonly baseUrl: string
  readonly apiKey: string
  /** The token that Asaas sends with its webhooks. */
  readonly webhookToken: string
}

/** The account at the payment processor. Undefined if none is configured: nobody can top up. */
export function resolveAsaas(environment: Environment, faults: string[]): AsaasConfig | undefined {
  const { ASAAS_API_KEY: apiKey, ASAAS_WEBHOOK_TOKEN: webhookToken = '' } = environment
  if (!apiKey) {
    if (webhookToken)
      faults.push('ASAAS_WEBHOOK_TOKEN: is of an account, so ASAAS_API_KEY is needed')
    return undefined
  }
  const asaas = {
    baseUrl: environment.ASAAS_BASE_URL || ASAAS_URL_PRODUCTION,
    apiKey,
    webhookToken,
  }
  faults.push(...findAsaasFaults(asaas).map((fault) => `ASAAS_…: ${fault}`))
  if (!asaas.baseUrl.startsWith('https:')) faults.push('ASAAS_BASE_URL: must be an https address')
  return asaas
}
